import * as z from "zod/mini";
import { described, jsonSchemaOf, version } from "./describe.ts";

const int = (description: string) => z.int().check(z.describe(description));

const results = [
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
const Document = {
  id: described(
    z.nullable(z.string()),
    "id of the document; of an extra document made of its stored id; null if a file that cannot be read has none",
  ),
  path: described(
    z.nullable(z.string()),
    "path of its file, relative to the project root; null if none is known",
  ),
  result: described(
    z.enum(results),
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

const Summary = described(
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
    unreadable: int("files and folders that cannot be read: their documents are not compared"),
    listed: z.optional(int("with --remote: documents that the service lists for the pairs")),
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

const command = z.literal("status");
const Report = z.union([
  z.strictObject({
    version,
    command,
    summary: Summary,
    documents: z.array(z.strictObject(Document)),
  }),
  z.strictObject({ version, type: z.literal("document"), ...Document }),
  z.strictObject({ version, type: z.literal("result"), command, summary: Summary }),
]);

/**
 * JSON Schema (draft 2020-12) of `status --output json`, and of a line of its ndjson. Saved as
 * `schema/status.schema.json`.
 */
export function statusJsonSchema(): Record<string, unknown> {
  return jsonSchemaOf(
    Report,
    "knowctl status",
    "Differences between files, record and service: the object of `knowctl status --output json`, and the lines of " +
      "--output ndjson (`document`, then one `result`).",
  );
}
