import type { Buffer } from "./buffer.ts";

/** Browses the texts entered earlier. The unfinished text is kept as the newest entry. */
export interface Recall {
  older(buffer: Buffer): Buffer | undefined;
  newer(buffer: Buffer): Buffer | undefined;
  /** The next older text that contains the query: the buffer's text at the start of the search. */
  search(buffer: Buffer): { hint: string; buffer: Buffer | undefined };
  /** Adds `text` to the query of the current search; undefined without a search. */
  refine(buffer: Buffer, text: string): { hint: string; buffer: Buffer | undefined } | undefined;
  endSearch(): void;
  /** Goes back to the newest entry. */
  reset(): void;
}

/** `history` returns the texts, the oldest first; it is called again after each reset. */
export function createRecall(history: () => readonly string[]): Recall {
  let entries: readonly string[] | undefined;
  let at = 0;
  let draft: Buffer | undefined;
  let query: string | undefined;
  const loadEntries = (): readonly string[] => {
    if (!entries) {
      entries = history();
      at = entries.length;
    }
    return entries;
  };
  const show = (buffer: Buffer, index: number): Buffer => {
    if (at === loadEntries().length) draft = buffer;
    at = index;
    const text = loadEntries()[index];
    if (text === undefined) return draft ?? buffer;
    return { text, cursor: text.length, isPasted: false, cut: buffer.cut };
  };
  const find = (buffer: Buffer, wanted: string, from: number) => {
    const texts = loadEntries();
    for (let index = from; index >= 0; index--) {
      if (texts[index]!.includes(wanted)) {
        const hint = `history: ${wanted || "type a part of the text"}`;
        return { hint, buffer: show(buffer, index) };
      }
    }
    return { hint: `history: no older text${wanted && ` contains ${wanted}`}`, buffer: undefined };
  };
  return {
    older(buffer) {
      loadEntries();
      return at > 0 ? show(buffer, at - 1) : undefined;
    },
    newer(buffer) {
      return at < loadEntries().length ? show(buffer, at + 1) : undefined;
    },
    search(buffer) {
      query ??= buffer.text;
      loadEntries();
      return find(buffer, query, at - 1);
    },
    refine(buffer, text) {
      if (query === undefined) return undefined;
      query += text;
      // The shown entry may contain the longer query too.
      return find(buffer, query, Math.min(at, loadEntries().length - 1));
    },
    endSearch() {
      query = undefined;
    },
    reset() {
      entries = undefined;
      query = undefined;
      draft = undefined;
    },
  };
}
