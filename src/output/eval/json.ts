import type { EvalReport, ReportedCase } from "../../checks/eval/report.ts";
import type { FormatOptions } from "../formats/formats.ts";
import { checkMembers } from "../formats/members.ts";
import { metricNames } from "./metric-names.ts";

/** The object of `--output json` and of a `.json` report, in pieces: a line for each case. */
export function* evalJson({ cases, ...head }: EvalReport): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"cases":[`;
  let separator = "\n";
  for (const each of cases) {
    yield separator + JSON.stringify(each);
    separator = ",\n";
  }
  yield "\n]}\n";
}

/** A line of ndjson for one case. */
export function evalCaseLine(result: ReportedCase): string {
  return `${JSON.stringify({ version: 1, type: "case", ...result })}\n`;
}

/** The last line of ndjson. */
export function evalResultLine(report: EvalReport): string {
  const { version, ...rest } = report;
  return `${JSON.stringify({ version, type: "result", ...rest, cases: undefined })}\n`;
}

const counts = { cases: 0, passed: 0, failed: 0, error: 0, flaky: 0, skipped: 0 };
const each = <Value>(value: Value): Record<string, Value> =>
  Object.fromEntries(metricNames.map((name) => [name, value]));

/** Members of the JSON, so that an unknown name in --fields is refused before any request. */
const sample = {
  version: 1,
  command: "",
  status: "",
  failOn: "",
  basis: { kind: "", suites: [], via: "", k: 0, dialect: "", judge: "" },
  startedAt: "",
  elapsedMs: 0,
  calls: 0,
  stopped: "",
  sandbox: true,
  summary: { ...counts, metrics: each({ value: 0, low: 0, high: 0, n: 0 }), groups: [] },
  comparison: null,
  cases: [],
};

/** The member `comparison` of a run with a baseline. */
const comparison = {
  baseline: "",
  compared: 0,
  better: [],
  worse: [],
  flaky: [],
  undecided: [],
  unchanged: 0,
  p: 0,
  verdict: "",
  needed: 0,
  metrics: each({ before: 0, now: 0, value: 0, low: 0, high: 0, n: 0 }),
  added: [],
  removed: [],
  changed: [],
};

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any request. */
export function checkEvalFormat(options: FormatOptions & { baseline?: string | undefined }): void {
  checkMembers(options, options.baseline === undefined ? sample : { ...sample, comparison });
}
