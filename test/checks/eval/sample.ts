import type { DocumentMatch } from "../../../src/checks/eval/match-document.ts";
import { createReport, reportCase, type EvalReport } from "../../../src/checks/eval/report.ts";
import type {
  CaseResult,
  EvalRunResult,
  RetrievedDocument,
} from "../../../src/checks/eval/result.ts";

/** Documents by their paths, best first. */
export function retrieved(...paths: string[]): RetrievedDocument[] {
  return paths.map((path, index) => ({
    rank: index + 1,
    id: `handbook/${path}`,
    title: path.replace(".md", ""),
    link: `https://docs.example.com/${path}`,
    path,
    snippet: `about ${path}`,
  }));
}

/** A case that wants `docs/<id>.md` and got it, unless `changes` says otherwise. */
export function sampleCase(id: string, changes: Partial<CaseResult> = {}): CaseResult {
  const path = `docs/${id}.md`;
  const outcome = changes.outcome ?? "passed";
  const documents =
    outcome === "passed" ? retrieved(path, "docs/other.md") : retrieved("docs/other.md");
  const isHit = outcome === "passed" ? 1 : 0;
  const checks = [{ word: "must_retrieve", value: path, passed: outcome === "passed" }];
  return {
    id,
    kind: "retrieval",
    group: null,
    question: `What about ${id}?`,
    outcome,
    reason: outcome === "error" ? "timeout" : null,
    place: { file: "suite.yaml", line: 3, column: 5 },
    profile: null,
    runs: [
      {
        outcome: outcome === "passed" || outcome === "error" ? outcome : "failed",
        retrieved: documents,
        cited: [],
        checks,
        elapsedMs: 12,
        calls: 0,
      },
    ],
    expected: [{ document: { path }, relevance: 1, path }],
    unwanted: [],
    retrieved: outcome === "error" ? [] : documents,
    cited: [],
    checks: outcome === "error" ? [] : checks,
    metrics: { hit: isHit, recall: isHit, mrr: isHit, ndcg: isHit },
    ...changes,
  };
}

/** A finished run with its cases. */
type SampleRun = EvalRunResult & { cases: readonly CaseResult[] };

/** A finished run of these cases. */
export function sampleRun(
  cases: readonly CaseResult[],
  changes: Partial<EvalRunResult> = {},
): SampleRun {
  return {
    basis: {
      kind: "retrieval",
      suites: [{ file: "suite.yaml", digest: "d1" }],
      via: "keyword",
      k: 5,
      dialect: "onyx",
      judge: null,
    },
    cases,
    startedAt: "2026-03-04T09:00:00.000Z",
    elapsedMs: 1234,
    calls: 0,
    ...changes,
  };
}

/** Compares the paths. */
export const matchesPath: DocumentMatch = (ref, { path }) => "path" in ref && path === ref.path;

/** The report of a run, without a comparison. */
export function sampleReport(run: SampleRun): EvalReport {
  return createReport(
    run,
    run.cases.map((each) => reportCase(each, matchesPath)),
  );
}
