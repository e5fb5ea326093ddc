import type { CheckStatus } from "../../checks/verify/decide.ts";
import type { Finding } from "../../checks/lint/rule.ts";
import { CliError } from "../../errors.ts";
import { checkSelection, writeRecord, type FormatOptions } from "../formats/formats.ts";
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

const selects = ({ fields, jq }: FormatOptions): boolean =>
  fields !== undefined || jq !== undefined;

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
export function checkLintFormat(options: FormatOptions): void {
  if (!selects(options)) return;
  if (formatsWithoutMembers.includes(options.output ?? "")) {
    const flag = options.fields === undefined ? "--jq" : "--fields";
    throw new CliError("usage", `${flag} and --output ${options.output} exclude each other`, {
      hints: ["the flag selects from the JSON: use --output json, or omit --output"],
    });
  }
  checkSelection(options, [], sample);
}

/** The format of the output; undefined for people. */
export function machineFormat(options: FormatOptions): string | undefined {
  if (selects(options)) return options.output ?? "json";
  if (options.json) return "json";
  return options.output === "text" ? undefined : options.output;
}

/** Writes the result as JSON or ndjson, whole or the members that flags select. */
export async function writeLintJson(
  output: Output,
  options: FormatOptions,
  end: LintEnd,
  findings: readonly Finding[],
): Promise<void> {
  if (selects(options)) {
    const record = JSON.parse([...lintJson(end, findings)].join("")) as object;
    await writeRecord(output, { ...options, output: options.output ?? "json" }, record);
    return;
  }
  const isLines = machineFormat(options) === "ndjson";
  const pieces = isLines ? lintLines(end, findings) : lintJson(end, findings);
  for (const piece of pieces) await output.json(piece);
}
