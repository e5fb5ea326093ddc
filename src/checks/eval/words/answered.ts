import { countSources } from "./documents.ts";
import { findRefusal } from "./refusals.ts";
import type { Word, WordInput } from "./word.ts";

/**
 * Whether an answer answers. Two signs are known: citations, and a phrase that says there is no answer.
 * Only where they agree is the answer decided; the wording is not judged otherwise.
 */
function stateOf({ answer, cited }: WordInput): "answered" | "declined" | { error: string } {
  const sources = countSources(cited);
  const phrase = findRefusal(answer);
  if (sources > 0 && phrase === undefined) return "answered";
  if (sources === 0 && phrase !== undefined) return "declined";
  if (phrase !== undefined) {
    return { error: `cannot tell: the answer says "${phrase}", and cites ${sources}` };
  }
  return { error: "cannot tell: the answer cites nothing and has no known phrase of refusal" };
}

function isState(wanted: "answered" | "declined"): Word<true> {
  return {
    judge(_value, input) {
      const state = stateOf(input);
      return typeof state === "object" ? state : { passed: state === wanted, detail: state };
    },
  };
}

/** The answer cites a document and has no refusal phrase. */
export const answered = isState("answered");
/** The answer has a refusal phrase and cites nothing. */
export const declined = isState("declined");
