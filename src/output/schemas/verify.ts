import * as z from "zod/mini";
import { verifyResults } from "../report/from/verify.ts";
import { jsonSchemaOf, text, version } from "./describe.ts";

const count = z.int().check(z.minimum(0));

const verified = {
  id: text("id of the document as it was sent"),
  path: z
    .nullable(z.string())
    .check(z.describe("file relative to the project root; null for a document from stdin")),
  result: z.enum(verifyResults).check(z.describe("what became of the document")),
  reason: text("why; empty for a document that is as expected"),
  evidence: z
    .array(
      z.strictObject({
        request: text("the request"),
        status: z.nullable(z.int()).check(z.describe("HTTP status; null without a response")),
        proves: text("what the response proves"),
      }),
    )
    .check(z.describe("the requests in their order")),
  sentAt: z
    .nullable(z.string())
    .check(z.describe("time of the upload, ISO 8601; null if it is not recorded")),
  verifiedAt: text("time of this check, ISO 8601"),
};

/** A line of ndjson for one document. */
export const VerifiedLine = z.strictObject({ version, type: z.literal("verified"), ...verified });

const summary = z
  .strictObject({
    ...(Object.fromEntries(verifyResults.map((name) => [name, count])) as Record<
      (typeof verifyResults)[number],
      typeof count
    >),
    documents: count,
  })
  .check(z.describe("number of documents by result, and of all"));

const command = z.literal("verify");
const status = z
  .enum(["passed", "failed", "partial"])
  .check(
    z.describe(
      "failed: a document is not as expected; partial: one could not be decided or checked",
    ),
  );

const expected = z
  .optional(z.literal("hidden"))
  .check(z.describe("with --expect hidden: the status counts hidden documents as expected"));

const Verify = z.union([
  z.strictObject({
    version,
    command,
    status,
    expected,
    summary,
    documents: z.array(z.strictObject(verified)),
  }),
  VerifiedLine,
  z.strictObject({ version, type: z.literal("result"), command, status, expected, summary }),
]);

/**
 * JSON Schema (draft 2020-12) of `verify --output json` and of its reports, and of a line of its
 * ndjson. Saved as `schema/verify.schema.json`.
 */
export function verifyJsonSchema(): Record<string, unknown> {
  return jsonSchemaOf(
    Verify,
    "knowctl verify",
    "Result of `knowctl verify`: the object of --output json and of --report FILE.json, and the " +
      "lines of --output ndjson (`verified`, then one `result`).",
  );
}
