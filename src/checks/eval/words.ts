import * as z from "zod/mini";
import { matchesWithin } from "../time-limit.ts";
import { checkJson } from "./is-json.ts";
import { documentText, type DocumentMatch } from "./documents.ts";
import { findRefusal } from "./refusals.ts";
import type { Check, DocumentRef, RetrievedDocument } from "./result.ts";
import { Document, filledList, text, whole } from "./suite/members.ts";
import type { Expectation } from "./suite/suite.ts";

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

/** A word of `expect`: the form of its value in a suite, and its judgement. */
interface Word<Value, Schema extends z.ZodMiniType> {
  schema: Schema;
  /** `value` is what build-suite.ts makes of the suite's. */
  judge(value: Value, input: WordInput): Verdict;
  /** `not-…`; without it, the opposite of `judge`. */
  judgeNot?(value: Value, input: WordInput): Verdict;
}

const word = <Value, Schema extends z.ZodMiniType>(
  schema: Schema,
  judge: Word<Value, Schema>["judge"],
  judgeNot?: Word<Value, Schema>["judge"],
): Word<Value, Schema> => ({ schema, judge, ...(judgeNot && { judgeNot }) });

// Two ways to write an accented letter are the same text.
const plain = (text: string): string => text.normalize("NFC");
const lower = (text: string): string => plain(text).toLowerCase();

/** Texts for a message: `"a", "b" and 3 more`. */
function quoted(texts: readonly string[]): string {
  const shown = texts.slice(0, 3).map((each) => JSON.stringify(each));
  const more = texts.length > 3 ? ` and ${texts.length - 3} more` : "";
  return `${shown.join(", ")}${more}`;
}

const texts = (description: string) => filledList(text("text"), description);
const set = (description: string) => z.literal(true).check(z.describe(description));
const documents = (description: string) =>
  z
    .union([Document, filledList(Document, description)], {
      error: "expected a document or a list of documents",
    })
    .check(z.describe(description));

/** Each of the documents is in the list; with `not-`, none of them is. */
function inList(place: "cited" | "retrieved", description: string) {
  const found = (ref: DocumentRef, input: WordInput): boolean =>
    input[place].some((each) => input.matches(ref, each));
  const verdict = (wrong: readonly DocumentRef[], not: string): Verdict =>
    wrong.length === 0
      ? { passed: true }
      : { passed: false, detail: `${not}${place}: ${wrong.map(documentText).join(", ")}` };
  return word(
    documents(description),
    (refs: readonly DocumentRef[], input) =>
      verdict(
        refs.filter((ref) => !found(ref, input)),
        "not ",
      ),
    (refs, input) =>
      verdict(
        refs.filter((ref) => found(ref, input)),
        "",
      ),
  );
}

/** Different documents: a document that is cited twice counts once. */
function countSources(cited: readonly RetrievedDocument[]): number {
  const keys = cited.map(({ id, link, path, title, rank }) => id ?? link ?? path ?? title ?? rank);
  return new Set(keys).size;
}

/** `[1]`, `[[1]](address)`. */
const citation = /\[{1,2}\d+\]{1,2}(?:\([^()\s]*\))?/g;

/**
 * Whether an answer answers. Two signs are known: citations, and a phrase that says there is no answer.
 * Only where they agree is the answer decided; the wording is not judged otherwise, but it must exist.
 */
function isState(wanted: "answered" | "declined", description: string) {
  return word(set(description), (_value: true, { answer, cited }): Verdict => {
    const sources = countSources(cited);
    const phrase = findRefusal(answer);
    if (sources > 0 && !/[\p{L}\p{N}]/u.test(answer.replace(citation, ""))) {
      return { error: "cannot tell: the answer has citations and no other text" };
    }
    if (sources > 0 === (phrase === undefined)) {
      const state = sources > 0 ? "answered" : "declined";
      return { passed: state === wanted, detail: state };
    }
    return phrase === undefined
      ? { error: "cannot tell: the answer cites nothing and has no known phrase of refusal" }
      : { error: `cannot tell: the answer says "${phrase}", and cites ${sources}` };
  });
}

/** The words of `expect` that need no judge; each can have `not-` before it. */
export const words = {
  contains: word(
    text("the answer contains this text, in the same case"),
    (wanted: string, { answer }) => ({ passed: plain(answer).includes(plain(wanted)) }),
  ),
  icontains: word(
    text("the answer contains this text, in any case"),
    (wanted: string, { answer }) => ({ passed: lower(answer).includes(lower(wanted)) }),
  ),
  "contains-any": word(
    texts("the answer contains at least one of these texts"),
    (wanted: readonly string[], { answer }) => {
      const found = wanted.filter((each) => plain(answer).includes(plain(each)));
      const detail = found.length > 0 ? `found ${quoted(found)}` : "found none of them";
      return { passed: found.length > 0, detail };
    },
  ),
  "contains-all": word(
    texts("the answer contains each of these texts"),
    (wanted: readonly string[], { answer }) => {
      const missing = wanted.filter((each) => !plain(answer).includes(plain(each)));
      const detail = missing.length > 0 ? `missing ${quoted(missing)}` : "found all of them";
      return { passed: missing.length === 0, detail };
    },
  ),
  regex: word(
    text("this JavaScript regular expression matches in the answer", 1000),
    (source: string, { answer }) => {
      const passed = matchesWithin(new RegExp(source), answer);
      return passed === undefined
        ? { error: "the regular expression takes too long on this answer; write a simpler one" }
        : { passed };
    },
  ),
  "is-json": word(
    z
      .union([z.literal(true), z.record(z.string(), z.json())], {
        error: "expected true or a JSON Schema",
      })
      .check(z.describe("the whole answer is JSON; optionally valid against this JSON Schema")),
    checkJson,
  ),
  latency: word(
    whole(1, 86_400_000, "the answer takes at most this many milliseconds"),
    (limitMs: number, { elapsedMs }) => ({
      passed: elapsedMs <= limitMs,
      detail: `${Math.round(elapsedMs)} ms`,
    }),
  ),
  cites: inList("cited", "the answer cites each of these documents; with not-, none of them"),
  retrieves: inList("retrieved", "each of these documents was retrieved; with not-, none of them"),
  "min-sources": word(
    whole(1, 1000, "the answer cites at least this many different documents"),
    (count: number, { cited }) => {
      const found = countSources(cited);
      return { passed: found >= count, detail: `${found} cited` };
    },
  ),
  answered: isState("answered", "the answer cites a document and has no phrase of refusal"),
  declined: isState("declined", "the answer has a phrase of refusal and cites nothing"),
};

/** Words without a value; they may stand alone: `- answered`. */
export const bareWords = ["is-json", "answered", "declined"] as const;

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
  const { value, isNot } = expectation;
  const of = words[expectation.word as keyof typeof words] as Word<unknown, z.ZodMiniType>;
  const name = expectationName(expectation);
  const verdict = isNot && of.judgeNot ? of.judgeNot(value, input) : of.judge(value, input);
  if ("error" in verdict) return { error: `${name}: ${verdict.error}` };
  const isOpposite = isNot && !of.judgeNot;
  const passed = isOpposite ? !verdict.passed : verdict.passed;
  return { check: { word: name, value, ...verdict, passed } };
}
