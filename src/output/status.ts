import { CliError } from "../errors.ts";
import { checkSelection, writeRecord, type FormatOptions } from "./formats/formats.ts";
import type { ShownPath } from "./paths.ts";
import { neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { countOf, formatCount } from "./terminal/progress.ts";
import { bold, dim } from "./terminal/text.ts";

type Result = "not-sent" | "gone-there" | "extra" | "elsewhere";

interface Difference {
  result: Result;
  id: string;
  path: string | undefined;
  ccPairId: number;
}

/** Counts by result; `extra` is null if extra documents were not determined. */
export type DriftSummary = Readonly<Record<Exclude<Result, "extra">, number>> & {
  readonly listed: number;
  readonly extra: number | null;
  readonly unreadable: number;
};

export interface DriftReport {
  summary: DriftSummary;
  /** Number of pairs that were compared. */
  pairs: number;
  list: (result: Result) => Iterable<Difference>;
  /** The commands that remove the differences, a line each. */
  next: readonly string[];
}

const words: Readonly<Record<Result, string>> = {
  "not-sent": "not sent",
  "gone-there": "gone there",
  extra: "extra",
  elsewhere: "elsewhere",
};
const results = Object.keys(words) as Result[];

const placesShown = 5;

function* documentsOf({ list }: DriftReport): Generator<object> {
  for (const each of results) {
    for (const { id, path = null, result, ccPairId } of list(each)) {
      yield { id, path, result, ccPairId };
    }
  }
}

function* jsonOf(report: DriftReport): Generator<string> {
  const { summary } = report;
  const head = JSON.stringify({ version: 1, command: "drift", summary });
  yield `${head.slice(0, -1)},"documents":[`;
  let separator = "\n";
  for (const each of documentsOf(report)) {
    yield separator + JSON.stringify(each);
    separator = ",\n";
  }
  yield "\n]}\n";
}

function* linesOf(report: DriftReport): Generator<string> {
  for (const each of documentsOf(report)) {
    yield `${JSON.stringify({ version: 1, type: "drifted", ...each })}\n`;
  }
  const { summary } = report;
  yield `${JSON.stringify({ version: 1, type: "result", command: "drift", summary })}\n`;
}

async function writeText(output: Output, report: DriftReport, shown: ShownPath): Promise<void> {
  for (const result of results) {
    const count = report.summary[result] ?? 0;
    if (count === 0) continue;
    await output.line(bold(words[result]), `: ${countOf(count, "document")}`);
    let places = 0;
    for (const { id, path, ccPairId } of report.list(result)) {
      if (places++ === placesShown) break;
      const place = neutraliseLine(path === undefined ? id : shown(path));
      const namesPair = result === "elsewhere" || report.pairs > 1;
      const pair = namesPair ? dim(` (cc-pair ${ccPairId})`) : "";
      await output.line("  ", place, pair);
    }
    if (count > placesShown) {
      const more = formatCount(count - placesShown);
      await output.line(dim(`  … and ${more} more; --output json lists them all`));
    }
  }
  for (const line of report.next) await output.note(line);
}

const selects = ({ fields, jq }: FormatOptions): boolean =>
  fields !== undefined || jq !== undefined;

/** Members of the JSON, so that an unknown name in --fields is refused before any request. */
const sample = {
  version: 1,
  command: "",
  summary: { ...words, listed: 0, unreadable: 0 },
  documents: [],
};

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any request. */
export function checkDriftFormat(options: FormatOptions): void {
  if (!selects(options)) return;
  if (options.output === "text") {
    const flag = options.fields === undefined ? "--jq" : "--fields";
    throw new CliError("usage", `${flag} and --output text exclude each other`, {
      hints: ["the flag selects from the JSON: use --output json, or omit --output"],
    });
  }
  checkSelection(options, [], sample);
}

/** Writes the differences as text for people, or as the JSON that schema/drift.schema.json describes. */
export async function writeDrift(
  output: Output,
  options: FormatOptions,
  report: DriftReport,
  shown: ShownPath,
): Promise<void> {
  if (selects(options)) {
    const record = JSON.parse([...jsonOf(report)].join("")) as object;
    return await writeRecord(output, { ...options, output: options.output ?? "json" }, record);
  }
  const isJson = options.json === true || options.output === "json";
  if (!isJson && options.output !== "ndjson") return await writeText(output, report, shown);
  for (const piece of isJson ? jsonOf(report) : linesOf(report)) await output.json(piece);
}
