/** The workers of a run: `concurrency` of them, and one more for each document that is held. */
export interface Workers {
  /** Resolves when all workers have ended. */
  finished: Promise<void>;
  /** With 1, a document starts to wait for its retry; with -1 it ends waiting. */
  hold(change: 1 | -1): void;
}

/** Held documents stay in memory, so their number is limited. */
const maxWorkersPerSlot = 4;

/**
 * Starts the workers, so that a document that waits for its retry does not keep a slot from the
 * others. `work` sends documents, one after the other, until none is left or `isSpare()` is true;
 * then it returns. It never rejects.
 */
export function startWorkers(
  concurrency: number,
  work: (isSpare: () => boolean) => Promise<void>,
): Workers {
  let active = 0;
  let running = 0;
  let held = 0;
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const isSpare = (): boolean => {
    if (active <= concurrency + held) return false;
    // At once, so that no other worker counts as spare, too.
    active -= 1;
    return true;
  };
  const start = (): void => {
    active += 1;
    running += 1;
    void work(isSpare).then(() => {
      running -= 1;
      if (running === 0) finish();
    });
  };
  for (let count = 0; count < concurrency; count++) start();
  return {
    finished,
    hold(change) {
      held += change;
      const wanted = Math.min(concurrency + held, concurrency * maxWorkersPerSlot);
      if (active < wanted) start();
    },
  };
}
