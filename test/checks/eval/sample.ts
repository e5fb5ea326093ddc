import type { EvalCase } from "../../../src/checks/eval/suite/suite.ts";
import { type DocumentMatch, rankWanted } from "../../../src/checks/eval/documents.ts";
import { createReport, type FinishedRun } from "../../../src/checks/eval/report.ts";
import type {
  EvalReport,
  ReportedCase,
  RetrievedDocument,
} from "../../../src/checks/eval/result.ts";

/** A case without ranks and roles. */
type PlainCase = Omit<ReportedCase, "expected" | "unwanted" | "retrieved" | "cited"> & {
  expected: Omit<ReportedCase["expected"][number], "rank">[];
  unwanted: Omit<ReportedCase["unwanted"][number], "rank">[];
  retrieved: RetrievedDocument[];
  cited: RetrievedDocument[];
};
export type CaseChanges = Partial<PlainCase>;

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
export function sampleCase(id: string, changes: CaseChanges = {}): ReportedCase {
  const path = `docs/${id}.md`;
  const outcome = changes.outcome ?? "passed";
  const documents =
    outcome === "passed" ? retrieved(path, "docs/other.md") : retrieved("docs/other.md");
  const isHit = outcome === "passed" ? 1 : 0;
  const checks = [{ word: "must_retrieve", value: path, passed: outcome === "passed" }];
  return ranked({
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
  });
}

/** Adds ranks and roles by path. */
function ranked(plain: PlainCase): ReportedCase {
  const isNamed = (named: readonly { document: object }[], found: RetrievedDocument): boolean =>
    named.some(({ document }) => matchesPath(document as { path: string }, found));
  const marked = (each: RetrievedDocument) => {
    if (isNamed(plain.unwanted, each)) return { ...each, role: "unwanted" as const };
    return { ...each, role: isNamed(plain.expected, each) ? ("expected" as const) : null };
  };
  return {
    ...plain,
    expected: rankWanted(plain.expected, plain.retrieved, matchesPath),
    unwanted: plain.unwanted.map((each) => {
      const at = plain.retrieved.findIndex((found) => matchesPath(each.document, found));
      return { ...each, rank: at < 0 ? null : at + 1 };
    }),
    retrieved: plain.retrieved.map(marked),
    cited: plain.cited.map(marked),
  };
}

/** A finished run with its cases. */
type SampleRun = FinishedRun & { cases: readonly ReportedCase[] };

/** A finished run of these cases. */
export function sampleRun(
  cases: readonly ReportedCase[],
  changes: Partial<FinishedRun> = {},
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
    stopped: null,
    ...changes,
  };
}

/** Compares the paths. */
export const matchesPath: DocumentMatch = (ref, { path }) => "path" in ref && path === ref.path;

/** The report of a run, without a comparison. */
export function sampleReport(run: SampleRun): EvalReport {
  return createReport(run, run.cases);
}

/** A retrieved document with these members. */
export function documentWith(part: Partial<RetrievedDocument> = {}): RetrievedDocument {
  return { rank: 1, id: null, title: null, link: null, path: null, snippet: null, ...part };
}

/** A case that expects nothing yet. */
export const plainCase: EvalCase = {
  id: "a",
  group: undefined,
  question: "leave?",
  agent: undefined,
  filters: {},
  profile: undefined,
  k: 5,
  match: "all",
  mustRetrieve: [],
  mustNotRetrieve: [],
  expect: [],
  repeat: 1,
  threshold: 1,
  needsReview: false,
  place: { file: "suite.yaml", line: 3, column: 5 },
};
