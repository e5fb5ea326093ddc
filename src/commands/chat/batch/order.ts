/** Work that is done side by side and told in order. */
export interface OrderOptions<Item, Result> {
  /** Most items worked on at once. */
  concurrency: number;
  /** Most results held back for one that is slow. */
  window: number;
  /** Items with the same key are worked on one after the other; undefined: with no regard to others. */
  keyOf(item: Item): string | undefined;
  /** Undefined: there is nothing to tell of it. Throws only what ends everything. */
  work(item: Item): Promise<Result | undefined>;
  tell(result: Result): Promise<void>;
  /** No further item is begun. */
  isOver(): boolean;
}

/** Lets at most so many through at once, in order of coming. */
function createTurnstile(most: number) {
  let inside = 0;
  const waiting: (() => void)[] = [];
  return async function pass<T>(run: () => Promise<T>): Promise<T> {
    if (inside >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else inside++;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else inside--;
    }
  };
}

/**
 * Works on items side by side and tells the results in the order of the items.
 * Holds at most `window` of them. Resolves when all is told; rejects with what
 * reading, working or telling threw, once what had begun is over.
 */
export async function inOrder<Item, Result>(
  items: AsyncIterable<Item>,
  options: OrderOptions<Item, Result>,
): Promise<void> {
  const { concurrency, window, keyOf, work, tell, isOver } = options;
  const pass = createTurnstile(concurrency);
  const last = new Map<string, Promise<unknown>>();
  const queue: Promise<Result | undefined>[] = [];
  let isRead = false;
  let failure: { error: unknown } | undefined;
  let wake = (): void => {};
  const changed = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  let makeRoom = (): void => {};

  const begin = (item: Item): Promise<Result | undefined> => {
    const key = keyOf(item);
    const before = key === undefined ? undefined : last.get(key);
    const run = async (): Promise<Result | undefined> => {
      await before?.catch(() => {});
      return await pass(async () => (isOver() || failure ? undefined : await work(item)));
    };
    const result = run();
    // Awaited later, by whoever tells it.
    result.catch(() => {});
    if (key !== undefined) {
      last.set(key, result);
      const forget = (): void => {
        if (last.get(key) === result) last.delete(key);
      };
      result.then(forget, forget);
    }
    return result;
  };
  const telling = (async () => {
    for (;;) {
      const head = queue[0];
      if (head === undefined) {
        if (isRead) return;
        await changed();
        continue;
      }
      try {
        const result = await head;
        if (result !== undefined && failure === undefined) await tell(result);
      } catch (error) {
        failure ??= { error };
      }
      void queue.shift();
      makeRoom();
    }
  })();
  try {
    for await (const item of items) {
      if (isOver() || failure) break;
      queue.push(begin(item));
      wake();
      while (queue.length >= window) await new Promise<void>((resolve) => (makeRoom = resolve));
    }
  } catch (error) {
    failure ??= { error };
  }
  isRead = true;
  wake();
  await telling;
  if (failure) throw failure.error;
}
