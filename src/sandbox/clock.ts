import { setTimeout as wait } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Waits `ms`; rejects if the signal is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Between 0 (included) and 1 (excluded). */
  random(): number;
}

export const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => wait(ms, undefined, signal ? { signal } : {}),
  random: Math.random,
};
