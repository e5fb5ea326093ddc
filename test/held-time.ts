import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { onTestFinished, vi } from "vitest";

/**
 * Stops the time of timers for the running test; the returned function lets it pass. Bytes still
 * come and go, so a limit is over when the test says so and not when the machine is busy.
 */
export function holdTime(): (ms: number) => void {
  const toFake = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"];
  vi.useFakeTimers({ toFake: toFake as ("setTimeout" | "performance")[] });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => void vi.advanceTimersByTime(ms);
}

/** A turn of the event loop: what has come is read. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits, turn by turn, until the check holds; time need not pass for it. */
export async function until(check: () => boolean): Promise<void> {
  while (!check()) await turn();
}

/** The connections that this process opens from now on, to see how much each has read. */
export function clientSockets(): Socket[] {
  const sockets: Socket[] = [];
  const add = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  subscribe("net.client.socket", add);
  onTestFinished(() => void unsubscribe("net.client.socket", add));
  return sockets;
}
