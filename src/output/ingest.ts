import { neutraliseLine } from "./neutralise.ts";
import type { Output } from "./output.ts";
import { countOf, formatCount, formatDuration, type UploadCounts } from "./progress.ts";
import { dim, green, red, yellow, type Text } from "./text.ts";

export type RunStatus = "ok" | "partial" | "error" | "interrupted";

export interface FailedDocument {
  path: string;
  id?: string | undefined;
  reason: string;
}

/** The result of an upload: what `--output json` prints and the summary tells. */
export interface IngestResult {
  version: 1;
  type: "result";
  status: RunStatus;
  counts: UploadCounts;
  /** Documents that were new or changed when the run began. */
  planned: number;
  retries: number;
  seconds: number;
  target: { baseUrl: string; ccPairId: number | undefined } | undefined;
  failures: FailedDocument[];
  skipped: { reason: string; count: number }[];
}

export interface PlannedDocument {
  action: string;
  path: string;
  /** Number of the row in a file of rows. */
  row?: number;
  id: string | undefined;
  detail: string;
}

/** Format of an ingest command's stdout; people get text on stderr beside it. */
export type IngestFormat = "text" | "json" | "ndjson";

const failuresShown = 50;

function countsText(counts: UploadCounts): string {
  const names = ["created", "updated", "unchanged", "skipped", "failed"] as const;
  const parts = names.filter((name) => counts[name] > 0);
  if (parts.length === 0) return "nothing to do";
  return parts.map((name) => `${formatCount(counts[name])} ${name}`).join(", ");
}

/** Failures, reasons of skipped files and the counts, for people, on stderr. */
export async function writeSummary(output: Output, result: IngestResult): Promise<void> {
  for (const each of result.failures.slice(0, failuresShown)) {
    await output.problem(red("failed "), failureText(each));
  }
  const hidden = result.failures.length - failuresShown;
  if (hidden > 0) {
    await output.problem(`… and ${formatCount(hidden)} more; --output ndjson lists them all`);
  }
  for (const { reason, count } of result.skipped) {
    await output.note(dim(`skipped ${formatCount(count)}: ${neutraliseLine(reason)}`));
  }
  const { status, counts, planned } = result;
  const took = formatDuration(result.seconds * 1000);
  await output.note(marks[status], `: ${countsText(counts)} in ${took}`);
  if (status === "error" || status === "interrupted") {
    const sent = formatCount(counts.created + counts.updated);
    await output.note(
      `${sent} of ${countOf(planned, "document")} sent and recorded; run the same command again to go on`,
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
function failureText(each: FailedDocument): string {
  const reason = neutraliseLine(each.reason);
  const path = neutraliseLine(each.path);
  return reason.startsWith(path) ? reason : `${path}: ${reason}`;
}

const actionStyles: Record<string, (...parts: Text[]) => Text> = {
  new: green,
  changed: yellow,
  failed: red,
};

/** One line of a dry run's plan: a table row on a terminal, tabs off it. */
export async function writePlanned(output: Output, each: PlannedDocument): Promise<void> {
  const path = neutraliseLine(each.row === undefined ? each.path : `${each.path}#${each.row}`);
  const detail = neutraliseLine(each.detail);
  if (!output.isTerminal) {
    await output.line([each.action, path, neutraliseLine(each.id ?? ""), detail].join("\t"));
    return;
  }
  const paint = actionStyles[each.action] ?? dim;
  await output.line(paint(each.action.padEnd(10)), path, detail === "" ? "" : dim(`  (${detail})`));
}
