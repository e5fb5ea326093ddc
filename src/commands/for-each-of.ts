/** Runs `work` for each item, at most `width` at once; stops at the first error. */
export async function forEachOf<T>(
  items: AsyncIterable<T> | Iterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator =
    Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let isStopped = false;
  const worker = async (): Promise<void> => {
    try {
      while (!isStopped) {
        const next = await iterator.next();
        if (next.done) return;
        await work(next.value);
      }
    } finally {
      isStopped = true;
    }
  };
  try {
    await Promise.all(Array.from({ length: width }, worker));
  } finally {
    await iterator.return?.();
  }
}
