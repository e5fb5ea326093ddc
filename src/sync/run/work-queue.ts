import type { Pending } from "./pending.ts";

/** Hands out one document after the other to many workers; undefined at the end. */
export interface WorkQueue {
  (): Promise<Pending | undefined>;
  /** The next document where no fetching is needed for it. */
  nextBuffered(): Pending | undefined;
  /** Lets go of those who wait: a source may be silent for hours. */
  stop(): void;
  /** Ends the source. */
  close(): Promise<void>;
}

/**
 * Shares the batches of one source among workers; the next is fetched when one is used up.
 * `onBatch` hears of each batch before any of it is handed out.
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
  let pulling: Promise<void> | undefined;
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
      pulling = undefined;
    }
  };
  const pull = (): Promise<void> =>
    new Promise((resolve, reject) => {
      // Not a race with a promise that outlives it: each would stay in memory.
      release = resolve;
      fetchNext().then(resolve, reject);
    });
  const nextBuffered = (): Pending | undefined => (isStopped ? undefined : batch[at++]);
  const next = async (): Promise<Pending | undefined> => {
    while (!isStopped) {
      const pending = nextBuffered();
      if (pending) return pending;
      if (isOver) return undefined;
      pulling ??= pull();
      await pulling;
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
