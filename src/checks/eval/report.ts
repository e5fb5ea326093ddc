import type { Comparison } from "./comparison.ts";
import type { DocumentMatch } from "./match-document.ts";
import { rankWanted } from "./metrics.ts";
import type { CaseResult, EvalBasis, EvalRunResult, RetrievedDocument } from "./result.ts";
import type { DocumentRef } from "./suite/suite.ts";
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
  /** `rank`: position among all of `retrieved`, from 1; null if the document did not come. */
  expected: readonly (CaseResult["expected"][number] & { rank: number | null })[];
  unwanted: readonly (CaseResult["unwanted"][number] & { rank: number | null })[];
  retrieved: readonly ReportedDocument[];
  cited: readonly ReportedDocument[];
}

/** A finished run: what every report is made of, and what a later run has as its baseline. */
export interface EvalReport {
  version: 1;
  command: "eval retrieval" | "eval answers";
  /** Exit code 0, 13 or 10, see failUnlessPassed(). */
  status: "passed" | "failed" | "partial";
  /** The condition of `--fail-on` that decided the status; null without one. */
  failOn: string | null;
  basis: EvalBasis;
  /** ISO 8601. */
  startedAt: string;
  elapsedMs: number;
  /** Model calls, as far as known. */
  calls: number;
  /** Why the run ended early; null if every case was tried. */
  stopped: string | null;
  /** Present if the sandbox was asked. */
  sandbox?: true | undefined;
  summary: EvalSummary;
  /** Null without a baseline. */
  comparison: Comparison | null;
  cases: readonly ReportedCase[];
}

/** Documents of a search that a report shows, besides those that the case names. */
const fewestShown = 10;

/** A leak test judges thousands of documents; `k` is undefined for an answer. */
function isShown(rank: number, k: number | undefined): boolean {
  return k === undefined || rank <= Math.max(k, fewestShown);
}

/**
 * A case for reports: documents that it names have their rank, retrieved and cited documents their
 * role.
 */
export function reportCase(result: CaseResult, matches: DocumentMatch): ReportedCase {
  const { expected, unwanted, runs, retrieved, cited } = result;
  const isNamed = (
    named: readonly { document: DocumentRef }[],
    found: RetrievedDocument,
  ): boolean => named.some(({ document }) => matches(document, found));
  const marked = (documents: readonly RetrievedDocument[]): ReportedDocument[] =>
    documents.map((each) => {
      if (isNamed(unwanted, each)) return { ...each, role: "unwanted" };
      return { ...each, role: isNamed(expected, each) ? "expected" : null };
    });
  const shown = (documents: readonly RetrievedDocument[]): readonly RetrievedDocument[] =>
    documents.filter(
      (each) => isShown(each.rank, result.k) || isNamed([...expected, ...unwanted], each),
    );
  return {
    ...result,
    runs: runs.map((run) => ({ ...run, retrieved: shown(run.retrieved) })),
    expected: rankWanted(expected, retrieved, matches),
    unwanted: unwanted.map((each) => {
      const at = retrieved.findIndex((found) => matches(each.document, found));
      return { ...each, rank: at < 0 ? null : at + 1 };
    }),
    retrieved: marked(shown(retrieved)),
    cited: marked(cited),
  };
}

/**
 * The report of a run, without a comparison; its status is that without `--fail-on`. `cases` are
 * those of the run, by reportCase().
 */
export function createReport(run: EvalRunResult, cases: readonly ReportedCase[]): EvalReport {
  const { basis, startedAt, elapsedMs, calls, stopped } = run;
  const summary = summarise(cases);
  const isPartial = summary.error > 0 || stopped !== undefined;
  return {
    version: 1,
    command: basis.kind === "answers" ? "eval answers" : "eval retrieval",
    status: summary.failed + summary.flaky > 0 ? "failed" : isPartial ? "partial" : "passed",
    failOn: null,
    basis,
    startedAt,
    elapsedMs,
    calls,
    stopped: stopped ?? null,
    ...(run.isSandbox ? { sandbox: true } : {}),
    summary,
    comparison: null,
    cases,
  };
}
