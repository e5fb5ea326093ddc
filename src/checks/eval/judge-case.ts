import { hash } from "node:crypto";
import { checkJudgement, judgeWord, type CaseReplies, type Reply } from "./replies.ts";
import { type DocumentMatch, documentText, caseMetrics, rankWanted } from "./documents.ts";
import type {
  Check,
  DocumentRef,
  EvalKind,
  EvalRun,
  Outcome,
  ReportedCase,
  ReportedDocument,
  RetrievedDocument,
} from "./result.ts";
import type { EvalCase } from "./suite/suite.ts";
import { checkExpectation } from "./words.ts";

type Leaky = Pick<EvalCase, "profile" | "expect" | "mustNotRetrieve">;

/** Documents that `not-retrieves` names in a case with the profile of another reader. */
function leakWords({ profile, expect }: Omit<Leaky, "mustNotRetrieve">): DocumentRef[] {
  if (profile === undefined) return [];
  return expect
    .filter(({ word, isNot }) => isNot && word === "retrieves")
    .flatMap(({ value }) => value as readonly DocumentRef[]);
}

/**
 * Documents that the reader of a case must not see; empty unless the case is a leak test. At any
 * rank: a reader who sees the document at rank 7 sees it.
 */
export function leakedOf(evalCase: Leaky): DocumentRef[] {
  if (evalCase.profile === undefined) return [];
  return [...evalCase.mustNotRetrieve.map(({ document }) => document), ...leakWords(evalCase)];
}

/**
 * Why a leak test proves nothing: the profile of the run does not get the documents either, for
 * example because they are not indexed. Undefined if it gets all of them, at whatever rank.
 */
function controlProblem(
  leaked: readonly DocumentRef[],
  control: Reply | undefined,
  matches: DocumentMatch,
): string | undefined {
  if (leaked.length === 0) return undefined;
  const proves = "so that the leak test proves nothing";
  if (control === undefined) return `the profile of the run was not asked, ${proves}`;
  if (control.error !== undefined) {
    return `the same question failed for the profile of the run, ${proves}: ${control.error}`;
  }
  const absent = leaked.filter((ref) => !control.retrieved.some((each) => matches(ref, each)));
  if (absent.length === 0) return undefined;
  const names = absent.map(documentText).join(", ");
  return `the profile of the run does not get ${names} either, ${proves}`;
}

/**
 * Digest of everything in a case that decides its result, as 16 hex digits. Group, place and the
 * order of a suite do not; nor k for answers; nor agent, words and repetitions for retrieval.
 */
export function caseDigest(of: EvalCase, kind: EvalKind): string {
  const { id, question, agent, filters, profile, k, match, repeat, threshold } = of;
  const wanted = of.mustRetrieve.map(({ document, relevance }) => [document, relevance]);
  const unwanted = of.mustNotRetrieve.map(({ document }) => document);
  const expect = of.expect.map(({ word, isNot, value }) => [word, isNot, value]);
  const asked = { id, question, filters, profile, match, wanted, unwanted };
  const more =
    kind === "answers" ? { agent, repeat, threshold, expect } : { k, leaks: leakWords(of) };
  return hash("sha256", JSON.stringify({ ...asked, ...more }), "hex").slice(0, 16);
}

/** Checks of one run, and why a part of them could not be decided. */
interface Judged {
  checks: Check[];
  undecided: string[];
}

/** A document as a check names it: a path as text, else `{id}` or `{link}`. */
function valueOf(ref: DocumentRef): unknown {
  return "path" in ref ? ref.path : ref;
}

/** The documents of a response, and how a suite's names are compared with them. */
interface Response {
  retrieved: readonly RetrievedDocument[];
  /** Only the first `k` count; null: all. */
  k: number | null;
  matches: DocumentMatch;
}

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
  failure: (place: Place) => string | undefined,
): Judged {
  const decided = places.filter(({ isUndecided }) => !isUndecided);
  const undecided = places.filter(({ isUndecided }) => isUndecided);
  return {
    checks: decided.map((each) => {
      const detail = failure(each);
      return { word, value: valueOf(each.document), passed: detail === undefined, detail };
    }),
    undecided: undecided.map(({ document }) => undecidedText(document)),
  };
}

const joined = (all: readonly Judged[]): Judged => ({
  checks: all.flatMap(({ checks }) => checks),
  undecided: all.flatMap(({ undecided }) => undecided),
});

/** Checks which documents a case wants and does not want: of a leak test at any rank. */
function checkDocuments(evalCase: EvalCase, kind: EvalKind, response: Response): Judged {
  const { mustRetrieve, match } = evalCase;
  const wanted = mustRetrieve.map(({ document }) => placeOf(document, response));
  const all = leakedOf(evalCase).length > 0 ? { ...response, k: null } : response;
  return joined([
    match === "any" && wanted.length > 0
      ? checkAny(wanted, response)
      : checkEach("must_retrieve", wanted, ({ document, rank }) =>
          rank === undefined ? missingText(document, response) : undefined,
        ),
    ...unwantedOf(evalCase, kind).map(({ word, document }) =>
      checkEach(word, [placeOf(document, all)], ({ rank }) =>
        rank === undefined ? undefined : `came at rank ${rank}`,
      ),
    ),
  ]);
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
  /** Whether drafted cases are asked: their results are provisional. */
  drafts: boolean;
  matches: DocumentMatch;
}

