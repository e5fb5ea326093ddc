import * as z from "zod/mini";
import { count, described, identity, titled, text } from "../../describe.ts";

// The descriptions become schema/report.schema.json.
const number = (description: string) => z.number().check(z.minimum(0), z.describe(description));
const time = (description: string) =>
  z.string().check(
    z.regex(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
      "expected a time like 2026-01-31T09:30:00Z",
    ),
    // The pattern alone accepts month 99.
    z.refine((text) => !Number.isNaN(Date.parse(text)), "no such time"),
    z.describe(description),
  );

const status = described(
  z.enum(["ok", "partial", "error", "interrupted"]),
  "ok; partial: some documents failed; error: the run stopped; interrupted: by a signal",
);

export type RunStatus = z.infer<typeof status>;

const counts = z.object({
  created: count("documents that were new to the service"),
  updated: count("documents that the service already had"),
  unchanged: count("documents not sent because nothing changed"),
  skipped: count("skipped files, see `skipped`"),
  failed: count("documents that were not accepted, see `failures`"),
  renamed: count("files with a new path and the same text"),
  verified: z.optional(count("with --verify: sent documents that the index holds as sent")),
});
export type ReportCounts = z.infer<typeof counts>;

/** The shard of the documents that a run uploaded. */
const reportShard = z.object({
  index: z.int().check(z.minimum(1), z.describe("number of the shard, from 1")),
  count: z.int().check(z.minimum(1), z.describe("number of shards")),
});

const target = z.object({
  baseUrl: text("origin and base path of the service, without credentials"),
  profile: text("profile of the configuration; empty if merged reports have several"),
  ccPairId: described(
    z.nullable(z.number()),
    "pair of the run; null if rules select several pairs",
  ),
});

/** A document that was not accepted. */
const reportFailure = z.object({
  path: text("file relative to the project root, or `stdin`"),
  row: z.optional(count("row number in a file of rows, from 1")),
  line: z.optional(count("line in the file, from 1")),
  column: z.optional(count("column in the line, from 1")),
  id: z.optional(text("id of the document, if known")),
  reason: text("why the document failed, with the service's message if there is one"),
  retryable: z.boolean().check(z.describe("whether the same request may succeed later")),
  status: z.optional(count("HTTP status of the last response, if there was one")),
  options: z.optional(count("position in `options` of the options used, from 0; default 0")),
});
export type ReportFailure = z.infer<typeof reportFailure>;

/** A sent document that the index does not hold as sent. */
const reportLost = z.object({
  path: described(z.nullable(z.string()), "file relative to the project root; null for stdin"),
  id: text("id of the document"),
  result: described(
    z.enum(["missing", "stale", "listed-only", "hidden", "present", "unknown"]),
    "as in the output of `knowctl verify`; unknown: could not be decided",
  ),
  reason: text("what the check found"),
});
export type ReportLost = z.infer<typeof reportLost>;

/** Options of a run that select files and shape documents; `retry` uses them. */
const recordedOptions = z.object({
  byInclude: z
    .boolean()
    .check(z.describe("whether the configured include selected the files, not a named path")),
  pairFromFlag: z.boolean().check(z.describe("whether a flag named the target")),
  mapping: count("version of the mapping of files to documents"),
  settings: z
    .record(z.string(), z.json())
    .check(z.describe("configuration and, in `flags`, flags that shape documents; no keys")),
});

const throughput = z.object({
  bucketSeconds: z.number().check(z.positive(), z.describe("width of a bucket in seconds")),
  buckets: z
    .array(
      z.object({
        second: number("start of the bucket, in seconds after startedAt"),
        documents: count("documents accepted in this bucket"),
        failed: count("documents that failed in this bucket"),
      }),
    )
    .check(z.maxLength(600), z.describe("without gaps")),
});
export type Throughput = z.infer<typeof throughput>;

