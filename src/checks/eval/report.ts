import type { Comparison } from "./comparison.ts";
import type { Matches, RankedDocument } from "./metrics.ts";
import { rankWanted } from "./metrics.ts";
import type { CaseResult, EvalBasis, EvalRunResult, RetrievedDocument } from "./result.ts";
import { summarise, type EvalSummary } from "./summary.ts";

/** A retrieved or cited document, with what the case says of it. */
export interface ReportedDocument extends RetrievedDocument {
  /** Null if the case does not name the document. */
  role: "expected" | "unwanted" | null;
}

/** A case as reports show it: trust.md 9. */
export interface ReportedCase extends Omit<
  CaseResult,
  "expected" | "unwanted" | "retrieved" | "cited"
> {
  /** Ranks are those in `retrieved`. */
  expected: readonly RankedDocument[];
  unwanted: readonly Omit<RankedDocument, "relevance">[];
  retrieved: readonly ReportedDocument[];
  cited: readonly ReportedDocument[];
}

/** A finished run: what every report is made of, and what a later run has as its baseline. */
export interface EvalReport {
  version: 1;
  command: "eval retrieval" | "eval answers";
  basis: EvalBasis;
  /** ISO 8601. */
  startedAt: string;
  elapsedMs: number;
  /** Model calls, as far as known. */
  calls: number;
  /** Why the run ended early; null if every case was tried. */
  stopped: string | null;
  summary: EvalSummary;
  /** Null without a baseline. */
  comparison: Comparison | null;
  cases: readonly ReportedCase[];
}

/**
 * A case for reports: documents that it names have their rank, retrieved and cited documents their
 * role.
 */
export function reportCase(result: CaseResult, matches: Matches): ReportedCase {
  const { expected, unwanted, retrieved, cited, k = null } = result;
  const roleOf = (document: RetrievedDocument): ReportedDocument["role"] => {
    if (unwanted.some((each) => matches(each, document))) return "unwanted";
    return expected.some((each) => matches(each, document)) ? "expected" : null;
  };
  const marked = (documents: readonly RetrievedDocument[]): ReportedDocument[] =>
    documents.map((each) => ({ ...each, role: roleOf(each) }));
  const unwantedRanks = rankWanted(
    unwanted.map((each) => ({ ...each, relevance: 1 })),
    retrieved,
    k,
    matches,
  );
  return {
    ...result,
    expected: rankWanted(expected, retrieved, k, matches),
    unwanted: unwantedRanks.map(({ document, path, rank }) => ({ document, path, rank })),
    retrieved: marked(retrieved),
    cited: marked(cited),
  };
}

/** The report of a run, without a comparison. `cases` are those of the run, by reportCase(). */
export function createReport(run: EvalRunResult, cases: readonly ReportedCase[]): EvalReport {
  const { basis, startedAt, elapsedMs, calls, stopped } = run;
  return {
    version: 1,
    command: basis.kind === "answers" ? "eval answers" : "eval retrieval",
    basis,
    startedAt,
    elapsedMs,
    calls,
    stopped: stopped ?? null,
    summary: summarise(cases),
    comparison: null,
    cases,
  };
}
