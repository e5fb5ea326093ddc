// The JSON of ingest, its dry run, and status.
import * as z from "zod/mini";
import { reportFailure, reportShard } from "../report/stored/record.ts";
import { VerifiedLine } from "./checks.ts";
import { count, described, outputOf, text, titled, version } from "./describe.ts";

const planned = {
  action: text("new, changed, unchanged, skipped, failed or gone"),
  class: z.optional(
    text("why it is gone: gone, excluded, other-options, row-gone, opted-out or foreign"),
  ),
  path: text("path of the file, relative to the project root"),
  row: z.optional(z.int().check(z.describe("row number in a file of rows"))),
  id: z.optional(text("id of the document")),
  detail: text("reason, or what changed"),
};

const plannedCounts = z
  .record(z.string(), z.int())
  .check(z.describe("number of documents by action; an action without documents is absent"));

const size = z
  .strictObject({
    characters: z.int().check(z.describe("characters of the text")),
    tokens: z
      .int()
      .check(
        z.describe(
          "estimate: one for each Chinese, Japanese or Korean character, one for four others",
        ),
      ),
    chunks: z.int().check(z.describe("estimate: one for each 512 tokens of a document, or less")),
  })
  .check(z.describe("what would be sent: the new and changed documents"));

export const Plan = titled(
  z.union([
    z.strictObject({
      version,
      type: z.literal("plan"),
      documents: z.array(z.strictObject(planned)),
      counts: plannedCounts,
      size,
    }),
    z.strictObject({ version, type: z.literal("planned"), ...planned }),
    z.strictObject({ version, type: z.literal("result"), counts: plannedCounts, size }),
  ]),
  "knowctl upload plan",
  "Plan of `knowctl ingest --dry-run`: the document of --output json (`plan`), and the lines " +
    "of --output ndjson (`planned`, then one `result`).",
);

// New members are optional, so that readers of version 1 keep working.
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

/** A line of `ingest --output ndjson`; `--output json` prints only the last line. */
export const IngestEvents = titled(
  z.discriminatedUnion("type", [DocumentLine, VerifiedLine, ResultLine]),
  "knowctl ingest events",
  "A line of `knowctl ingest --output ndjson`; the last is the result.",
);

const statusResults = [
  "new",
  "changed",
  "failed",
  "gone",
  "not-sent",
  "gone-there",
  "extra",
  "elsewhere",
] as const;
const classes = [
  "gone",
  "excluded",
  "other-options",
  "row-gone",
  "opted-out",
  "adopted",
  "foreign",
] as const;

/** The JSON of one difference. */
const difference = {
  id: described(
    z.nullable(z.string()),
    "id of the document; of an extra document made of its stored id; null if a file that cannot be read has none",
  ),
  path: described(
    z.nullable(z.string()),
    "path of its file, relative to the project root; null if none is known",
  ),
  result: described(
    z.enum(statusResults),
    "new, changed: an upload sends it; failed: it failed last time, or cannot be read; gone: recorded, and no file yields " +
      "it. With --remote: not-sent: a file yields it, and the service lacks it; gone-there: recorded, and the service does " +
      "not list it; extra: listed without file and record; elsewhere: recorded for another pair",
  ),
  class: described(
    z.nullable(z.enum(classes)),
    "why it is gone, as `prune --class` takes it; else null",
  ),
  ccPairId: described(
    z.nullable(z.int()),
    "the pair, the first of several; for elsewhere the pair of the record; null if none is known",
  ),
};

const statusSummary = described(
  z.strictObject({
    unchanged: z.int(),
    new: z.int(),
    changed: z.int(),
    failed: z.int(),
    gone: z.int(),
    classes: described(
      z.strictObject(Object.fromEntries(classes.map((name) => [name, z.int()]))),
      "number of gone documents by class",
    ),
    unreadable: count("files and folders that cannot be read: their documents are not compared"),
    listed: z.optional(count("with --remote: documents that the service lists for the pairs")),
    "not-sent": z.optional(z.int()),
    "gone-there": z.optional(z.int()),
    extra: z.optional(
      described(
        z.nullable(z.int()),
        "null if they were not determined: only a part of the project was compared, or a file cannot be read",
      ),
    ),
    elsewhere: z.optional(z.int()),
  }),
  "number of documents by result",
);

export const StatusOutput = titled(
  outputOf({ command: z.literal("status"), summary: statusSummary }, [
    "documents",
    "document",
    difference,
  ]),
  "knowctl status",
  "Differences between files, record and service: the object of `knowctl status --output json`, and the lines of " +
    "--output ndjson (`document`, then one `result`).",
);
