import type { ExitName } from "../errors.ts";
import { neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { jsonWithFailures } from "./report/json.ts";
import type { ReportFailure } from "./report/record.ts";
import { shownText, type ShownPath } from "./paths.ts";
import { refusedRow } from "./report/text.ts";
import { countOf, formatCount, formatDuration, type UploadCounts } from "./terminal/progress.ts";
import { dim, green, red, yellow, type Text } from "./terminal/text.ts";

export type RunStatus = "ok" | "partial" | "error" | "interrupted";

/**
 * The result of an upload: what `--output json` prints and the summary tells. Its
 * last member, `failures`, may be long and is written one by one.
 */
export interface IngestResult {
  version: 1;
  type: "result";
  status: RunStatus;
  counts: UploadCounts;
  /** Documents that were new or changed when the run began. */
  planned: number;
  /** Files with a new path and the same text. */
  renamed: number;
  requests: number;
  retries: number;
  /** Answers that asked to slow down. */
  throttled: number;
  sentBytes: number;
  seconds: number;
  target: { baseUrl: string; ccPairId: number | undefined };
  /** Files, folders and globs as they were given. */
  paths: readonly string[];
  shard: { index: number; count: number } | null;
  skipped: { reason: string; count: number }[];
}

export interface PlannedDocument {
  action: string;
  /** Of what is orphaned: why, see OrphanClass. */
  class?: string;
  path: string;
  /** Number of the row in a file of rows. */
  row?: number;
  id: string | undefined;
  detail: string;
}

/** Format of an ingest command's stdout; people get text on stderr beside it. */
export type IngestFormat = "text" | "json" | "ndjson";

const failuresShown = 50;

function countsText(counts: UploadCounts, isStopped: boolean): string {
  const names = ["created", "updated", "unchanged", "skipped", "failed"] as const;
  const parts = names.filter((name) => counts[name] > 0);
  if (parts.length === 0) return isStopped ? "nothing sent" : "nothing to do";
  return parts.map((name) => `${formatCount(counts[name])} ${name}`).join(", ");
}

/** The result with its failures on stdout, whole (`json`) or as one line (`ndjson`). */
export async function writeResult(
  output: Output,
  format: "json" | "ndjson",
  result: IngestResult,
  failures: Iterable<ReportFailure>,
): Promise<void> {
  for (const piece of jsonWithFailures(result, failures, format === "json")) {
    await output.json(piece);
  }
}

/** How many documents a run with --shard leaves to the others. */
export async function tellOthers(
  output: Output,
  shard: IngestResult["shard"] | undefined,
  others: number,
): Promise<void> {
  if (!shard) return;
  const what = countOf(others, "document");
  await output.note(`shard ${shard.index}/${shard.count}: ${what} left to the other shards`);
}

/** How many files were skipped for each reason. */
export async function tellSkipped(
  output: Output,
  skipped: Iterable<{ reason: string; count: number }>,
): Promise<void> {
  for (const { reason, count } of skipped) {
    await output.note(dim(`skipped ${formatCount(count)}: ${neutraliseLine(reason)}`));
  }
}

// Sending again meets the same error until somebody has mended its cause.
const needsMending: ReadonlySet<ExitName> = new Set([
  "usage",
  "not-configured",
  "auth",
  "not-found",
  "local",
]);

/**
 * Failures, reasons of skipped files and the counts, for people, on stderr. `stoppedBy`
 * is the kind of error that stopped the run.
 */
export async function writeSummary(
  output: Output,
  result: IngestResult,
  failures: Iterable<ReportFailure>,
  told: { shown: ShownPath; stoppedBy?: ExitName | undefined },
): Promise<void> {
  const { stoppedBy } = told;
  let shown = 0;
  for (const each of failures) {
    if (shown++ === failuresShown) break;
    await output.problem(red("failed "), failureText(each, told.shown));
  }
  const hidden = result.counts.failed - failuresShown;
  if (hidden > 0) {
    await output.problem(`… and ${formatCount(hidden)} more; --output ndjson lists them all`);
  }
  await tellSkipped(output, result.skipped);
  const { status, counts, planned } = result;
  const isStopped = status === "error" || status === "interrupted";
  const took = formatDuration(result.seconds * 1000);
  await output.note(marks[status], `: ${countsText(counts, isStopped)} in ${took}`);
  if (result.renamed > 0) {
    const were = result.renamed === 1 ? "was" : "were";
    await output.note(
      `${countOf(result.renamed, "file")} ${were} renamed: the documents under their old ids are still there; see \`knowctl ingest orphans\``,
    );
  }
  if (isStopped) {
    const sent = formatCount(counts.created + counts.updated);
    const done = `${sent} of ${countOf(planned, "document")}`;
    await output.note(
      stoppedBy && needsMending.has(stoppedBy)
        ? `${done} sent and recorded; fix the error below, then run the same command`
        : `${done} sent and recorded; run the same command again to go on`,
    );
  }
}

const marks: Record<RunStatus, Text> = {
  ok: green("done"),
  partial: yellow("done"),
  error: red("stopped"),
  interrupted: red("interrupted"),
};

// A reason often begins with the path already (`docs/a.md:3:5: …`).
function failureText(each: ReportFailure, shown: ShownPath): string {
  const { path, reason: given } = each;
  const reason = neutraliseLine(given);
  if (path === "stdin" && given.startsWith(path)) return reason;
  if (given.startsWith(path)) return neutraliseLine(shownText(path, given, shown));
  // What the service refused: the path alone tells neither row nor line.
  const file = path === "stdin" ? path : neutraliseLine(shown(path));
  const place = each.line === undefined ? file : `${file}:${each.line}`;
  const isLine = path === "stdin" && each.id !== undefined;
  const row = isLine ? `${each.id}: ` : refusedRow(each);
  return `${place}: ${neutraliseLine(row)}${reason}`;
}

/** The file, with the number of a row, or the line of stdin. */
function placeOf({ path, row }: PlannedDocument, shown: ShownPath): string {
  const place = path === "" ? "stdin" : shown(path);
  if (row === undefined) return place;
  return path === "" ? `${place}:${row}` : `${place}#${row}`;
}

const actionStyles: Record<string, (...parts: Text[]) => Text> = {
  new: green,
  changed: yellow,
  failed: red,
};

/** One line of a dry run's plan: a table row on a terminal, tabs off it. */
export async function writePlanned(
  output: Output,
  each: PlannedDocument,
  shown: ShownPath,
): Promise<void> {
  const path = neutraliseLine(placeOf(each, shown));
  const detail = neutraliseLine(shownText(each.path, each.detail, shown));
  if (!output.isTerminal) {
    await output.line([each.action, path, neutraliseLine(each.id ?? ""), detail].join("\t"));
    return;
  }
  const paint = actionStyles[each.action] ?? dim;
  await output.line(paint(each.action.padEnd(10)), path, detail === "" ? "" : dim(`  (${detail})`));
}
