import { type FormatOptions, checkMembers, reportFormat } from "./formats/formats.ts";
import type { ShownPath } from "./paths.ts";
import { countIn, statusResults, statusWords, type StatusResult } from "./report/from/status.ts";
import { writeData } from "./report/json.ts";
import type { Data } from "./report/report.ts";
import { neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { countOf, formatCount } from "./terminal/progress.ts";
import { bold, dim } from "./terminal/text.ts";

export interface StatusReport extends StatusResult {
  /** Number of pairs that were compared. */
  pairs: number;
  /** The commands that remove the differences, a line each. */
  next: readonly string[];
}

const placesShown = 20;

async function writeText(output: Output, report: StatusReport, shown: ShownPath): Promise<void> {
  for (const result of statusResults) {
    const count = countIn(report, result);
    if (count === 0) continue;
    await output.line(bold(statusWords[result]), `: ${countOf(count, "document")}`);
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
  summary: { unchanged: 0, ...statusWords, classes: {}, unreadable: 0, listed: 0 },
  documents: [],
};

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any request. */
export const checkStatusFormat = (options: FormatOptions): void => checkMembers(options, sample);

/** Writes the differences as text for people, or as the JSON that schema/status.schema.json describes. */
export async function writeStatus(
  output: Output,
  options: FormatOptions,
  report: StatusReport,
  { shown, data }: { shown: ShownPath; data: Data },
): Promise<void> {
  if (reportFormat(options) === "text") await writeText(output, report, shown);
  else await writeData(output, options, data);
}
