import * as z from "zod/mini";
import { count, jsonSchemaOf, text, version } from "./describe.ts";

const place = (description: string) =>
  z.nullable(z.int().check(z.minimum(1))).check(z.describe(description));

const finding = {
  rule: text("name of the rule"),
  severity: z.enum(["error", "warning", "note"]).check(z.describe("as configured")),
  path: text("file relative to the project root"),
  line: place("from 1; null for a binary format"),
  column: place("from 1, in UTF-16 units"),
  endLine: place("line where the finding ends"),
  endColumn: place("first column after the finding"),
  message: text("what is wrong; never the value of a secret"),
  fingerprint: text("the same for the same finding after lines moved"),
  fixable: z.boolean().check(z.describe("whether --fix corrects it")),
};

const summary = z.strictObject({
  documents: count("documents that an upload would send"),
  skipped: count("files of which an upload makes no document"),
  failed: count("files that could not be read"),
  error: count("findings of level error"),
  warning: count("findings of level warning"),
  note: count("findings of level note"),
  known: count("findings that the baseline contains; they are not listed"),
  fixed: count("findings of the baseline that no longer occur"),
});

const command = z.literal("lint");
const status = z
  .enum(["passed", "failed", "partial"])
  .check(
    z.describe(
      "failed: a finding of level error, or too many warnings; partial: a file could not be read or fixed",
    ),
  );

const Lint = z.union([
  z.strictObject({ version, command, status, summary, findings: z.array(z.strictObject(finding)) }),
  z.strictObject({ version, type: z.literal("finding"), ...finding }),
  z.strictObject({ version, type: z.literal("result"), command, status, summary }),
]);

/**
 * JSON Schema (draft 2020-12) of `lint --output json` and of its reports, and of a line of its
 * ndjson. Saved as `schema/lint.schema.json`.
 */
export function lintJsonSchema(): Record<string, unknown> {
  return jsonSchemaOf(
    Lint,
    "knowctl lint",
    "Result of `knowctl lint`: the object of --output json and of --report FILE.json, and the " +
      "lines of --output ndjson (`finding`, then one `result`).",
  );
}
