import type { WordName } from "../suite/expectation-schema.ts";
import type { Check } from "../result.ts";
import type { Expectation } from "../suite/suite.ts";
import { answered, declined } from "./answered.ts";
import { cites, minSources, retrieves } from "./documents.ts";
import { isJson } from "./json.ts";
import { contains, containsAll, containsAny, icontains, latency, regex } from "./texts.ts";
import type { Verdict, Word, WordInput } from "./word.ts";

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
