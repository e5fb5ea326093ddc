import { CliError } from "../../errors.ts";
import { compareReports } from "./compare.ts";
import type { ComparedCase, EvalReport, ReportedCase } from "./result.ts";
import { summarise } from "./summary.ts";

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

/** Throws CliError `usage` for a condition that needs the comparison with a baseline. */
export function checkFailOn(failOn: FailOn | undefined, hasBaseline: boolean): void {
  if (failOn === undefined || failOn.when === "rate" || hasBaseline) return;
  throw new CliError("usage", `--fail-on ${failOn.when} needs --baseline REPORT`, {
    hints: ["write one with --report FILE.json", "without a baseline: --fail-on 'rate<0.9'"],
  });
}

/** The part of a report that decides its status. */
type Facts = Pick<EvalReport, "stopped" | "summary" | "comparison">;

const casesOf = (count: number): string => `${count} ${count === 1 ? "case" : "cases"}`;

const mostNamed = 10;

/** `a, b and 3 more` */
function namesOf(cases: readonly ComparedCase[]): string {
  const names = cases.slice(0, mostNamed).map(({ id }) => id);
  const hidden = cases.length - names.length;
  return names.join(", ") + (hidden > 0 ? ` and ${hidden} more` : "");
}

function failureOf({ summary, comparison }: Facts, failOn: FailOn | undefined): string | undefined {
  if (failOn === undefined) {
    const failed = summary.failed + summary.flaky;
    const flaky = summary.flaky > 0 ? ` (${summary.flaky} flaky)` : "";
    return failed > 0 ? `${failed} of ${casesOf(summary.cases)} failed${flaky}` : undefined;
  }
  if (failOn.when === "rate") {
    const rate = summary.metrics.passed.value;
    if (rate === null) return "no case was asked, so there is no rate";
    // Rounded down: a rate of 0.8999 is not shown as 0.9.
    const shown = Math.floor(rate * 1000) / 1000;
    return rate < failOn.below ? `rate ${shown} is below ${failOn.below}` : undefined;
  }
  if (comparison === null) throw new Error("no comparison");
  const { verdict, worse, baseline } = comparison;
  const got = `${casesOf(worse.length)} got worse`;
  const named = worse.length > 0 ? `: ${namesOf(worse)}` : "";
  if (verdict === "worse") return `significantly worse than ${baseline}: ${got}${named}`;
  if (failOn.when === "significantly-worse" || worse.length === 0) return undefined;
  return `${got} than in ${baseline}${named}`;
}

/** The status that the counts of a report prove. */
export function statusOf(report: Facts, failOn: FailOn | undefined): EvalReport["status"] {
  if (failureOf(report, failOn) !== undefined) return "failed";
  return report.stopped !== null || report.summary.error > 0 ? "partial" : "passed";
}

/** A finished run, before its cases are counted. */
export type FinishedRun = Pick<
  EvalReport,
  "basis" | "startedAt" | "elapsedMs" | "calls" | "stopped" | "sandbox"
>;

/** What a run is measured by. `name`: the file of the baseline as typed. */
export interface Goals {
  failOn?: FailOn | undefined;
  baseline?: { report: EvalReport; name: string } | undefined;
}

/**
 * The report of a run, compared with the baseline, with the status by `failOn`. Throws CliError `usage`
 * as compareReports().
 */
export function createReport(
  run: FinishedRun,
  cases: readonly ReportedCase[],
  { failOn, baseline }: Goals = {},
): EvalReport {
  const { basis, startedAt, elapsedMs, calls, stopped, sandbox } = run;
  const facts = {
    stopped,
    summary: summarise(cases),
    comparison: baseline ? compareReports(baseline.report, { basis, cases }, baseline.name) : null,
  };
  return {
    version: 1,
    command: basis.kind === "answers" ? "eval answers" : "eval retrieval",
    status: statusOf(facts, failOn),
    failOn:
      failOn === undefined ? null : failOn.when === "rate" ? `rate<${failOn.below}` : failOn.when,
    basis,
    startedAt,
    elapsedMs,
    calls,
    stopped,
    ...(sandbox ? { sandbox } : {}),
    summary: facts.summary,
    comparison: facts.comparison,
    cases: [...cases],
  };
}

/**
 * Throws CliError `checks-failed` if the condition holds: without `failOn`, if a case failed or is
 * flaky; `hints` say what to do. Else throws `partial` if a case ended in an error or the run ended
 * early. Conditions on the comparison need one, see checkFailOn().
 */
export function failUnlessPassed(
  report: Facts,
  failOn: FailOn | undefined,
  hints: readonly string[] = [],
): void {
  const failure = failureOf(report, failOn);
  if (failure !== undefined) throw new CliError("checks-failed", failure, { hints });
  const { error, cases } = report.summary;
  if (report.stopped !== null) throw new CliError("partial", `stopped: ${report.stopped}`);
  if (error > 0) throw new CliError("partial", `${error} of ${casesOf(cases)} ended in an error`);
}
