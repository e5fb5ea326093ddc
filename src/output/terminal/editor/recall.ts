import type { Buffer } from "./buffer.ts";

/** Goes through what was entered before. The text that was begun is kept at the newer end. */
export interface Recall {
  older(buffer: Buffer): Buffer | undefined;
  newer(buffer: Buffer): Buffer | undefined;
  /** The next older text that holds what stood in the buffer when the search began. */
  search(buffer: Buffer): { hint: string; buffer: Buffer | undefined };
  /** While a search goes on, more that the text has to hold; undefined where there is none. */
  refine(buffer: Buffer, text: string): { hint: string; buffer: Buffer | undefined } | undefined;
  endSearch(): void;
  /** To the newer end. */
  reset(): void;
}

/** `history` gives the texts, the oldest first; it is asked anew after each reset. */
export function createRecall(history: () => readonly string[]): Recall {
  let entries: readonly string[] | undefined;
  let at = 0;
  let begun: Buffer | undefined;
  let query: string | undefined;
  const open = (): readonly string[] => {
    if (!entries) {
      entries = history();
      at = entries.length;
    }
    return entries;
  };
  const show = (buffer: Buffer, index: number): Buffer => {
    if (at === open().length) begun = buffer;
    at = index;
    const text = open()[index];
    if (text === undefined) return begun ?? buffer;
    return { text, cursor: text.length, isPasted: false, cut: buffer.cut };
  };
  const find = (buffer: Buffer, wanted: string, from: number) => {
    const texts = open();
    for (let index = from; index >= 0; index--) {
      if (texts[index]!.includes(wanted)) {
        const hint = `history: ${wanted || "type a part of the text"}`;
        return { hint, buffer: show(buffer, index) };
      }
    }
    return { hint: `history: nothing older holds ${wanted || "anything"}`, buffer: undefined };
  };
  return {
    older(buffer) {
      open();
      return at > 0 ? show(buffer, at - 1) : undefined;
    },
    newer(buffer) {
      return at < open().length ? show(buffer, at + 1) : undefined;
    },
    search(buffer) {
      query ??= buffer.text;
      open();
      return find(buffer, query, at - 1);
    },
    refine(buffer, text) {
      if (query === undefined) return undefined;
      query += text;
      // What is shown may hold the longer text too.
      return find(buffer, query, Math.min(at, open().length - 1));
    },
    endSearch() {
      query = undefined;
    },
    reset() {
      entries = undefined;
      query = undefined;
      begun = undefined;
    },
  };
}
