import type { Context } from "../../../context.ts";

/** Why a round is run. */
export type Cause = "start" | "change" | "check" | "retry";

/** How a round went. */
export interface RoundEnd {
  /** Whether the round failed: only retries are due, after a growing wait. */
  isTrouble: boolean;
  /** Whether documents wait for such a retry. Changes are sent meanwhile. */
  hasUnsent: boolean;
  /** Whether changes are reported; otherwise rounds look for them. */
  hasEvents: boolean;
}

/** When rounds are due, in milliseconds. */
export interface RoundTimes {
  /** A burst of changes is over when this time has passed without one. */
  settleMs: number;
  /** Time between two rounds that look for what the watcher missed. */
  everyMs: number;
}

/** Time between two rounds where no changes are reported. */
export const lookMs = 30_000;
const firstRetryMs = 5_000;
const mostRetryMs = 300_000;
/** A file that is written all the time must not hold back the others: the burst ends anyway. */
const mostSettles = 30;

/** The changes since the last round began. */
export interface Changes {
  add(): void;
  /** Starts anew, before a round looks at the folder. */
  clear(): void;
  /** When the burst is over, on the clock of `elapsed`; Infinity without a change. */
  settledAt(settleMs: number): number;
  /** Called with the next changes, until another one takes its place. */
  onAdd(listener: () => void): void;
}

export function createChanges(elapsed: () => number): Changes {
  let first: number | undefined;
  let last = 0;
  let listen: () => void = () => {};
  return {
    add() {
      last = elapsed();
      first ??= last;
      listen();
    },
    clear() {
      first = undefined;
    },
    settledAt: (settleMs) =>
      first === undefined ? Infinity : Math.min(last, first + settleMs * mostSettles) + settleMs,
    onAdd(listener) {
      listen = listener;
    },
  };
}

/** Waits until the time is over or a change is added. Throws the reason of an aborted `signal`. */
async function pause(
  ms: number,
  { sleep, signal }: Pick<Context, "sleep" | "signal">,
  changes: Changes,
): Promise<void> {
  signal.throwIfAborted();
  // Not AbortSignal.any: each one would stay with the signal of the process for days.
  const end = new AbortController();
  const stop = (): void => end.abort();
  signal.addEventListener("abort", stop, { once: true });
  changes.onAdd(stop);
  try {
    await sleep(ms, end.signal);
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    changes.onAdd(() => {});
  }
  signal.throwIfAborted();
}

/**
 * Runs rounds until `context.signal` aborts, and throws its reason, or the error of a round. After
 * the first one a round is due when a burst of changes is over, and `everyMs` after the last one that
 * was not due to changes. Retries are due after 5 s, then twice as long each time, up to 5 min; after
 * trouble nothing else is. Changes during a round make another one due.
 */
export async function runRounds(
  { settleMs, everyMs }: RoundTimes,
  context: Pick<Context, "elapsed" | "sleep" | "signal">,
  changes: Changes,
  round: (cause: Cause) => Promise<RoundEnd>,
): Promise<never> {
  const { elapsed, signal } = context;
  let cause: Cause = "start";
  let retries = 0;
  let lookedAt = 0;
  for (;;) {
    signal.throwIfAborted();
    changes.clear();
    const { isTrouble, hasUnsent, hasEvents } = await round(cause);
    const endedAt = elapsed();
    // One document that fails for ever must not put off the check for ever.
    if (cause !== "change" && !(cause === "retry" && hasUnsent)) lookedAt = endedAt;
    const retryMs = Math.min(firstRetryMs * 2 ** retries, mostRetryMs);
    retries = isTrouble || hasUnsent ? Math.min(retries + 1, 10) : 0;
    const every = hasEvents ? everyMs : Math.min(everyMs, lookMs);
    const retryAt = isTrouble || hasUnsent ? endedAt + retryMs : Infinity;
    const checkAt = isTrouble ? Infinity : lookedAt + every;
    for (;;) {
      const settledAt = isTrouble ? Infinity : changes.settledAt(settleMs);
      const left = Math.min(retryAt, checkAt, settledAt) - elapsed();
      if (left > 0) await pause(left, context, changes);
      else {
        cause = checkAt <= elapsed() ? "check" : retryAt <= elapsed() ? "retry" : "change";
        break;
      }
    }
  }
}
