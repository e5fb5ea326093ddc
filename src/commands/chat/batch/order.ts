import { createSemaphore } from "../../concurrency.ts";

/** Concurrent work whose results are written in order. */
export interface OrderOptions<Item, Result> {
  /** Most items in flight. */
  concurrency: number;
  /** Most items read ahead of the oldest unwritten result. */
  window: number;
  /** Items with the same key run one after the other; undefined: no such order. */
  keyOf(item: Item): string | undefined;
  /** Undefined: no result to write. Throws only errors that end the whole run. */
  work(item: Item): Promise<Result | undefined>;
  write(result: Result): Promise<void>;
  /** If true, no further item starts. */
  isOver(): boolean;
}

/**
 * Works on items concurrently and writes the results in the order of the items. Holds at
 * most `window` items. Resolves when all results are written. Rejects with the first error
 * of reading, working or writing, once all started work has ended.
 */
export async function inOrder<Item, Result>(
  items: AsyncIterable<Item>,
  options: OrderOptions<Item, Result>,
): Promise<void> {
  const { concurrency, window, keyOf, work, write, isOver } = options;
  const withSlot = createSemaphore(concurrency);
  const last = new Map<string, Promise<unknown>>();
  const failures: unknown[] = [];
  let waiting = 0;
  let makeRoom = (): void => {};

  const begin = (item: Item): Promise<Result | undefined> => {
    const key = keyOf(item);
    const previous = key === undefined ? undefined : last.get(key);
    const run = async (): Promise<Result | undefined> => {
      await previous?.catch(() => {});
      const isEnded = (): boolean => isOver() || failures.length > 0;
      return await withSlot(async () => (isEnded() ? undefined : await work(item)));
    };
    const result = run();
    if (key === undefined) return result;
    last.set(key, result);
    const forget = (): void => {
      if (last.get(key) === result) last.delete(key);
    };
    result.then(forget, forget);
    return result;
  };
  const writeAfter = async (
    before: Promise<void>,
    result: Promise<Result | undefined>,
  ): Promise<void> => {
    // Its failure is read only after those before it are written.
    result.catch(() => {});
    await before;
    try {
      const found = await result;
      if (found !== undefined && failures.length === 0) await write(found);
    } catch (error) {
      failures.push(error);
    }
    waiting--;
    makeRoom();
  };
  let written = Promise.resolve();
  try {
    for await (const item of items) {
      if (isOver() || failures.length > 0) break;
      waiting++;
      written = writeAfter(written, begin(item));
      while (waiting >= window) await new Promise<void>((resolve) => (makeRoom = resolve));
    }
  } catch (error) {
    failures.push(error);
  }
  await written;
  if (failures.length > 0) throw failures[0];
}
