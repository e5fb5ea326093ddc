import type { WordName } from "../suite/expectation-schema.ts";
import type { Check, RetrievedDocument } from "../result.ts";
import type { Expectation, DocumentRef } from "../suite/suite.ts";
import { isJson } from "./json.ts";
import { type Verdict, type Word, type WordInput, quoted } from "./word.ts";
import { findRefusal } from "./refusals.ts";
import { documentText, type DocumentMatch } from "../match-document.ts";
import { matchesWithin } from "../../time-limit.ts";

// Two ways to write an accented letter are the same text.
const plain = (text: string): string => text.normalize("NFC");
const lower = (text: string): string => plain(text).toLowerCase();

/** The answer contains the text, in the same case. */
const contains: Word<string> = {
  judge: (text, { answer }) => ({ passed: plain(answer).includes(plain(text)) }),
};

/** The answer contains the text, in any case. */
const icontains: Word<string> = {
  judge: (text, { answer }) => ({ passed: lower(answer).includes(lower(text)) }),
};

/** The answer contains at least one of the texts, in the same case. */
const containsAny: Word<readonly string[]> = {
  judge(texts, { answer }) {
    const found = texts.filter((text) => plain(answer).includes(plain(text)));
    const detail = found.length > 0 ? `found ${quoted(found)}` : "found none of them";
    return { passed: found.length > 0, detail };
  },
};

/** The answer contains each of the texts, in the same case. */
const containsAll: Word<readonly string[]> = {
  judge(texts, { answer }) {
    const missing = texts.filter((text) => !plain(answer).includes(plain(text)));
    const detail = missing.length > 0 ? `missing ${quoted(missing)}` : "found all of them";
    return { passed: missing.length === 0, detail };
  },
};

/** The JavaScript regular expression matches somewhere in the answer. */
const regex: Word<string> = {
  judge(source, { answer }) {
    const matched = matchesWithin(new RegExp(source), answer);
    if (matched !== undefined) return { passed: matched };
    return { error: "the regular expression takes too long on this answer; write a simpler one" };
  },
};

/** The answer took at most this many milliseconds. */
const latency: Word<number> = {
  judge: (limitMs, { elapsedMs }) => ({
    passed: elapsedMs <= limitMs,
    detail: `${Math.round(elapsedMs)} ms`,
  }),
};

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

const cites = inList("cited");
const retrieves = inList("retrieved");

/** Different documents: a document that is cited twice counts once. */
function countSources(cited: readonly RetrievedDocument[]): number {
  const keys = cited.map(({ id, link, path, title, rank }) => id ?? link ?? path ?? title ?? rank);
  return new Set(keys).size;
}

/** The answer cites at least this many different documents. */
const minSources: Word<number> = {
  judge(count, { cited }) {
    const found = countSources(cited);
    return { passed: found >= count, detail: `${found} cited` };
  },
};

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
const answered = isState("answered");
/** The answer has a refusal phrase and cites nothing. */
const declined = isState("declined");

/** The words of `expect`; each can have `not-` before it. */
export const words = {
  contains,
  icontains,
  "contains-any": containsAny,
  "contains-all": containsAll,
  regex,
  "is-json": isJson,
  latency,
  cites,
  retrieves,
  "min-sources": minSources,
  answered,
  declined,
} as const satisfies Record<WordName, Word<never>>;

function judge({ word, isNot, value }: Expectation, input: WordInput): Verdict {
  const { judge: is, judgeNot }: Word<unknown> = words[word as WordName] as Word<unknown>;
  if (!isNot) return is(value, input);
  if (judgeNot) return judgeNot(value, input);
  const verdict = is(value, input);
  return "error" in verdict ? verdict : { ...verdict, passed: !verdict.passed };
}

/** An expectation as the suite writes it: `not-contains`. */
export function expectationName({ word, isNot }: Pick<Expectation, "word" | "isNot">): string {
  return isNot ? `not-${word}` : word;
}

/**
 * Judges one expectation of a loaded suite; the word `judge` is not among them, because it asks a
 * model. `error`: it cannot be decided, so the run is an error.
 */
export function checkExpectation(
  expectation: Expectation,
  input: WordInput,
): { check: Check } | { error: string } {
  const verdict = judge(expectation, input);
  const word = expectationName(expectation);
  if ("error" in verdict) return { error: `${word}: ${verdict.error}` };
  return { check: { word, value: expectation.value, ...verdict } };
}
