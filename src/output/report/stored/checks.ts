// The JSON of lint and verify: what --output json, --report FILE.json and ndjson have.
import * as z from "zod/mini";
import type { VerifyResult } from "../../../checks/verify/decide.ts";
import { verifyResults } from "../from/verified.ts";
import {
  count,
  described,
  identity,
  outputOf,
  text,
  textOrNull,
  titled,
  version,
} from "../../describe.ts";

const place = (description: string) =>
  described(z.nullable(z.int().check(z.minimum(1))), description);

const finding = {
  rule: text("name of the rule"),
  severity: described(z.enum(["error", "warning", "note"]), "as configured"),
  path: text("file relative to the project root"),
  line: place("from 1; null for a binary format"),
  column: place("from 1, in UTF-16 units"),
  endLine: place("line where the finding ends"),
  endColumn: place("first column after the finding"),
  message: text("what is wrong; never the value of a secret"),
  fingerprint: text("the same for the same finding after lines moved"),
  fixable: described(z.boolean(), "whether --fix corrects it"),
};

const lintHead = {
  command: z.literal("lint"),
  ...identity,
  status: described(
    z.enum(["passed", "failed", "partial"]),
    "failed: a finding of level error, or too many warnings; partial: a file could not be read or fixed",
  ),
  summary: z.strictObject({
    documents: count("documents that an upload would send"),
    skipped: count("files of which an upload makes no document"),
    failed: count("files that could not be read"),
    error: count("findings of level error"),
    warning: count("findings of level warning"),
    note: count("findings of level note"),
    known: count("findings that the baseline contains; they are not listed"),
    fixed: count("findings of the baseline that no longer occur"),
  }),
};

/** The report of lint. */
export const LintReport = z.strictObject({
  version,
  ...lintHead,
  findings: z.array(z.strictObject(finding)),
});
export type LintReport = z.infer<typeof LintReport>;

export const LintOutput = titled(
  outputOf(lintHead, ["findings", "finding", finding]),
  "knowctl lint",
  "Result of `knowctl lint`: the object of --output json and of --report FILE.json, and the " +
    "lines of --output ndjson (`finding`, then one `result`).",
);

const verified = {
  id: text("id of the document as it was sent"),
  path: textOrNull("file relative to the project root; null for a document from stdin"),
  result: described(z.enum(verifyResults), "what became of the document"),
  reason: text("why; empty for a document that is as expected"),
  evidence: described(
    z.array(
      z.strictObject({
        request: text("the request"),
        status: described(z.nullable(z.int()), "HTTP status; null without a response"),
        proves: text("what the response proves"),
      }),
    ),
    "the requests in their order",
  ),
  sentAt: textOrNull("time of the upload, ISO 8601; null if it is not recorded"),
  verifiedAt: text("time of this check, ISO 8601"),
};

const documents = z.int().check(z.minimum(0));
const resultCounts = Object.fromEntries(verifyResults.map((name) => [name, documents])) as Record<
  VerifyResult,
  typeof documents
>;

const verifyHead = {
  command: z.literal("verify"),
  ...identity,
  status: described(
    z.enum(["passed", "failed", "partial"]),
    "failed: a document is not as expected; partial: one could not be decided or checked",
  ),
  expected: described(
    z.optional(z.literal("hidden")),
    "with --expect hidden: the status counts hidden documents as expected",
  ),
  summary: described(
    z.strictObject({ ...resultCounts, documents }),
    "number of documents by result, and of all",
  ),
};

/** The report of verify. */
export const VerifyReport = z.strictObject({
  version,
  ...verifyHead,
  documents: z.array(z.strictObject(verified)),
});
export type VerifyReport = z.infer<typeof VerifyReport>;

export const VerifyOutput = titled(
  outputOf(verifyHead, ["documents", "verified", verified]),
  "knowctl verify",
  "Result of `knowctl verify`: the object of --output json and of --report FILE.json, and the " +
    "lines of --output ndjson (`verified`, then one `result`).",
);
