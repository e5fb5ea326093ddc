import { CliError } from "../errors.ts";
import type { Difference, DifferenceTable } from "../sync/status/difference-table.ts";
import type { OrphanClass } from "../sync/orphans/orphan-classes.ts";
import { checkSelection, writeRecord, type FormatOptions } from "./formats/formats.ts";
import type { ShownPath } from "./paths.ts";
import { neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { countOf, formatCount } from "./terminal/progress.ts";
import { bold, dim } from "./terminal/text.ts";

type Result = Difference["result"];

/** Counts by result, with --remote also of the service's list. */
export interface StatusSummary {
  unchanged: number;
  new: number;
  changed: number;
  failed: number;
  gone: number;
  /** The gone documents by class. */
  classes: Readonly<Record<OrphanClass, number>>;
  /** Files and folders that cannot be read. */
  unreadable: number;
  remote?: RemoteSummary;
}

/** `extra` is null if extra documents were not determined. */
export interface RemoteSummary {
  listed: number;
  "not-sent": number;
  "gone-there": number;
  extra: number | null;
  elsewhere: number;
}

export interface StatusReport {
  summary: StatusSummary;
  /** Number of pairs that were compared. */
  pairs: number;
  list: DifferenceTable["list"];
  /** The commands that remove the differences, a line each. */
  next: readonly string[];
}

const words: Readonly<Record<Result, string>> = {
  new: "new",
  changed: "changed",
  failed: "failed last time",
  gone: "gone",
  "not-sent": "not sent",
  "gone-there": "gone there",
  extra: "extra",
  elsewhere: "elsewhere",
};
const results = Object.keys(words) as Result[];

const placesShown = 20;

function* documentsOf({ list }: StatusReport): Generator<object> {
  for (const each of results) {
    for (const { id, path = null, result, class: name = null, ccPairId = null } of list(each)) {
      yield { id: id === "" ? null : id, path, result, class: name, ccPairId };
    }
  }
}

/** The counts as one flat object. */
function countsOf({ remote, ...local }: StatusSummary): object {
  return { ...local, ...remote };
}

function* jsonOf(report: StatusReport): Generator<string> {
  const summary = countsOf(report.summary);
  const head = JSON.stringify({ version: 1, command: "status", summary });
  yield `${head.slice(0, -1)},"documents":[`;
  let separator = "\n";
  for (const each of documentsOf(report)) {
    yield separator + JSON.stringify(each);
    separator = ",\n";
  }
  yield "\n]}\n";
}

function* linesOf(report: StatusReport): Generator<string> {
  for (const each of documentsOf(report)) {
    yield `${JSON.stringify({ version: 1, type: "document", ...each })}\n`;
  }
  const summary = countsOf(report.summary);
  yield `${JSON.stringify({ version: 1, type: "result", command: "status", summary })}\n`;
}

function countIn({ summary }: StatusReport, result: Result): number {
  const { remote, ...local } = summary;
  const all: Partial<Record<Result, number | null>> = { ...local, ...remote };
  return all[result] ?? 0;
}

async function writeText(output: Output, report: StatusReport, shown: ShownPath): Promise<void> {
  for (const result of results) {
    const count = countIn(report, result);
    if (count === 0) continue;
    await output.line(bold(words[result]), `: ${countOf(count, "document")}`);
    let places = 0;
    for (const { id, path, ccPairId, class: name } of report.list(result)) {
      if (places++ === placesShown) break;
      const place = neutraliseLine(path === undefined ? id : shown(path));
      const namesPair = result === "elsewhere" || report.pairs > 1;
      const about = [name, namesPair && ccPairId !== undefined && `pair ${ccPairId}`];
      const more = about.filter(Boolean).join(", ");
      await output.line("  ", place, more === "" ? "" : dim(` (${more})`));
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
  summary: { unchanged: 0, ...words, classes: {}, unreadable: 0, listed: 0 },
  documents: [],
};

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any request. */
export function checkStatusFormat(options: FormatOptions): void {
  if (!selects(options)) return;
  if (options.output === "text") {
    const flag = options.fields === undefined ? "--jq" : "--fields";
    throw new CliError("usage", `${flag} and --output text exclude each other`, {
      hints: ["the flag selects from the JSON: use --output json, or omit --output"],
    });
  }
  checkSelection(options, [], sample);
}

/** Writes the differences as text for people, or as the JSON that schema/status.schema.json describes. */
export async function writeStatus(
  output: Output,
  options: FormatOptions,
  report: StatusReport,
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
