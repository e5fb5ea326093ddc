import { caseDigest } from "./suite/case-digest.ts";
import { checkJudgement, judgeWord } from "./judgement.ts";
import { controlProblem, leakedOf, leakWords } from "./leak-control.ts";
import { type DocumentMatch, documentText } from "./match-document.ts";
import { caseMetrics } from "./metrics.ts";
import type { CaseReplies, Reply } from "./reply.ts";
import type { CaseResult, EvalKind, EvalRun, Outcome, Check, RetrievedDocument } from "./result.ts";
import type { DocumentRef, EvalCase } from "./suite/suite.ts";
import { checkExpectation } from "./words/words.ts";

/** Checks of one run, and why a part of them could not be decided. */
interface Judged {
  checks: Check[];
  undecided: string[];
}

/** A document as a check names it: a path as text, else `{id}` or `{link}`. */
function valueOf(ref: DocumentRef): unknown {
  return "path" in ref ? ref.path : ref;
}

/** A document that must not come, and the word of the suite that says so. */
interface Unwanted {
  word: string;
  document: DocumentRef;
}

/** The documents of a response, and how a suite's names are compared with them. */
interface Response {
  retrieved: readonly RetrievedDocument[];
  /** Only the first `k` count; null: all. */
  k: number | null;
  matches: DocumentMatch;
  /** Then an unwanted document fails at any rank. */
  isLeakTest: boolean;
}

type Documents = Pick<EvalCase, "mustRetrieve" | "match"> & { unwanted: readonly Unwanted[] };

interface Place {
  document: DocumentRef;
  /** From 1; undefined if the document is not among the first k. */
  rank: number | undefined;
  isUndecided: boolean;
}

/** Where a document is. A response without ids cannot rule out an id or a path. */
function placeOf(document: DocumentRef, { retrieved, k, matches }: Response): Place {
  const first = retrieved.slice(0, k ?? undefined);
  const at = first.findIndex((each) => matches(document, each));
  const isUnnamed = first.some(({ id, path }) => id === null && path === null);
  const isUndecided = at < 0 && isUnnamed && !("link" in document);
  return { document, rank: at < 0 ? undefined : at + 1, isUndecided };
}

function missingText(ref: DocumentRef, { retrieved, k, matches }: Response): string {
  if (k === null) return `not among the ${retrieved.length} documents of the answer`;
  const later = retrieved.findIndex((each) => matches(ref, each)) + 1;
  const text = `not among the first ${k}`;
  return later > 0 ? `${text}: rank ${later}` : text;
}

function undecidedText(ref: DocumentRef): string {
  return `cannot tell whether ${documentText(ref)} is among the documents: this search names no document ids; name the document by its link`;
}

/** One check for all wanted documents: one of them is enough. */
function checkAny(places: readonly Place[], response: Response): Judged {
  const passed = places.some(({ rank }) => rank !== undefined);
  const open = passed ? undefined : places.find(({ isUndecided }) => isUndecided);
  if (open) return { checks: [], undecided: [undecidedText(open.document)] };
  const missing = places.map(
    ({ document }) => `${documentText(document)}: ${missingText(document, response)}`,
  );
  const value = places.map(({ document }) => valueOf(document));
  const detail = passed ? undefined : missing.join("; ");
  return { checks: [{ word: "must_retrieve", value, passed, detail }], undecided: [] };
}

/** One check for each document. */
function checkEach(
  word: string,
  places: readonly Place[],
  judge: (place: Place) => Pick<Check, "passed" | "detail">,
): Judged {
  const decided = places.filter(({ isUndecided }) => !isUndecided);
  const undecided = places.filter(({ isUndecided }) => isUndecided);
  return {
    checks: decided.map((each) => ({ word, value: valueOf(each.document), ...judge(each) })),
    undecided: undecided.map(({ document }) => undecidedText(document)),
  };
}

