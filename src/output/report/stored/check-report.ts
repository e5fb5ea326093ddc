import * as z from "zod/mini";
import { verifyResults } from "../from/verify.ts";
import { checkShape, refuseReport } from "./read.ts";

const outcome = z.enum(["passed", "failed", "error", "flaky", "skipped"]);

const item = z.looseObject({
  id: z.optional(z.string()),
  path: z.optional(z.nullable(z.string())),
  line: z.optional(z.nullable(z.number())),
  result: z.optional(z.string()),
  outcome: z.optional(z.string()),
  severity: z.optional(z.string()),
  rule: z.optional(z.string()),
  /** Of a case: the documents that should be found. */
  expected: z.optional(
    z.array(
      z.looseObject({ path: z.nullable(z.string()), rank: z.optional(z.nullable(z.number())) }),
    ),
  ),
});
export type Item = z.infer<typeof item>;

const estimate = z.looseObject({
  value: z.nullable(z.number()),
  low: z.nullable(z.number()),
  high: z.nullable(z.number()),
});

const count = z.int().check(z.minimum(0));
const countNames = [
  "documents",
  "skipped",
  "failed",
  "error",
  "warning",
  "note",
  "cases",
  "passed",
  "flaky",
  ...verifyResults,
] as const;
const counts = Object.fromEntries(countNames.map((name) => [name, z.optional(count)]));

const comparison = z.looseObject({
  baseline: z.string(),
  verdict: z.enum(["better", "worse", "same", "cannot-tell"]),
  worse: z.array(z.looseObject({ id: z.string(), before: outcome, now: outcome })),
});

/** What the reports of verify, lint and eval have in common: trust.md 9. */
const CheckReport = z.looseObject({
  version: z.literal(1),
  command: z.enum(["lint", "verify", "eval retrieval", "eval answers"]),
  status: z.enum(["passed", "failed", "partial"]),
  /** Of verify: which result counts as expected. */
  expected: z.optional(z.literal("hidden")),
  /** Of eval: the condition that decided the status. */
  failOn: z.optional(z.nullable(z.string())),
  stopped: z.optional(z.nullable(z.string())),
  summary: z.looseObject({
    ...counts,
    metrics: z.optional(z.record(z.string(), estimate)),
  }),
  comparison: z.optional(z.nullable(comparison)),
  documents: z.optional(z.array(item)),
  findings: z.optional(z.array(item)),
  cases: z.optional(z.array(item)),
});
export type CheckReport = z.infer<typeof CheckReport>;

/** The report of a check. `name` is its file as typed. Throws CliError `usage` for another file. */
export function parseCheckReport(value: { command?: unknown }, name: string): CheckReport {
  const { command } = value;
  const known = CheckReport.def.shape.command.safeParse(command).success;
  if (!known) throw refuseReport(name, "JSON, but not a report of lint, ingest, verify or eval");
  checkShape(name, CheckReport, value);
  // As it was read: its counts keep their order.
  return value as CheckReport;
}
