import type { ExpectedText } from "./expected/expected.ts";

/** Runs `work` for each item, at most `width` at once; stops at the first error. */
export async function forEachOf<T>(
  items: AsyncIterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
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

/** Characters of the texts that wait for another look. */
const mostKept = 128 * 1024 * 1024;

/** Documents to look at again while `--wait` lasts, within the memory for their texts. */
export function createLate(waitMs: number) {
  const kept: ExpectedText[] = [];
  let length = 0;
  return {
    /** Keeps a document for later; false if it is not looked at again. */
    keep(item: ExpectedText): boolean {
      if (waitMs <= 0 || length >= mostKept) return false;
      const { text } = item;
      const sections = "sent" in text ? text.sent.sections : [];
      length += sections.reduce((sum, each) => sum + each.length, 1000);
      kept.push(item);
      return true;
    },
    async *items(): AsyncGenerator<ExpectedText> {
      yield* kept;
    },
  };
}