function checkUnwanted(unwanted: readonly Unwanted[], response: Response): Judged {
  const all = { ...response, k: response.isLeakTest ? null : response.k };
  const judged = unwanted.map(({ word, document }) =>
    checkEach(word, [placeOf(document, all)], ({ rank }) =>
      rank === undefined ? { passed: true } : { passed: false, detail: `came at rank ${rank}` },
    ),
  );
  return {
    checks: judged.flatMap(({ checks }) => checks),
    undecided: judged.flatMap(({ undecided }) => undecided),
  };
}

/** Checks which documents a case wants and does not want. */
function checkDocuments({ mustRetrieve, match, unwanted }: Documents, response: Response): Judged {
  const wanted = mustRetrieve.map(({ document }) => placeOf(document, response));
  const needed =
    match === "any" && wanted.length > 0
      ? checkAny(wanted, response)
      : checkEach("must_retrieve", wanted, ({ document, rank }) =>
          rank === undefined
            ? { passed: false, detail: missingText(document, response) }
            : { passed: true },
        );
  const refused = checkUnwanted(unwanted, response);
  return {
    checks: [...needed.checks, ...refused.checks],
    undecided: [...needed.undecided, ...refused.undecided],
  };
}

const epsilon = 1e-9;

/**
 * The outcome of a case from its runs. `passed`: at least the share `threshold` of the runs passed.
 * Otherwise `flaky` if some passed, `failed` if none did. A run in error is neither: the case is
 * `error` unless it misses the threshold whatever the result of that run had been. Errors never
 * become a pass.
 */
export function collapseRuns(
  runs: readonly Pick<EvalRun, "outcome">[],
  threshold: number,
): Exclude<Outcome, "skipped"> {
  const count = (outcome: EvalRun["outcome"]): number =>
    runs.filter((each) => each.outcome === outcome).length;
  const [passed, errors] = [count("passed"), count("error")];
  const needed = threshold * runs.length - epsilon;
  const mayPass = passed + errors >= needed;
  if (mayPass) return errors > 0 ? "error" : "passed";
  return passed > 0 ? "flaky" : "failed";
}

/** The run that shows the outcome: a failing one of a flaky case. */
export function runThatShows(runs: readonly EvalRun[], outcome: Outcome): EvalRun | undefined {
  const wanted = outcome === "flaky" ? "failed" : outcome;
  return runs.find((each) => each.outcome === wanted) ?? runs[0];
}

export interface JudgeRules {
  kind: EvalKind;
  /** Whether the judge is on: without it, its word is left out. */
  judges: boolean;
  matches: DocumentMatch;
}

/** Why a case is not asked; undefined if it is. */
export function skipReason(
  { needsReview, mustRetrieve, mustNotRetrieve, expect, profile }: EvalCase,
  { kind, judges }: Pick<JudgeRules, "kind" | "judges">,
): string | undefined {
  if (needsReview) return "drafted: check the case, then remove `review: true`";
  if (mustRetrieve.length + mustNotRetrieve.length > 0) return undefined;
  if (kind === "retrieval" && leakWords({ profile, expect }).length > 0) return undefined;
  if (kind === "retrieval") return "names no document that must or must not be retrieved";
  const isJudged = expect.every(({ word }) => word === judgeWord);
  return isJudged && !judges ? "all its expectations need --judge" : undefined;
}

/** Number of documents that count: the first k of a search, all documents of an answer. */
function countedOf({ k }: EvalCase, kind: EvalKind): number | null {
  return kind === "retrieval" ? k : null;
}

/** Documents that must not come. The words of a case are judged in `answers`, but for leaks. */
function unwantedOf(evalCase: EvalCase, kind: EvalKind): Unwanted[] {
  const words = kind === "retrieval" ? leakWords(evalCase) : [];
  return [
    ...evalCase.mustNotRetrieve.map(({ document }) => ({ word: "must_not_retrieve", document })),
    ...words.map((document) => ({ word: "not-retrieves", document })),
  ];
}

