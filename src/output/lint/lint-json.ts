import type { CheckStatus } from "../../checks/verify/decide.ts";
import type { Finding } from "../../checks/lint/rule.ts";
import type { FormatOptions } from "../formats/formats.ts";
import { checkMembers, reportFormat, writeJsonReport } from "../formats/members.ts";
import type { Output } from "../terminal/output.ts";
import type { SeverityCounts } from "./lint-run.ts";

/** The counts of a run. */
export interface LintSummary extends SeverityCounts {
  /** Documents that an upload would send. */
  documents: number;
  /** Files of which an upload makes no document. */
  skipped: number;
  /** Files that could not be read. */
  failed: number;
  /** Findings that the baseline contains: they are not listed. */
  known: number;
  /** Findings of the baseline that no longer occur. */
  fixed: number;
}

/** What a run ends with. */
export interface LintEnd {
  status: CheckStatus;
  summary: LintSummary;
}

/** The object of `--output json` and of a `.json` report, in pieces. */
export function* lintJson(
  { status, summary }: LintEnd,
  findings: Iterable<Finding>,
): Generator<string> {
  const counts = JSON.stringify(summary);
  yield `{"version":1,"command":"lint","status":"${status}","summary":${counts},"findings":[`;
  let separator = "\n";
  for (const each of findings) {
    yield separator + JSON.stringify(each);
    separator = ",\n";
  }
  yield "\n]}\n";
}

/** The lines of `--output ndjson`: each finding, then the summary. */
function* lintLines({ status, summary }: LintEnd, findings: Iterable<Finding>): Generator<string> {
  for (const each of findings) {
    yield `${JSON.stringify({ version: 1, type: "finding", ...each })}\n`;
  }
  yield `${JSON.stringify({ version: 1, type: "result", command: "lint", status, summary })}\n`;
}

/** Members of the JSON, so that an unknown name in --fields is refused before any work. */
const sample = {
  version: 1,
  command: "",
  status: "",
  summary: {
    documents: 0,
    skipped: 0,
    failed: 0,
    error: 0,
    warning: 0,
    note: 0,
    known: 0,
    fixed: 0,
  } satisfies LintSummary,
  findings: [],
};

const formatsWithoutMembers = ["text", "sarif", "junit"];

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any work. */
export const checkLintFormat = (options: FormatOptions): void =>
  checkMembers(options, sample, formatsWithoutMembers);

/** Writes the result as JSON, whole or the members that flags select; or as ndjson. */
export async function writeLintJson(
  output: Output,
  options: FormatOptions,
  end: LintEnd,
  findings: Iterable<Finding>,
): Promise<void> {
  if (reportFormat(options) === "json") {
    return await writeJsonReport(output, options, lintJson(end, findings));
  }
  for (const line of lintLines(end, findings)) await output.json(line);
}
