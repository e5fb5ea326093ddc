import * as z from "zod/mini";

// Descriptions become schema/report.schema.json. New members are optional: version 1 is read, too.
const text = (description: string) => z.string().check(z.describe(description));
const count = (description: string) => z.int().check(z.minimum(0), z.describe(description));
const number = (description: string) => z.number().check(z.minimum(0), z.describe(description));
const time = (description: string) =>
  z.string().check(
    z.regex(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
      "expected a time like 2026-01-31T09:30:00Z",
    ),
    // The form alone lets a 99th month pass.
    z.refine((text) => !Number.isNaN(Date.parse(text)), "no such time"),
    z.describe(description),
  );
/** The same object, described. */
const described = <Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema =>
  schema.check(z.describe(description)) as Schema;

const status = described(
  z.enum(["ok", "partial", "error", "interrupted"]),
  "ok; partial: some documents failed; error: the run stopped; interrupted: by a signal",
);

const counts = z.object({
  created: count("documents that the service did not have"),
  updated: count("documents that the service had already"),
  unchanged: count("documents that were not sent because nothing changed"),
  skipped: count("files left out, see `skipped`"),
  failed: count("documents that were not accepted, see `failures`"),
  renamed: count("files with a new path and the same text"),
});
export type ReportCounts = z.infer<typeof counts>;

/** Part of the documents that a run took. */
export const reportShard = z.object({
  index: z.int().check(z.minimum(1), z.describe("which shard, from 1")),
  count: z.int().check(z.minimum(1), z.describe("of how many")),
});

const target = z.object({
  baseUrl: text("origin and base path of the service, without credentials"),
  ccPairId: described(z.nullable(z.number()), "pair of the run; null where rules choose several"),
});

/** A document that was not accepted. */
export const reportFailure = z.object({
  path: text("file, relative to the project root, or what stands for it on stdin"),
  row: z.optional(count("number of the row in a file of rows, from 1")),
  line: z.optional(count("line in the file, from 1")),
  column: z.optional(count("column in the line, from 1")),
  id: z.optional(text("id of the document, where it is known")),
  reason: text("why it failed, in the words of the service where it said so"),
  retryable: z.boolean().check(z.describe("whether the same request may succeed later")),
  status: z.optional(count("HTTP status of the last answer, where there was one")),
  options: z.optional(count("which of `options` shaped it, from 0; the first where it is missing")),
});
export type ReportFailure = z.infer<typeof reportFailure>;

/** How a run selected files and shaped their documents; `ingest retry` uses it. */
const recordedOptions = z.object({
  byInclude: z
    .boolean()
    .check(z.describe("whether the configured include found the files, not a named path")),
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
        second: number("begin of the bucket, in seconds after startedAt"),
        documents: count("documents accepted in it"),
        failed: count("documents that failed in it"),
      }),
    )
    .check(z.describe("at most 600, without gaps")),
});
export type Throughput = z.infer<typeof throughput>;

const runSummary = z.object({
  shard: z.nullable(reportShard),
  status,
  startedAt: time("begin of this run"),
  seconds: number("how long it took"),
  counts,
});
/** One run of a merged report. */
export type RunSummary = z.infer<typeof runSummary>;

const merged = z.object({
  shards: described(z.nullable(z.number()), "how many shards there should be; null without shards"),
  missing: z.array(z.number()).check(z.describe("shards of which there is no report")),
  runs: z.array(runSummary).check(z.describe("the runs that became this report")),
});

/** What `--report FILE.json` holds. */
export const RunReport = z.object({
  version: described(z.literal([1, 2]), "version of this form; 1 has no `options`"),
  type: described(z.literal("ingest-report"), "what this file is"),
  tool: z.object({ name: text("who wrote this"), version: text("its version") }),
  status,
  startedAt: time("begin of the run, UTC"),
  finishedAt: time("end of the run, UTC"),
  seconds: number("how long the run took"),
  target,
  options: z.optional(
    z.array(recordedOptions).check(z.describe("the sets of options that shaped the documents")),
  ),
  paths: z.array(z.string()).check(z.describe("files, folders and globs as they were given")),
  shard: described(z.nullable(reportShard), "the part that this run took, from --shard"),
  commit: z.optional(text("commit of the project that was sent")),
  counts,
  planned: count("documents that were new or changed when the run began"),
  sentBytes: count("bytes of the documents sent, each once"),
  requests: count("requests made, retries included"),
  retries: count("requests made again"),
  throttled: count("answers that asked to slow down"),
  error: z.optional(text("why the run stopped before its end")),
  throughput,
  slowest: z
    .array(
      z.object({
        path: z.string(),
        id: z.optional(z.string()),
        ms: number("time from reading to the answer, in milliseconds"),
      }),
    )
    .check(z.describe("the 20 documents that took longest, slowest first")),
  skipped: z
    .array(z.object({ reason: z.string(), count: count("files") }))
    .check(z.describe("why files were left out, most frequent first")),
  renamed: z
    .array(z.object({ from: z.string(), to: z.string() }))
    .check(z.describe("the first 1,000 renamed files")),
  merged: z.optional(merged),
  failures: z.array(reportFailure).check(z.describe("every document that failed")),
});
export type RunReport = z.infer<typeof RunReport>;

/** A report without its failures: those may be a million and come one by one. */
export type ReportHead = Omit<RunReport, "failures">;

/** JSON Schema (draft 2020-12) of a report; `schema/report.schema.json` is its text. */
export function reportJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(RunReport, { io: "input" });
  return {
    $schema,
    title: "knowctl ingest report",
    description: "What `knowctl ingest --report FILE.json` and `knowctl report merge` write.",
    ...rest,
  };
}
