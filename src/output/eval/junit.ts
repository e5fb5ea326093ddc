import type { EvalReport, ReportedCase } from "../../checks/eval/report.ts";
import { attributes, properties, stopCase, timestampOf, xmlText } from "../report/junit.ts";
import { problemText } from "./annotations.ts";
import { foundText, namedText, runsText } from "./words.ts";

/** Expected and retrieved documents and the answer, for the text of a failure. */
function detailsOf(of: ReportedCase): string {
  const answer = of.runs.find(({ outcome }) => outcome !== "passed")?.answer;
  const lines = [
    `question: ${of.question}`,
    ...of.expected.map((each) => `expected: ${namedText(each)}`),
    ...of.retrieved
      .slice(0, of.k ?? undefined)
      .map((each, index) => `retrieved ${index + 1}: ${foundText(each)}`),
    ...(answer === undefined ? [] : [`answer: ${answer}`]),
    ...(of.runs.length > 1 ? [runsText(of)] : []),
  ];
  return lines.join("\n");
}

function bodyOf(of: ReportedCase, isWorse: boolean, judge: string | null): string {
  if (of.outcome === "passed") return "";
  if (of.outcome === "skipped") return `<skipped${attributes({ message: of.reason ?? "" })}/>`;
  const judged = judge === null ? "" : ` (judged by ${judge})`;
  const worse = isWorse ? "worse than the baseline: " : "";
  const message = attributes({ message: worse + problemText(of) + judged, type: of.outcome });
  const element = of.outcome === "error" ? "error" : "failure";
  return `<${element}${message}>${xmlText(detailsOf(of))}</${element}>`;
}

function measures({ summary, basis, comparison, calls, sandbox }: EvalReport): string {
  const values: Record<string, string | number | undefined> = {
    via: basis.via,
    k: basis.k ?? undefined,
    dialect: basis.dialect,
    judge: basis.judge ?? undefined,
    calls,
    sandbox: sandbox ? "true" : undefined,
    flaky: summary.flaky,
    verdict: comparison?.verdict,
    baseline: comparison?.baseline,
    p: comparison?.p ?? undefined,
  };
  for (const [name, { value, low, high, n }] of Object.entries(summary.metrics)) {
    if (value === null) continue;
    Object.assign(values, { [name]: value, [`${name}.low`]: low, [`${name}.high`]: high });
    values[`${name}.n`] = n;
  }
  return properties(values);
}

/**
 * The run as JUnit XML in pieces: a test for each case. Flaky cases are failures, skipped ones are
 * skipped, and a run that ended early has one test with an error. The report must be redacted.
 */
export function* evalJunit(report: EvalReport): Generator<string> {
  const { summary, command, comparison, basis, stopped, cases } = report;
  const name = `knowctl ${command}`;
  const stops = stopped === null ? 0 : 1;
  const totals = {
    tests: summary.cases + stops,
    failures: summary.failed + summary.flaky,
    errors: summary.error + stops,
    skipped: summary.skipped,
    time: (report.elapsedMs / 1000).toFixed(3),
  };
  const timestamp = timestampOf(report.startedAt);
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes({ name, ...totals })}>\n`;
  yield `  <testsuite${attributes({ name, ...totals, timestamp })}>\n${measures(report)}`;
  const worse = new Set(comparison?.worse.map(({ id }) => id));
  for (const each of cases) {
    const elapsedMs = each.runs.reduce((sum, run) => sum + run.elapsedMs, 0);
    const opening = attributes({
      classname: each.group === null ? "eval" : `eval.${each.group}`,
      name: each.id,
      file: each.place.file,
      line: each.place.line,
      time: (elapsedMs / 1000).toFixed(3),
    });
    const body = bodyOf(each, worse.has(each.id), basis.judge);
    yield `    <testcase${opening}${body === "" ? "/>" : `>${body}</testcase>`}\n`;
  }
  if (stopped !== null) yield stopCase("eval", stopped);
  yield "  </testsuite>\n</testsuites>\n";
}
