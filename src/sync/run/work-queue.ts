import type { Pending } from "./pending.ts";

/** Returns one document at a time to many workers; undefined at the end. */
export interface WorkQueue {
  (): Promise<Pending | undefined>;
  /** The next document of the current batch; undefined when a batch must be fetched first. */
  nextBuffered(): Pending | undefined;
  /** Releases waiting workers: a source may be silent for hours. */
  stop(): void;
  /** Ends the source. */
  close(): Promise<void>;
}

/**
 * Shares the batches of one source among workers. Fetches the next batch when one is used up.
 * `onBatch` is called with each batch before any of its documents is returned.
 */
export function createWorkQueue(
  batches: AsyncIterable<Pending[]>,
  onBatch: (batch: readonly Pending[]) => void,
): WorkQueue {
  const source = batches[Symbol.asyncIterator]();
  let batch: Pending[] = [];
  let at = 0;
  let isOver = false;
  let isStopped = false;
  let fetching: Promise<void> | undefined;
  let release: () => void = () => {};
  const fetchNext = async (): Promise<void> => {
    try {
      const next = await source.next();
      if (next.done) isOver = true;
      else {
        onBatch(next.value);
        batch = next.value;
        at = 0;
      }
    } catch (error) {
      isOver = true;
      throw error;
    } finally {
      fetching = undefined;
    }
  };
  const startFetch = (): Promise<void> =>
    new Promise((resolve, reject) => {
      // No Promise.race with a long-lived promise: each race would stay in memory.
      release = resolve;
      fetchNext().then(resolve, reject);
    });
  const nextBuffered = (): Pending | undefined => (isStopped ? undefined : batch[at++]);
  const next = async (): Promise<Pending | undefined> => {
    while (!isStopped) {
      const pending = nextBuffered();
      if (pending) return pending;
      if (isOver) return undefined;
      fetching ??= startFetch();
      await fetching;
    }
    return undefined;
  };
  return Object.assign(next, {
    nextBuffered,
    stop() {
      isStopped = true;
      release();
    },
    async close() {
      await source.return?.();
    },
  });
}
