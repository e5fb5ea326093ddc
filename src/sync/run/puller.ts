import type { Due } from "./due.ts";

/** Hands out one document after the other to many workers; undefined at the end. */
export interface Puller {
  (): Promise<Due | undefined>;
  /** The next document where no fetching is needed for it. */
  atHand(): Due | undefined;
  /** Lets go of those who wait: a source may be silent for hours. */
  stop(): void;
  /** Ends the source. */
  close(): Promise<void>;
}

/**
 * Shares the batches of one source among workers; the next is fetched when one is used up.
 * `onBatch` hears of each batch before any of it is handed out.
 */
export function createPuller(
  batches: AsyncIterable<Due[]>,
  onBatch: (batch: readonly Due[]) => void,
): Puller {
  const source = batches[Symbol.asyncIterator]();
  let batch: Due[] = [];
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
  const atHand = (): Due | undefined => (isStopped ? undefined : batch[at++]);
  const next = async (): Promise<Due | undefined> => {
    while (!isStopped) {
      const due = atHand();
      if (due) return due;
      if (isOver) return undefined;
      pulling ??= pull();
      await pulling;
    }
    return undefined;
  };
  return Object.assign(next, {
    atHand,
    stop() {
      isStopped = true;
      release();
    },
    async close() {
      await source.return?.();
    },
  });
}
