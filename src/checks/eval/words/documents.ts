import { documentText, type DocumentMatch } from "../match-document.ts";
import type { RetrievedDocument } from "../result.ts";
import type { DocumentRef } from "../suite/suite.ts";
import type { Verdict, Word } from "./word.ts";

type Place = "cited" | "retrieved";

function missing(
  refs: readonly DocumentRef[],
  found: readonly RetrievedDocument[],
  matches: DocumentMatch,
): DocumentRef[] {
  return refs.filter((ref) => !found.some((each) => matches(ref, each)));
}

const listed = (refs: readonly DocumentRef[]): string => refs.map(documentText).join(", ");

/** Each of the documents is in the list; with `not-`, none of them is. */
function inList(place: Place): Word<readonly DocumentRef[]> {
  return {
    judge(refs, input): Verdict {
      const gone = missing(refs, input[place], input.matches);
      if (gone.length === 0) return { passed: true };
      return { passed: false, detail: `not ${place}: ${listed(gone)}` };
    },
    judgeNot(refs, input): Verdict {
      const gone = new Set(missing(refs, input[place], input.matches));
      const there = refs.filter((ref) => !gone.has(ref));
      if (there.length === 0) return { passed: true };
      return { passed: false, detail: `${place}: ${listed(there)}` };
    },
  };
}

export const cites = inList("cited");
export const retrieves = inList("retrieved");

/** Different documents: a document that is cited twice counts once. */
export function countSources(cited: readonly RetrievedDocument[]): number {
  const keys = cited.map(({ id, link, path, title, rank }) => id ?? link ?? path ?? title ?? rank);
  return new Set(keys).size;
}

/** The answer cites at least this many different documents. */
export const minSources: Word<number> = {
  judge(count, { cited }) {
    const found = countSources(cited);
    return { passed: found >= count, detail: `${found} cited` };
  },
};
