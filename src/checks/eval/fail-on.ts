import { CliError } from "../../errors.ts";
import { compareReports } from "./compare.ts";
import type { EvalReport } from "./report.ts";

/** When `eval` exits with 13. */
export type FailOn = { when: "worse" } | { when: "any" } | { when: "rate"; below: number };

const forms = [
  "worse: the verdict of the comparison is worse",
  "any: a case got worse, or the comparison cannot tell",
  "rate<0.9: the share of passed cases is below 0.9 (any number above 0, up to 1)",
];

/** Parses `--fail-on`. Throws CliError `usage` that names the forms. */
export function parseFailOn(text: string): FailOn {
  if (text === "worse" || text === "any") return { when: text };
  const below = Number(/^rate<(\d*\.?\d+)$/.exec(text.replaceAll(" ", ""))?.[1]);
  if (below > 0 && below <= 1) return { when: "rate", below };
  throw new CliError("usage", `--fail-on ${text}: no such condition`, { details: forms });
}

/** Throws CliError `usage` for a condition that needs the comparison with a baseline. */
export function checkFailOn(failOn: FailOn | undefined, hasBaseline: boolean): void {
  if (failOn === undefined || failOn.when === "rate" || hasBaseline) return;
  throw new CliError("usage", `--fail-on ${failOn.when} needs --baseline REPORT`, {
    hints: ["write one with --report FILE.json", "without a baseline: --fail-on 'rate<0.9'"],
  });
}

const casesOf = (count: number): string => `${count} ${count === 1 ? "case" : "cases"}`;

function comparisonFailure({ comparison }: EvalReport, when: "worse" | "any"): string | undefined {
  if (comparison === null) throw new Error("no comparison");
  const { verdict, worse, baseline } = comparison;
  if (verdict === "worse") return `worse than ${baseline}: ${casesOf(worse.length)} got worse`;
  if (when === "worse") return undefined;
  if (worse.length > 0) return `${casesOf(worse.length)} got worse than in ${baseline}`;
  return verdict === "cannot-tell" ? `cannot tell whether worse than ${baseline}` : undefined;
}

function failureOf(report: EvalReport, failOn: FailOn | undefined): string | undefined {
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
  const compared = { ...report, comparison };
  const isPartial = report.stopped !== null || report.summary.error > 0;
  const hasFailed = failureOf(compared, failOn) !== undefined;
  return { ...compared, status: hasFailed ? "failed" : isPartial ? "partial" : "passed" };
}

/**
 * Throws CliError `checks-failed` if the condition holds: without `failOn`, if a case failed or is
 * flaky. Else throws `partial` if a case ended in an error or the run ended early. `worse` and `any`
 * need a report with a comparison, see checkFailOn().
 */
export function failUnlessPassed(report: EvalReport, failOn: FailOn | undefined): void {
  const failure = failureOf(report, failOn);
  if (failure !== undefined) throw new CliError("checks-failed", failure);
  const { error, cases } = report.summary;
  if (report.stopped !== null) throw new CliError("partial", `stopped: ${report.stopped}`);
  if (error > 0) throw new CliError("partial", `${error} of ${casesOf(cases)} ended in an error`);
}
