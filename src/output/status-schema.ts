import * as z from "zod/mini";

const text = (description: string) => z.string().check(z.describe(description));
const int = (description: string) => z.int().check(z.describe(description));
const version = z.literal(1).check(z.describe("version of this format"));

const results = ["not-sent", "gone-there", "extra", "elsewhere"] as const;

/** The JSON of one difference. */
const Document = {
  id: text("id of the document; of an extra document made of its stored id"),
  path: z
    .nullable(z.string())
    .check(z.describe("path of its file, relative to the project root; null if none is known")),
  result: z
    .enum(results)
    .check(
      z.describe(
        "not-sent: a file yields it, and the service lacks it; gone-there: recorded, and the service does not list it; " +
          "extra: listed without file and record; elsewhere: recorded for another pair",
      ),
    ),
  ccPairId: int("the pair, the first of several; for elsewhere the pair of the record"),
};

const Summary = z
  .strictObject({
    listed: int("documents that the service lists for the pairs"),
    "not-sent": z.int(),
    "gone-there": z.int(),
    extra: z
      .nullable(z.int())
      .check(
        z.describe(
          "null if they were not determined: only a part of the project was compared, or a file cannot be read",
        ),
      ),
    elsewhere: z.int(),
    unreadable: int("files and folders that cannot be read: their documents are not compared"),
  })
  .check(z.describe("number of documents by result"));

const Report = z.union([
  z.strictObject({
    version,
    command: z.literal("drift"),
    summary: Summary,
    documents: z.array(z.strictObject(Document)),
  }),
  z.strictObject({ version, type: z.literal("drifted"), ...Document }),
  z.strictObject({
    version,
    type: z.literal("result"),
    command: z.literal("drift"),
    summary: Summary,
  }),
]);

/**
 * JSON Schema (draft 2020-12) of `drift --output json`, and of a line of its ndjson. Saved as
 * `schema/drift.schema.json`.
 */
export function driftJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(Report, { io: "input" });
  return {
    $schema,
    title: "knowctl drift",
    description:
      "Differences between folder, state and service: the object of `knowctl drift --output json`, and the lines of " +
      "--output ndjson (`drifted`, then one `result`).",
    ...rest,
  };
}
