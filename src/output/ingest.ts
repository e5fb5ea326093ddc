import { ApiError, type CliError, type ExitName } from "../errors.ts";
import { neutraliseLine } from "./terminal/neutralise.ts";
import type { Output } from "./terminal/output.ts";
import { jsonOf } from "./report/json.ts";
import type { ReportFailure, ReportHead, RunStatus } from "./report/stored/record.ts";
import { shownText, withoutPath, type ShownPath } from "./paths.ts";
import { refusedRow } from "./report/text.ts";
import { countOf, formatCount, formatDuration, type UploadCounts } from "./terminal/progress.ts";
import { dim, green, red, magenta, type Text } from "./terminal/text.ts";
import type { Size } from "../documents/payload/payload.ts";

/** Format of an ingest command's stdout; text for people goes to stderr. */
export type IngestFormat = "text" | "json" | "ndjson";

const maxShownFailures = 50;

export function countsText(counts: UploadCounts, isStopped: boolean): string {
  const names = ["created", "updated", "unchanged", "skipped", "failed"] as const;
  const parts = names.filter((name) => counts[name] > 0);
  if (parts.length === 0) return isStopped ? "nothing sent" : "nothing to do";
  const texts = parts.map((name) => `${formatCount(counts[name])} ${name}`);
  const { verified, renamed = 0 } = counts;
  if (verified !== undefined) texts.push(`${formatCount(verified)} verified`);
  if (renamed > 0) texts.push(`${formatCount(renamed)} renamed`);
  return texts.join(", ");
}

const reasonsShown = 20;

/** Writes the result with its failures on stdout: indented (`json`) or on one line (`ndjson`). */
export async function writeResult(
  output: Output,
  format: "json" | "ndjson",
  { status, planned, requests, retries, throttled, sentBytes, seconds, ...head }: ReportHead,
  target: { baseUrl: string; profile: string; ccPairId: number | undefined },
  failures: Iterable<ReportFailure>,
): Promise<void> {
  const { paths, shard, skipped, run, host, commit } = head;
  const { renamed, ...counts } = head.counts;
  const result = {
    version: 1,
    type: "result",
    status,
    counts,
    renamed,
    planned,
    requests,
    retries,
    throttled,
    sentBytes,
    seconds,
    target,
    paths,
    shard,
    run,
    host,
    commit,
    skipped: skipped.slice(0, reasonsShown),
  };
  const data = { head: result, list: "failures", items: failures };
  for (const piece of jsonOf(data, format === "json" ? "\n" : "")) await output.json(piece);
}

/** Reports how many documents a run with --shard leaves to the other shards. */
export async function tellOthers(
  output: Output,
  shard: ReportHead["shard"] | undefined,
  others: number,
): Promise<void> {
  if (!shard) return;
  const count = countOf(others, "document");
  await output.note(`shard ${shard.index}/${shard.count}: ${count} left to the other shards`);
}

// As walk.ts words it.
const unsupported = "format not supported: ";
const extensionsShown = 5;

/** The reasons with one for all formats that are not supported: a folder has many of them. */
function byKind(
  skipped: Iterable<{ reason: string; count: number }>,
): { reason: string; count: number }[] {
  const others: { reason: string; count: number }[] = [];
  const extensions: { reason: string; count: number }[] = [];
  for (const each of skipped) {
    const extension = each.reason.startsWith(unsupported);
    (extension ? extensions : others).push(each);
  }
  if (extensions.length < 2) return [...extensions, ...others];
  const shown = extensions
    .slice(0, extensionsShown)
    .map(({ reason, count }) => `${reason.slice(unsupported.length)} ${formatCount(count)}`);
  const more = extensions.length - shown.length;
  if (more > 0) shown.push(`${more} more`);
  const count = extensions.reduce((sum, each) => sum + each.count, 0);
  return [{ reason: `formats not supported: ${shown.join(", ")}`, count }, ...others];
}

/** Reports how many files were skipped, by reason. */
export async function tellSkipped(
  output: Output,
  skipped: Iterable<{ reason: string; count: number }>,
): Promise<void> {
  for (const { reason, count } of byKind(skipped)) {
    await output.note(dim(`skipped ${formatCount(count)}: ${neutraliseLine(reason)}`));
  }
}

const exitsToFix: ReadonlySet<ExitName> = new Set([
  "usage",
  "not-configured",
  "auth",
  "not-found",
  "local",
]);

/** Whether a new run repeats the error until the user has fixed the cause. 501: the server lacks the function. */
function needsFix(error: CliError): boolean {
  return exitsToFix.has(error.exit) || (error instanceof ApiError && error.status === 501);
}

/**
 * Writes failures, reasons of skipped files and the counts on stderr, for people. `failures` may be
 * fewer than those of the run. `connectors` names the connectors of the run; `stoppedBy` is the error
 * that stopped the run.
 */
