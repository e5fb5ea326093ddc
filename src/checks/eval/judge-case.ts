import { caseDigest } from "./suite/case-digest.ts";
import { collapseRuns, runThatShows } from "./collapse.ts";
import { checkDocuments, type Judged, type Unwanted } from "./documents-check.ts";
import { checkJudgement, judgeWord } from "./judgement.ts";
import { controlProblem, leakedOf, leakWords } from "./leak-control.ts";
import type { DocumentMatch } from "./match-document.ts";
import { caseMetrics } from "./metrics.ts";
import type { CaseReplies, Reply } from "./reply.ts";
import type { CaseResult, EvalKind, EvalRun } from "./result.ts";
import type { DocumentRef, EvalCase } from "./suite/suite.ts";
import { checkExpectation } from "./words/words.ts";

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
