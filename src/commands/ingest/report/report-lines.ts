import type { DocumentEvent } from "../../../sync/run/run-request.ts";
import { CliError, messageOf } from "../../../errors.ts";
import type { IngestResult } from "../../../output/ingest.ts";
import type { ReportHead } from "../../../output/report/stored/record.ts";

/** Result of a document or file; one that was never sent has no `id` and no `ms`. */
export type DocumentLine = Omit<DocumentEvent, "id" | "ms"> &
  Partial<Pick<DocumentEvent, "id" | "ms">>;

/** A line of `--output ndjson`, see schema/ingest-events.schema.json. */
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

/** Message of the error that stopped a run, followed by its details. */
export function errorText(error: unknown): string {
  const details = error instanceof CliError ? error.details : [];
  return [messageOf(error), ...details].join("\n");
}

const reasonsShown = 20;

/** Converts the head of the report files to the printed result. */
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
