import { CliError } from "../../errors.ts";
import { compareReports } from "./compare.ts";
import type { ComparedCase, Verdict } from "./comparison.ts";
import type { EvalReport } from "./report.ts";

/** When `eval` exits with 13. */
export type FailOn = { when: "worse" | "significantly-worse" } | { when: "rate"; below: number };

const forms = [
  "worse: a case got worse than in the baseline",
  "significantly-worse: the verdict of the comparison is worse",
  "rate<0.9: the share of passed cases is below 0.9 (any number above 0, up to 1)",
];

/** Parses `--fail-on`. Throws CliError `usage` that names the forms. */
export function parseFailOn(text: string): FailOn {
  if (text === "worse" || text === "significantly-worse") return { when: text };
  const below = Number(/^rate<(\d*\.?\d+)$/.exec(text.replaceAll(" ", ""))?.[1]);
  if (below > 0 && below <= 1) return { when: "rate", below };
  throw new CliError("usage", `--fail-on ${text}: no such condition`, { details: forms });
}

/** The condition as `--fail-on` takes it. */
function failOnText(failOn: FailOn): string {
  return failOn.when === "rate" ? `rate<${failOn.below}` : failOn.when;
}

/** Throws CliError `usage` for a condition that needs the comparison with a baseline. */
export function checkFailOn(failOn: FailOn | undefined, hasBaseline: boolean): void {
  if (failOn === undefined || failOn.when === "rate" || hasBaseline) return;
  throw new CliError("usage", `--fail-on ${failOn.when} needs --baseline REPORT`, {
    hints: ["write one with --report FILE.json", "without a baseline: --fail-on 'rate<0.9'"],
  });
}

/** The part of a report that decides its status. */
export interface EvalFacts {
  stopped: string | null;
  summary: {
    cases: number;
    failed: number;
    flaky: number;
    error: number;
    metrics: { passed: { value: number | null } };
  };
  comparison: { baseline: string; worse: readonly ComparedCase[]; verdict: Verdict } | null;
}

const casesOf = (count: number): string => `${count} ${count === 1 ? "case" : "cases"}`;

const mostNamed = 10;

/** `a, b and 3 more` */
function namesOf(cases: readonly ComparedCase[]): string {
  const names = cases.slice(0, mostNamed).map(({ id }) => id);
  const hidden = cases.length - names.length;
  return names.join(", ") + (hidden > 0 ? ` and ${hidden} more` : "");
}

function comparisonFailure(
  { comparison }: EvalFacts,
  when: "worse" | "significantly-worse",
): string | undefined {
  if (comparison === null) throw new Error("no comparison");
  const { verdict, worse, baseline } = comparison;
  const got = `${casesOf(worse.length)} got worse`;
  const named = worse.length > 0 ? `: ${namesOf(worse)}` : "";
  if (verdict === "worse") return `significantly worse than ${baseline}: ${got}${named}`;
  if (when === "significantly-worse" || worse.length === 0) return undefined;
  return `${got} than in ${baseline}${named}`;
}

function failureOf(report: EvalFacts, failOn: FailOn | undefined): string | undefined {
  const { summary } = report;
  if (failOn === undefined) {
    const failed = summary.failed + summary.flaky;
    const flaky = summary.flaky > 0 ? ` (${summary.flaky} flaky)` : "";
    return failed > 0 ? `${failed} of ${casesOf(summary.cases)} failed${flaky}` : undefined;
  }
  if (failOn.when !== "rate") return comparisonFailure(report, failOn.when);
  const rate = summary.metrics.passed.value;
  if (rate === null) return "no case was asked, so there is no rate";
  // Rounded down: a rate of 0.8999 is not shown as 0.9.
  const shown = Math.floor(rate * 1000) / 1000;
  return rate < failOn.below ? `rate ${shown} is below ${failOn.below}` : undefined;
}

/** The status that the counts of a report prove. */
export function statusOf(report: EvalFacts, failOn: FailOn | undefined): EvalReport["status"] {
  if (failureOf(report, failOn) !== undefined) return "failed";
  return report.stopped !== null || report.summary.error > 0 ? "partial" : "passed";
}

/**
 * Adds the comparison with a baseline, and the status by `failOn`. `name` is the baseline's file as
 * typed. Throws CliError `usage` as compareReports().
 */
export function finishReport(
  report: EvalReport,
  baseline: EvalReport | undefined,
  name: string,
  failOn: FailOn | undefined,
): EvalReport {
  const comparison = baseline === undefined ? null : compareReports(baseline, report, name);
  const condition = failOn === undefined ? null : failOnText(failOn);
  const compared = { ...report, comparison, failOn: condition };
  return { ...compared, status: statusOf(compared, failOn) };
}

/**
 * Throws CliError `checks-failed` if the condition holds: without `failOn`, if a case failed or is
 * flaky. Else throws `partial` if a case ended in an error or the run ended early. Conditions on the
 * comparison need one, see checkFailOn().
 */
export function failUnlessPassed(report: EvalFacts, failOn: FailOn | undefined): void {
  const failure = failureOf(report, failOn);
  if (failure !== undefined) throw new CliError("checks-failed", failure);
  const { error, cases } = report.summary;
  if (report.stopped !== null) throw new CliError("partial", `stopped: ${report.stopped}`);
  if (error > 0) throw new CliError("partial", `${error} of ${casesOf(cases)} ended in an error`);
}
