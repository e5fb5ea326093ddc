import headless from "@xterm/headless";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, vi } from "vitest";
import type { Context } from "../../../../src/context.ts";
import { main } from "../../../main.ts";
import { patienceMs } from "../../../patience.ts";
import { createTestContext } from "../../../support.ts";
import type { World } from "../support.ts";

/** A conversation on a terminal that a test plays. */
export interface Talking {
  /** Everything that was written, in the order of writing. */
  screen(): string;
  /** What was written since the last call. */
  news(): string;
  /** Keys, as the terminal sends them. */
  press(keys: string): void;
  /** Types a line, waits for the prompt after it, and returns what was written meanwhile. */
  enter(line: string): Promise<string>;
  /** Waits until the news hold this; they are not taken. */
  until(text: string | RegExp): Promise<void>;
  /** The same, but what a person sees: the rows of the screen. */
  untilShown(row: string | RegExp): Promise<void>;
  /** The exit code. */
  readonly done: Promise<number>;
  /** What was switched on and off at the terminal. */
  readonly modes: string[];
  abort(reason: unknown): void;
  /** The terminal goes away. */
  hangUp(): void;
}

const waiting = { timeout: patienceMs, interval: 5 };

const prompt = /> (?:\u001b\[0m)?\u001b\[3G$/;

export async function startTalk(
  world: Pick<World, "env" | "home">,
  args: readonly string[] = [],
  more: {
    columns?: number;
    env?: Record<string, string>;
    first?: RegExp;
    isTimeless?: boolean;
  } = {},
): Promise<Talking> {
  const base = createTestContext({
    cwd: world.home,
    env: { ...world.env, NO_COLOR: "1", ...more.env },
    isTTY: true,
    columns: more.columns ?? 80,
  });
  const keys = new PassThrough();
  let screen = "";
  let seen = 0;
  const modes: string[] = [];
  const sink = {
    isTTY: true,
    columns: () => more.columns ?? 80,
    write(text: string) {
      screen += text;
      return Promise.resolve();
    },
  };
  const context: Context = {
    ...base,
    stdin: {
      isTTY: true,
      stream: keys,
      [Symbol.asyncIterator]: () => keys[Symbol.asyncIterator](),
    },
    stdout: sink,
    stderr: sink,
    terminal: () => ({
      onResize: () => () => {},
      takeKeys(enter, leave) {
        modes.push(enter);
        return () => void modes.push(leave);
      },
      suspend: () => Promise.resolve(),
    }),
    // Where time stands still, a pause lasts until nobody wants it any more.
    ...(more.isTimeless
      ? {
          sleep: (_ms: number, signal?: AbortSignal) =>
            new Promise<void>((_resolve, reject) => {
              const stop = (): void => reject(signal?.reason as Error);
              signal?.addEventListener("abort", stop, { once: true });
            }),
        }
      : {}),
  };
  const done = main(["chat", ...args], context);
  let isDone = false;
  void done.then(() => (isDone = true));
  onTestFinished(async () => {
    if (!isDone) base.abort(new Error("the test is over"));
    await done;
  });
  const until = async (text: string | RegExp): Promise<void> => {
    await vi.waitFor(() => expect(screen.slice(seen)).toMatch(text), waiting);
  };
  const news = (): string => {
    const text = screen.slice(seen);
    seen = screen.length;
    return text;
  };
  /** Waits until a row of the screen, as a person sees it, matches. */
  const untilShown = async (row: string | RegExp): Promise<void> => {
    await vi.waitFor(async () => {
      const terminal = new headless.Terminal({ cols: 80, rows: 50, allowProposedApi: true });
      await new Promise<void>((resolve) => terminal.write(screen, resolve));
      const { active } = terminal.buffer;
      const rows = Array.from({ length: active.length }, (_, y) =>
        (active.getLine(y)?.translateToString(true) ?? "").trimEnd(),
      );
      terminal.dispose();
      expect(rows.filter((each) => each !== "").join("\n")).toMatch(row);
    }, waiting);
  };
  await until(more.first ?? prompt);
  news();
  return {
    screen: () => screen,
    news,
    press: (text) => void keys.write(text),
    async enter(line) {
      keys.write(line);
      keys.write("\r");
      await vi.waitFor(() => {
        if (!isDone) expect(screen.slice(seen)).toMatch(/\r\n[^]*> (?:\u001b\[0m)?\u001b\[3G$/);
      }, waiting);
      return news();
    },
    until,
    untilShown,
    done,
    modes,
    abort: (reason) => base.abort(reason),
    hangUp: () => void keys.end(),
  };
}
