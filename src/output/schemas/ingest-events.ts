import * as z from "zod/mini";
import { reportFailure, reportShard } from "../report/stored/record.ts";
import { VerifiedLine } from "./verify.ts";
import { count, jsonSchemaOf, text } from "./describe.ts";

// The descriptions become schema/ingest-events.schema.json. New members are optional, so that
// readers of version 1 keep working.

const version = z.literal(1);

const DocumentLine = z.object({
  version,
  type: z.literal("document"),
  status: z.enum(["created", "updated", "unchanged", "skipped", "failed"]),
  path: text("file relative to the project root; empty for a document from stdin"),
  row: z.optional(count("row number in a file of rows, from 1")),
  line: z.optional(count("first line of a row that the service refused")),
  id: z.optional(text("id of the document, if known")),
  reason: z.optional(text("why the document failed or was skipped")),
  retryable: z.optional(z.boolean()),
  httpStatus: z.optional(count("HTTP status of the last response to a failed document")),
  storedId: z.optional(text("id under which the service stored the document, if reported")),
  renamedFrom: z.optional(text("path of this file at the previous upload")),
  warnings: z.optional(z.array(z.string())),
  images: z.optional(count("images in the text that were not sent")),
  sentBytes: z.optional(count("bytes of the request's body")),
  ms: z.optional(
    z
      .number()
      .check(z.minimum(0), z.describe("milliseconds from reading the file to the response")),
  ),
});

const ResultLine = z.object({
  version,
  type: z.literal("result"),
  status: z.enum(["ok", "partial", "error", "interrupted"]),
  counts: z.object({
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    skipped: z.int(),
    failed: z.int(),
    verified: z.optional(count("with --verify: sent documents that the index holds as sent")),
  }),
  renamed: count("files with a new path and the same text"),
  planned: count("documents that were new or changed when the run began"),
  requests: count("requests sent, retries included"),
  retries: count("requests sent again"),
  throttled: count("responses that asked to slow down"),
  sentBytes: count("bytes of the documents sent, each once"),
  seconds: z.number(),
  target: z.object({ baseUrl: z.string(), profile: z.string(), ccPairId: z.optional(z.number()) }),
  paths: z.array(z.string()),
  shard: z.nullable(reportShard),
  skipped: z.array(z.object({ reason: z.string(), count: z.int() })),
  failures: z.array(reportFailure),
});

/**
 * JSON Schema (draft 2020-12) of a line of `ingest --output ndjson`; `--output json`
 * prints only the last line. Saved as `schema/ingest-events.schema.json`.
 */
export function ingestEventsJsonSchema(): Record<string, unknown> {
  const line = z.discriminatedUnion("type", [DocumentLine, VerifiedLine, ResultLine]);
  return jsonSchemaOf(
    line,
    "knowctl ingest events",
    "A line of `knowctl ingest --output ndjson`; the last is the result.",
  );
}