const runSummary = z.object({
  shard: z.nullable(reportShard),
  ...identity,
  status,
  startedAt: time("start of this run, UTC"),
  seconds: number("duration of this run"),
  counts,
});
/** One run of a merged report. */
export type RunSummary = z.infer<typeof runSummary>;
/** Where a report comes from. */
export type RunIdentity = Pick<RunSummary, keyof typeof identity>;

/** Shards of one run, and runs of one merged report. */
export const mostShards = 100_000;

const merged = z.object({
  shards: described(z.nullable(z.number()), "expected number of shards; null without shards"),
  missing: z
    .array(z.number())
    .check(z.maxLength(mostShards), z.describe("shards without a report")),
  runs: z
    .array(runSummary)
    .check(z.maxLength(mostShards), z.describe("the runs merged into this report")),
});

/** Content of `--report FILE.json`. */
export const RunReport = titled(
  z.object({
    version: described(z.literal(2), "version of this format"),
    type: described(z.literal("ingest-report"), "type of this file"),
    tool: z.object({
      name: text("program that wrote this file"),
      version: text("version of the program"),
    }),
    status,
    dryRun: z.optional(
      described(z.literal(true), "of a dry run: created and updated are what an upload would send"),
    ),
    startedAt: time("start of the run, UTC"),
    finishedAt: time("end of the run, UTC"),
    seconds: number("duration of the run"),
    target,
    options: described(z.array(recordedOptions), "the sets of options that shaped the documents"),
    paths: z.array(z.string()).check(z.describe("files, folders and globs as typed")),
    shard: described(z.nullable(reportShard), "the shard of this run, from --shard"),
    ...identity,
    counts,
    planned: count("documents that were new or changed when the run began"),
    sentBytes: count("bytes of the documents sent, each once"),
    requests: count("requests sent, retries included"),
    retries: count("requests sent again"),
    throttled: count("responses that asked to slow down"),
    statuses: described(
      z.record(z.string(), count("requests")),
      "the requests that ended, by HTTP status; none: without a response",
    ),
    waitedSeconds: number("sum of the waits before retries; documents wait at the same time"),
    error: z.optional(text("why the run stopped early")),
    throughput,
    slowest: z
      .array(
        z.object({
          path: z.string(),
          id: z.optional(z.string()),
          ms: number("time from reading the file to the response, in milliseconds"),
        }),
      )
      .check(z.maxLength(20), z.describe("the slowest documents, slowest first")),
    skipped: z
      .array(z.object({ reason: z.string(), count: count("files") }))
      .check(z.maxLength(1001), z.describe("why files were skipped, most frequent reason first")),
    renamed: z
      .array(z.object({ from: z.string(), to: z.string() }))
      .check(z.maxLength(1000), z.describe("the first renamed files")),
    sent: z.optional(
      z.object({
        documents: z
          .array(
            z.object({
              path: text("file relative to the project root, or `stdin`"),
              id: text("id of the document"),
              status: described(
                z.enum(["created", "updated"]),
                "created: new to the service; updated: the service already had it",
              ),
            }),
          )
          .check(z.maxLength(1000), z.describe("the first accepted documents")),
        leftOut: count("accepted documents that are not listed"),
      }),
    ),
    merged: z.optional(merged),
    lost: z.optional(
      z
        .array(reportLost)
        .check(
          z.maxLength(1000),
          z.describe("with --verify: the first documents that the index does not hold as sent"),
        ),
    ),
    failuresLeftOut: z.optional(
      count("of a merged report: documents that failed and are not in `failures`"),
    ),
    failures: described(
      z.array(reportFailure),
      "every document that failed; of a merged report the first 100,000",
    ),
  }),
  "knowctl ingest report",
  "Report written by `knowctl ingest --report FILE.json` and `knowctl report merge`.",
);
export type RunReport = z.infer<typeof RunReport>;

/** A report without its failures, which are read one by one: there may be a million. */
export type ReportHead = Omit<RunReport, "failures">;