export async function writeSummary(
  output: Output,
  { status, counts, planned, seconds, skipped }: ReportHead,
  failures: Iterable<ReportFailure>,
  options: { shown: ShownPath; connectors: string; stoppedBy?: CliError | undefined },
): Promise<void> {
  const { connectors, stoppedBy, shown } = options;
  let count = 0;
  for (const each of failures) {
    if (count++ < maxShownFailures) await output.problem(red("failed "), failureText(each, shown));
  }
  const hidden = count - maxShownFailures;
  if (hidden > 0) {
    await output.problem(`… and ${formatCount(hidden)} more; --output ndjson lists them all`);
  }
  // The formats of a folder stay the same: a run that changes nothing leaves them to --verbose.
  const isRepeated = counts.created + counts.updated + counts.failed === 0 && counts.unchanged > 0;
  const isTold = ({ reason }: { reason: string }): boolean =>
    output.verbose || !isRepeated || !reason.startsWith(unsupported);
  await tellSkipped(output, skipped.filter(isTold).slice(0, reasonsShown));
  const isStopped = status === "error" || status === "interrupted";
  const where = connectors === "" ? "" : ` · ${connectors}`;
  const took = `${countsText(counts, isStopped)} in ${formatDuration(seconds * 1000)}`;
  await output.note(marks[status], `: ${took}${where}`);
  if (!isStopped) return;
  const sent = `${formatCount(counts.created + counts.updated)} of ${countOf(planned, "document")}`;
  const next =
    stoppedBy && needsFix(stoppedBy)
      ? "fix the error below, then run the same command"
      : "run the same command again to continue";
  await output.note(`${sent} sent and recorded; ${next}`);
}

const marks: Record<RunStatus, Text> = {
  ok: green("done"),
  partial: magenta("done"),
  error: red("stopped"),
  interrupted: red("interrupted"),
};

// A reason often starts with the path already (`docs/a.md:3:5: …`).
export function failureText(each: ReportFailure, shown: ShownPath): string {
  const { path, reason: rawReason } = each;
  const reason = neutraliseLine(rawReason);
  if (path === "stdin" && rawReason.startsWith(path)) return reason;
  if (rawReason.startsWith(path)) return neutraliseLine(shownText(path, rawReason, shown));
  // The service refused the document: the path alone names neither row nor line.
  const file = path === "stdin" ? path : neutraliseLine(shown(path));
  const place = each.line === undefined ? file : `${file}:${each.line}`;
  const isLine = path === "stdin" && each.id !== undefined;
  const row = isLine ? `${each.id}: ` : refusedRow(each);
  return `${place}: ${neutraliseLine(row)}${reason}`;
}

export interface PlannedDocument {
  action: string;
  /** Why the document is gone, see OrphanClass. */
  class?: string;
  path: string;
  /** Row number in a file of rows. */
  row?: number;
  id: string | undefined;
  detail: string;
}

/** Words of a plan for people, as those of the summary: created, updated. JSON has the action. */
const planWords: Record<string, { row: string; count: string }> = {
  new: { row: "create", count: "to create" },
  changed: { row: "update", count: "to update" },
};

/** Fields of a document as people call them. */
const fieldWords: Readonly<Record<string, string>> = {
  sections: "text or link",
  semantic_identifier: "title",
  primary_owners: "owners",
  secondary_owners: "owners",
  doc_updated_at: "date",
};

/** `metadata, text or link, title` of the names of fields in a plan. */
function fieldsText({ action, detail }: PlannedDocument): string {
  if (action !== "changed") return detail;
  return [...new Set(detail.split(", ").map((name) => fieldWords[name] ?? name))].join(", ");
}

/** `to send: 1,204 characters, about 301 tokens in 5 chunks (estimate: …)`. */
export function sizeText({ characters, tokens, chunks, cost }: Size): string {
  const about = `about ${countOf(tokens, "token")} in ${countOf(chunks, "chunk")}`;
  const price = cost === undefined ? "" : `, costs about ${cost}`;
  return `to send: ${countOf(characters, "character")}, ${about}${price} (estimate: 4 characters a token, 512 tokens a chunk)`;
}

/** Without a record, nobody knows whether the service has a document. */
const recordless = { row: "send", count: "to send" };

const wordsOf = (action: string, isRecordless: boolean): typeof recordless | undefined =>
  isRecordless && action === "new" ? recordless : planWords[action];

const planOrder = ["new", "changed", "failed", "unchanged", "skipped", "gone"];

/** The counts of a plan: `6 to create, 2 to update, 40 unchanged`. */
export function plannedCounts(counts: ReadonlyMap<string, number>, isRecordless: boolean): string {
  const parts = planOrder.flatMap((action) => {
    const count = counts.get(action) ?? 0;
    return count === 0
      ? []
      : `${formatCount(count)} ${wordsOf(action, isRecordless)?.count ?? action}`;
  });
  return parts.join(", ") || "no documents";
}

/** The file with its row number, or the line of stdin. */
function placeOf({ path, row }: PlannedDocument, shown: ShownPath): string {
  const place = path === "" ? "stdin" : shown(path);
  if (row === undefined) return place;
  return path === "" ? `${place}:${row}` : `${place}#${row}`;
}

const actionStyles: Record<string, (...parts: Text[]) => Text> = {
  new: green,
  changed: magenta,
  failed: red,
};

/** Writes one line of a dry run's plan: a table row on a terminal, else separated by tabs. */
export async function writePlanned(
  output: Output,
  each: PlannedDocument,
  shown: ShownPath,
  isRecordless = false,
): Promise<void> {
  const path = neutraliseLine(placeOf(each, shown));
  const detail = neutraliseLine(withoutPath(each.path, fieldsText(each)));
  const word = wordsOf(each.action, isRecordless)?.row ?? each.action;
  if (!output.isTerminal) {
    await output.line([word, path, neutraliseLine(each.id ?? ""), detail].join("\t"));
    return;
  }
  const paint = actionStyles[each.action] ?? dim;
  await output.line(paint(word.padEnd(10)), path, detail === "" ? "" : dim(`  (${detail})`));
}
