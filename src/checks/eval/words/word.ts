import type { DocumentMatch } from "../match-document.ts";
import type { RetrievedDocument } from "../result.ts";

/** What an expectation is compared with. */
export interface WordInput {
  answer: string;
  cited: readonly RetrievedDocument[];
  retrieved: readonly RetrievedDocument[];
  elapsedMs: number;
  matches: DocumentMatch;
}

/** `error`: the expectation cannot be decided, so it neither passed nor failed. */
export type Verdict = { passed: boolean; detail?: string | undefined } | { error: string };

/** A word of `expect`. Values have the form that suite-schema.ts checks. */
export interface Word<Value> {
  judge(value: Value, input: WordInput): Verdict;
  /** `not-…`; without it, the opposite of `judge`. */
  judgeNot?(value: Value, input: WordInput): Verdict;
}

/** Texts for a message: `"a", "b" and 3 more`. */
export function quoted(texts: readonly string[]): string {
  const shown = texts.slice(0, 3).map((text) => JSON.stringify(text));
  const more = texts.length > 3 ? ` and ${texts.length - 3} more` : "";
  return `${shown.join(", ")}${more}`;
}
