import type { Difference, DifferenceTable } from "../sync/status/differences.ts";
import type { OrphanClass } from "../sync/orphans/orphan-classes.ts";
import { type FormatOptions, checkMembers, reportFormat } from "./formats/formats.ts";
import type { ShownPath } from "./paths.ts";
import { writeData } from "./report/json.ts";
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

/** Members of the JSON, so that an unknown name in --fields is refused before any request. */
const sample = {
  version: 1,
  command: "",
  summary: { unchanged: 0, ...words, classes: {}, unreadable: 0, listed: 0 },
  documents: [],
};

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any request. */
export const checkStatusFormat = (options: FormatOptions): void => checkMembers(options, sample);

/** Writes the differences as text for people, or as the JSON that schema/status.schema.json describes. */
export async function writeStatus(
  output: Output,
  options: FormatOptions,
  report: StatusReport,
  shown: ShownPath,
): Promise<void> {
  if (reportFormat(options) === "text") return await writeText(output, report, shown);
  const { remote, ...local } = report.summary;
  const head = { version: 1, command: "status", summary: { ...local, ...remote } };
  const items = { [Symbol.iterator]: () => documentsOf(report) };
  await writeData(output, options, { head, list: "documents", type: "document", items });
}
