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
 * Whether this service adds context to chunks. Either it does for nearly all documents, or for
 * none: then further text is an older version.
 */
export interface AddedContext {
  /** Counts the verdict of one document. */
  count(verdict: TextVerdict): void;
  /** Decides a document whose verdict was `more`; `more` again if the other documents do not tell. */
  decide(found: Pick<Comparison, "chunks" | "chunksWithForeign">): TextVerdict;
}

const fewestDocuments = 5;

export function createAddedContext(): AddedContext {
  let [same, more] = [0, 0];
  return {
    count(verdict) {
      if (verdict === "same") same++;
      if (verdict === "more") more++;
    },
    decide({ chunks, chunksWithForeign }) {
      const all = same + more;
      if (all >= fewestDocuments && more >= 0.8 * all) return "same";
      if (all >= fewestDocuments && more <= 0.2 * all) return "other";
      return chunks > 1 && chunksWithForeign === chunks ? "same" : "more";
    },
  };
}
