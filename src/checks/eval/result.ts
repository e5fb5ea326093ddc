import type { DocumentRef, Place } from "./suite/suite.ts";

export type EvalKind = "retrieval" | "answers";
export type Outcome = "passed" | "failed" | "error" | "flaky" | "skipped";

/** A document that the service returned, best first. */
export interface RetrievedDocument {
  rank: number;
  id: string | null;
  title: string | null;
  link: string | null;
  /** The local file, where the state or the folder knows it. */
  path: string | null;
  /** The text that the service showed of it, shortened; null where the way shows none. */
  snippet: string | null;
}

/** One expectation, judged. */
export interface Check {
  /** `contains`, `not-cites`, `must_retrieve`, … */
  word: string;
  value: unknown;
  passed: boolean;
  /** What was found instead; undefined if there is nothing to add. */
  detail?: string | undefined;
}

/** One attempt at a case. */
export interface EvalRun {
  outcome: "passed" | "failed" | "error";
  /** Why it could not be judged. */
  error?: string | undefined;
  /** Answers only. */
  answer?: string | undefined;
  retrieved: readonly RetrievedDocument[];
  cited: readonly RetrievedDocument[];
  checks: readonly Check[];
  elapsedMs: number;
  /** Model calls that this run made, as far as known. */
  calls: number;
}

/** At k of the case; null where the case wants no document. A case in error has 0. */
export interface CaseMetrics {
  hit: number | null;
  recall: number | null;
  mrr: number | null;
  ndcg: number | null;
}

export interface CaseResult {
  id: string;
  kind: EvalKind;
  group: string | null;
  question: string;
  outcome: Outcome;
  /** Why, for `error` and `skipped`. */
  reason: string | null;
  place: Place;
  profile: string | null;
  /** Of what decides the result: a baseline is compared on the cases with an equal digest. */
  digest?: string | undefined;
  /** Documents that count, best first; undefined if all do. */
  k?: number | undefined;
  runs: readonly EvalRun[];
  expected: readonly { document: DocumentRef; relevance: number; path: string | null }[];
  unwanted: readonly { document: DocumentRef; path: string | null }[];
  /** Of the first run that shows the outcome. */
  retrieved: readonly RetrievedDocument[];
  cited: readonly RetrievedDocument[];
  checks: readonly Check[];
  metrics: CaseMetrics;
}

/** What results depend on besides the documents: only equal ones are compared. */
export interface EvalBasis {
  kind: EvalKind;
  suites: readonly { file: string; digest: string }[];
  /** The search way, or `chat`. */
  via: string;
  k: number | null;
  dialect: string;
  judge: string | null;
}

/** A finished run, without its cases. */
export interface EvalRunResult {
  basis: EvalBasis;
  startedAt: string;
  elapsedMs: number;
  calls: number;
  /** Why the run ended early; undefined if every case was tried. */
  stopped?: string | undefined;
  /** Whether the sandbox was asked. */
  isSandbox?: boolean | undefined;
}
