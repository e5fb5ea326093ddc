import type { Comparison } from "./compare-text.ts";

/** `more`: the index holds the sent text and further text of unknown origin. */
export type TextVerdict = "same" | "other" | "more";

/** What one comparison says by itself. */
export function judgeAlone(found: Comparison): TextVerdict {
  const { isComplete, isOtherText, foreign, chunks, chunksWithForeign } = found;
  if (!isComplete || isOtherText) return "other";
  if (foreign === 0) return "same";
  // Context stands in every chunk, a removed paragraph in one.
  return chunks > 1 && chunksWithForeign * 2 <= chunks ? "other" : "more";
}

/**
 * Decides documents whose chunks hold the sent text and more. If nearly all documents hold only
 * what was sent, this service adds no context, and further text is an older version. If many hold
 * more, nobody can tell: the service may add context, or have kept the old version of all of them.
 */
export interface FurtherText {
  /** Counts the verdict of one document. */
  count(verdict: TextVerdict, chunks: number): void;
  /** Decides a document whose verdict was `more`; never `same`. */
  decide(chunks: number): "other" | "more";
}

const fewestDocuments = 5;

export function createFurtherText(): FurtherText {
  const counts = { one: { same: 0, more: 0 }, several: { same: 0, more: 0 } };
  // A service may add context only to documents that it cuts into several chunks.
  const countsOf = (chunks: number) => (chunks > 1 ? counts.several : counts.one);
  return {
    count(verdict, chunks) {
      if (verdict !== "other") countsOf(chunks)[verdict]++;
    },
    decide(chunks) {
      const { same, more } = countsOf(chunks);
      const all = same + more;
      return all >= fewestDocuments && more <= 0.2 * all ? "other" : "more";
    },
  };
}