function checkWords(evalCase: EvalCase, reply: Reply, { judges, matches }: JudgeRules): Judged {
  const { answer = "", cited, retrieved, elapsedMs } = reply;
  const input = { answer, cited, retrieved, elapsedMs, matches };
  const judged: Judged = { checks: [], undecided: [] };
  for (const [index, expectation] of evalCase.expect.entries()) {
    if (expectation.word === judgeWord && !judges) continue;
    const result =
      expectation.word === judgeWord
        ? checkJudgement(
            expectation,
            reply.judgements?.find((each) => each.index === index),
          )
        : checkExpectation(expectation, input);
    if ("check" in result) judged.checks.push(result.check);
    else judged.undecided.push(result.error);
  }
  return judged;
}

/** `unproved`: why a pass of this leak test would prove nothing. */
function judgeRun(
  evalCase: EvalCase,
  reply: Reply,
  rules: JudgeRules,
  unproved: string | undefined,
): EvalRun {
  const { answer, retrieved, cited, elapsedMs, calls, error } = reply;
  const seen = { answer, retrieved, cited, elapsedMs, calls };
  if (error !== undefined) return { ...seen, outcome: "error", error, checks: [] };
  const k = countedOf(evalCase, rules.kind);
  const documents = checkDocuments(
    { ...evalCase, unwanted: unwantedOf(evalCase, rules.kind) },
    { retrieved, k, matches: rules.matches, isLeakTest: leakedOf(evalCase).length > 0 },
  );
  const words =
    rules.kind === "answers" ? checkWords(evalCase, reply, rules) : { checks: [], undecided: [] };
  const checks = [...documents.checks, ...words.checks];
  // A check that failed decides the run, whatever the undecided ones are.
  if (checks.some(({ passed }) => !passed)) return { ...seen, outcome: "failed", checks };
  const [problem = unproved] = [...documents.undecided, ...words.undecided];
  if (problem !== undefined) return { ...seen, outcome: "error", error: problem, checks };
  return { ...seen, outcome: "passed", checks };
}

function describeCase(evalCase: EvalCase, { kind, matches }: JudgeRules, runs: readonly EvalRun[]) {
  const { id, group, question, place, profile, mustRetrieve } = evalCase;
  const k = countedOf(evalCase, kind);
  const pathOf = (ref: DocumentRef): string | null => {
    if ("path" in ref) return ref.path;
    const found = runs.flatMap(({ retrieved }) => retrieved).find((each) => matches(ref, each));
    return found?.path ?? null;
  };
  return {
    id,
    kind,
    group: group ?? null,
    question,
    place,
    profile: profile ?? null,
    digest: caseDigest(evalCase, kind),
    ...(k === null ? {} : { k }),
    runs,
    expected: mustRetrieve.map(({ document, relevance }) => ({
      document,
      relevance,
      path: pathOf(document),
    })),
    unwanted: unwantedOf(evalCase, kind).map(({ document }) => ({
      document,
      path: pathOf(document),
    })),
    metrics: caseMetrics(mustRetrieve, runs, k, matches),
  };
}

/** The result of a case that is not asked. */
export function skippedCase(evalCase: EvalCase, rules: JudgeRules, reason: string): CaseResult {
  const metrics = { hit: null, recall: null, mrr: null, ndcg: null };
  const nothing = { retrieved: [], cited: [], checks: [], metrics };
  return { ...describeCase(evalCase, rules, []), ...nothing, outcome: "skipped", reason };
}

/** Judges the replies to a case. Without time, network or files: equal replies give equal results. */
export function judgeCase(evalCase: EvalCase, replies: CaseReplies, rules: JudgeRules): CaseResult {
  const unproved = controlProblem(leakedOf(evalCase), replies.control, rules.matches);
  const runs = replies.runs.map((reply) => judgeRun(evalCase, reply, rules, unproved));
  const outcome = collapseRuns(runs, evalCase.threshold);
  const shown = runThatShows(runs, outcome);
  const { retrieved = [], cited = [], checks = [] } = shown ?? {};
  const reason = outcome === "error" ? (shown?.error ?? "not asked") : null;
  return { ...describeCase(evalCase, rules, runs), outcome, reason, retrieved, cited, checks };
}
