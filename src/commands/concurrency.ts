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

/** Runs at most `limit` functions at once, in order of arrival. */
export function createSemaphore(limit: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async function withSlot<T>(run: () => Promise<T>): Promise<T> {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

/** A promise that is only ever rejected, with the signal's reason. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  // Without this line, an abort while nobody waits is an unhandled rejection.
  aborted.catch(() => {});
  return aborted;
}
