import type { DocumentEvent } from "../../../sync/run/run-request.ts";
import { CliError, messageOf } from "../../../errors.ts";
import type { IngestResult } from "../../../output/ingest.ts";
import type { ReportHead } from "../../../output/report/record.ts";

/** What became of a document or file; what was never sent has no id and took no time. */
export type DocumentLine = Omit<DocumentEvent, "id" | "ms"> &
  Partial<Pick<DocumentEvent, "id" | "ms">>;

/** A line of `--output ndjson`, as schema/ingest-events.schema.json says. */
export function lineOf(document: DocumentLine): string {
  const { id, warnings = [], images = 0, notices: _, wasUnrecorded: _was, ...event } = document;
  const line = {
    version: 1,
    type: "document",
    ...event,
    ...(id === undefined || id === "" ? {} : { id }),
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(images > 0 ? { images } : {}),
  };
  return `${JSON.stringify(line)}\n`;
}

/** Why a run stopped, with the details of the error below it. */
export function errorText(error: unknown): string {
  const details = error instanceof CliError ? error.details : [];
  return [messageOf(error), ...details].join("\n");
}

const reasonsShown = 20;

/** The result that is printed, of the head that the report files have. */
export function resultOf(head: ReportHead, target: IngestResult["target"]): IngestResult {
  const { status, planned, requests, retries, throttled, sentBytes, seconds, paths, shard } = head;
  const { renamed, ...counts } = head.counts;
  const traffic = { requests, retries, throttled, sentBytes };
  const skipped = head.skipped.slice(0, reasonsShown);
  return {
    version: 1,
    type: "result",
    status,
    counts,
    renamed,
    planned,
    ...traffic,
    seconds,
    target,
    paths,
    shard,
    skipped,
  };
}
