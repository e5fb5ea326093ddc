import * as z from "zod/mini";
import { jsonSchemaOf, text, version } from "./describe.ts";

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

const counts = z
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

const Plan = z.union([
  z.strictObject({
    version,
    type: z.literal("plan"),
    documents: z.array(z.strictObject(planned)),
    counts,
    size,
  }),
  z.strictObject({ version, type: z.literal("planned"), ...planned }),
  z.strictObject({ version, type: z.literal("result"), counts, size }),
]);

/**
 * JSON Schema (draft 2020-12) of `ingest --dry-run --output json`, and of a line of its ndjson.
 * Saved as `schema/plan.schema.json`.
 */
export function planJsonSchema(): Record<string, unknown> {
  return jsonSchemaOf(
    Plan,
    "knowctl upload plan",
    "Plan of `knowctl ingest --dry-run`: the document of --output json (`plan`), and the lines " +
      "of --output ndjson (`planned`, then one `result`).",
  );
}
