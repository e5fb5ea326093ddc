import type { Clock } from "../src/sandbox/clock.ts";

export interface HeldClock extends Clock {
  /** Resolves when an answer stands still. */
  pausing: Promise<void>;
  /** Lets it go on, and every later one without a pause. */
  release(): void;
}

/**
 * A clock for a sandbox with `tokenDelayMs`: an answer stands still after so many pauses, each of
 * them before a word, until it is released or stopped. No reader is too slow for it.
 */
export function heldClock(pauses = 0): HeldClock {
  const waiting: (() => void)[] = [];
  let left = pauses;
  let released = false;
  let reached = (): void => {};
  const pausing = new Promise<void>((resolve) => (reached = resolve));
  return {
    pausing,
    release() {
      released = true;
      for (const resume of waiting) resume();
    },
    now: Date.now,
    random: Math.random,
    sleep: (_ms, signal) =>
      new Promise<void>((resolve) => {
        if (released || left-- > 0) return resolve();
        signal?.addEventListener("abort", () => resolve(), { once: true });
        waiting.push(resolve);
        reached();
      }),
  };
}