/** Why a case is not asked; undefined if it is. */
export function skipReason(
  { needsReview, mustRetrieve, mustNotRetrieve, expect, profile }: EvalCase,
  { kind, judges, drafts }: Pick<JudgeRules, "kind" | "judges" | "drafts">,
): string | undefined {
  if (needsReview && !drafts) return "drafted: check the case, then remove `review: true`";
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

/**
 * Documents that must not come, and the word of the suite that says so. The words of a case are judged
 * in `answers`, but for leaks.
 */
function unwantedOf(evalCase: EvalCase, kind: EvalKind): { word: string; document: DocumentRef }[] {
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
  const documents = checkDocuments(evalCase, rules.kind, { retrieved, k, matches: rules.matches });
  const words =
    rules.kind === "answers" ? checkWords(evalCase, reply, rules) : { checks: [], undecided: [] };
  const { checks, undecided } = joined([documents, words]);
  // A check that failed decides the run, whatever the undecided ones are.
  if (checks.some(({ passed }) => !passed)) return { ...seen, outcome: "failed", checks };
  const [problem = unproved] = undecided;
  if (problem !== undefined) return { ...seen, outcome: "error", error: problem, checks };
  return { ...seen, outcome: "passed", checks };
}

/** Documents of a search that a report shows, besides those that the case names. */
const fewestShown = 10;

/** The judged case as reports have it: documents that it names have their rank, others their role. */
function describeCase(
  evalCase: EvalCase,
  runs: readonly EvalRun[],
  { kind, matches }: JudgeRules,
  result: Pick<ReportedCase, "outcome" | "reason" | "provisional"> & {
    shown?: EvalRun | undefined;
  },
): ReportedCase {
  const { id, group, question, place, profile, mustRetrieve } = evalCase;
  const { outcome, reason, provisional, shown } = result;
  const { retrieved = [], cited = [], checks = [] } = shown ?? {};
  const k = countedOf(evalCase, kind);
  const pathOf = (ref: DocumentRef): string | null => {
    if ("path" in ref) return ref.path;
    const found = runs.flatMap((run) => run.retrieved).find((each) => matches(ref, each));
    return found?.path ?? null;
  };
  const unwanted = unwantedOf(evalCase, kind);
  const isNamed = (named: readonly { document: DocumentRef }[], found: RetrievedDocument) =>
    named.some(({ document }) => matches(document, found));
  const marked = (each: RetrievedDocument): ReportedDocument => ({
    ...each,
    role: isNamed(unwanted, each) ? "unwanted" : isNamed(mustRetrieve, each) ? "expected" : null,
  });
  // A leak test judges thousands of documents.
  const isShown = (each: RetrievedDocument): boolean =>
    k === null ||
    each.rank <= Math.max(k, fewestShown) ||
    isNamed([...mustRetrieve, ...unwanted], each);
  return {
    id,
    kind,
    group: group ?? null,
    question,
    place,
    profile: profile ?? null,
    digest: caseDigest(evalCase, kind),
    ...(k === null ? {} : { k }),
    runs: runs.map((run) => ({ ...run, retrieved: run.retrieved.filter(isShown) })),
    expected: rankWanted(
      mustRetrieve.map(({ document, relevance }) => ({
        document,
        relevance,
        path: pathOf(document),
      })),
      retrieved,
      matches,
    ),
    unwanted: unwanted.map(({ document }) => {
      const at = retrieved.findIndex((found) => matches(document, found));
      return { document, path: pathOf(document), rank: at < 0 ? null : at + 1 };
    }),
    metrics:
      outcome === "skipped"
        ? { hit: null, recall: null, mrr: null, ndcg: null }
        : caseMetrics(mustRetrieve, runs, k, matches),
    outcome,
    ...(provisional === undefined ? {} : { provisional }),
    reason,
    retrieved: retrieved.filter(isShown).map(marked),
    cited: cited.map(marked),
    checks,
  };
}

/** The result of a case that is not asked. */
export function skippedCase(evalCase: EvalCase, rules: JudgeRules, reason: string): ReportedCase {
  return describeCase(evalCase, [], rules, { outcome: "skipped", reason });
}

/** Judges the replies to a case. Without time, network or files: equal replies give equal results. */
export function judgeCase(
  evalCase: EvalCase,
  replies: CaseReplies,
  rules: JudgeRules,
): ReportedCase {
  const unproved = controlProblem(leakedOf(evalCase), replies.control, rules.matches);
  const runs = replies.runs.map((reply) => judgeRun(evalCase, reply, rules, unproved));
  const outcome = collapseRuns(runs, evalCase.threshold);
  const shown = runThatShows(runs, outcome);
  const reason = outcome === "error" ? (shown?.error ?? "not asked") : null;
  if (evalCase.needsReview) {
    // Skipped wherever cases are counted: a draft is neither success nor failure.
    const why = reason === null ? "" : `: ${reason}`;
    const asSkipped = { outcome: "skipped", reason: `provisional: ${outcome}${why}` } as const;
    return describeCase(evalCase, runs, rules, { ...asSkipped, provisional: outcome, shown });
  }
  return describeCase(evalCase, runs, rules, { outcome, reason, shown });
}
