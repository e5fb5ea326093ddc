import { compareReports } from "../../../src/checks/eval/compare.ts";
import type { EvalReport, ReportedCase } from "../../../src/checks/eval/result.ts";
import { retrieved, sampleCase, sampleReport, sampleRun } from "../../checks/eval/sample.ts";

const holidays = "docs/people/holidays.md";

/** One case of each kind that reports treat differently. */
function mixedCases(): ReportedCase[] {
  return [
    sampleCase("fine", { group: "people", digest: "d" }),
    sampleCase("leave-days", {
      group: "people",
      digest: "d",
      outcome: "failed",
      question: "How many days of leave does Handbook give?",
      expected: [{ document: { path: holidays }, relevance: 1, path: holidays }],
      retrieved: retrieved(
        "docs/a.md",
        "docs/b.md",
        "docs/c.md",
        "docs/d.md",
        "docs/e.md",
        holidays,
      ),
      k: 5,
    }),
    sampleCase("no-leak", {
      digest: "d",
      outcome: "failed",
      question: "Where is the secret plan?",
      profile: "intern",
      expected: [],
      unwanted: [{ document: { path: "docs/board.md" }, path: "docs/board.md" }],
      retrieved: retrieved("docs/board.md"),
      metrics: { hit: null, recall: null, mrr: null, ndcg: null },
    }),
    sampleCase("shaky", { group: "it", digest: "d", outcome: "flaky" }),
    sampleCase("late", {
      group: "it",
      digest: "d",
      outcome: "error",
      reason: "no response within 30s",
    }),
    sampleCase("later", {
      group: "it",
      digest: "d",
      outcome: "error",
      reason: "no response within 30s",
    }),
    sampleCase("draft", { digest: "d", outcome: "skipped", reason: "not reviewed", runs: [] }),
  ];
}

/** A report of mixedCases(), compared with a run in which `leave-days` passed. */
export function mixedReport(): EvalReport {
  const report = sampleReport(sampleRun(mixedCases()));
  const before = mixedCases().map((each) =>
    each.id === "leave-days" ? sampleCase("leave-days", { digest: "d", group: "people" }) : each,
  );
  const baseline = sampleReport(sampleRun(before));
  return { ...report, comparison: compareReports(baseline, report, "base.json") };
}

/** A report in which each foreign text is `text`. */
export function reportOf(text: string, judge: string | null = null): EvalReport {
  const document = { rank: 1, id: text, title: text, link: text, path: text, snippet: text };
  const all: ReportedCase[] = (["failed", "error", "flaky", "skipped", "passed"] as const).map(
    (outcome) =>
      sampleCase(`${outcome}${text}`, {
        outcome,
        group: text,
        question: text,
        reason: text,
        profile: text,
        place: { file: text, line: 1, column: 1 },
        expected: [{ document: { link: text }, relevance: 1, path: text }],
        unwanted: [{ document: { id: text }, path: text }],
        retrieved: [document],
        cited: [document],
        checks: [{ word: text, value: text, passed: false, detail: text }],
        runs: [
          {
            outcome: "failed",
            error: text,
            answer: text,
            retrieved: [document],
            cited: [document],
            checks: [],
            elapsedMs: 1,
            calls: 1,
          },
        ],
      }),
  );
  const run = sampleRun(all, { stopped: text });
  const suites = [{ file: text, digest: text }];
  const report = sampleReport({ ...run, basis: { ...run.basis, via: text, suites, judge } });
  return { ...report, comparison: compareReports(report, report, text) };
}
