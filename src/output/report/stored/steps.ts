import * as z from "zod/mini";
import { CliError } from "../../../errors.ts";
import { countOf, formatCount } from "../../terminal/progress.ts";
import { verifyResults } from "../from/verify.ts";
import {
  checkShape,
  parseReport,
  parseReportJson,
  refuseContradiction,
  refuseReport,
} from "./read.ts";
import type { RunReport } from "./record.ts";
import { countWord } from "../text.ts";

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

/** What the reports of verify, lint and eval have in common. */
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
function parseCheckReport(value: { command?: unknown }, name: string): CheckReport {
  const { command } = value;
  const known = CheckReport.def.shape.command.safeParse(command).success;
  if (!known) throw refuseReport(name, "JSON, but not a report of lint, ingest, verify or eval");
  checkShape(name, CheckReport, value);
  // As it was read: its counts keep their order.
  return value as CheckReport;
}

export type StepResult = "passed" | "failed" | "partial" | "not run";

/** One step of a pipeline, from its report. */
export interface Step {
  /** The command: `verify`. */
  step: string;
  result: StepResult;
  /** Counts and measures in words. */
  details: string;
  /** The first documents, cases or findings that are not as they should be. */
  first: readonly string[];
  /** The file with the report, as typed. */
  report: string;
}

const mostNamed = 3;

const good = new Set(["current", "present", "passed", "skipped", "warning", "note"]);

/** The document that a case should find; one that it did not find comes first. */
function expectedPath({ expected = [] }: Item): string | undefined {
  const missed = expected.find(({ path, rank }) => path !== null && rank === null);
  return (missed ?? expected.find(({ path }) => path !== null))?.path ?? undefined;
}

function nameOf(item: Item): string {
  const { id, path, line, rule, result, outcome } = item;
  const wanted = expectedPath(item);
  const name = wanted === undefined ? (path ?? id ?? "") : `${id}: ${wanted}`;
  const place = `${name}${typeof line === "number" ? `:${line}` : ""}`;
  return `${place} (${rule ?? result ?? outcome ?? ""})`;
}

function badItems({ status, documents, findings, cases }: CheckReport): string[] {
  if (status === "passed") return [];
  const items = [...(documents ?? []), ...(findings ?? []), ...(cases ?? [])];
  const bad = items.filter(
    ({ result, outcome, severity }) => !good.has(result ?? outcome ?? severity ?? ""),
  );
  // Too many warnings fail as well.
  const warnings = items.filter(({ severity }) => severity === "warning");
  return (bad.length > 0 ? bad : warnings).slice(0, mostNamed).map(nameOf);
}

const nouns: Readonly<Record<string, string>> = {
  documents: "document",
  cases: "case",
  error: "error",
  warning: "warning",
  note: "note",
};

function countText([name, count]: [string, number]): string {
  const noun = nouns[name];
  return noun === undefined
    ? `${formatCount(count)} ${name.replace("-", " ")}`
    : countOf(count, noun);
}

function countsOf(counts: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(counts)
    .filter((entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] > 0)
    .map(countText);
}

function metricsOf({ summary: { metrics } }: CheckReport): string[] {
  return Object.entries(metrics ?? {}).flatMap(([name, { value, low, high }]) => {
    if (value === null) return [];
    const hasInterval = low !== null && high !== null;
    const interval = hasInterval ? ` (${low.toFixed(2)} to ${high.toFixed(2)})` : "";
    return [`${name} ${value.toFixed(2)}${interval}`];
  });
}

function uploadStep(report: RunReport, name: string): Step {
  const results = { ok: "passed", partial: "partial", error: "failed", interrupted: "partial" };
  const { status, counts, failures, lost = [], error } = report;
  // A document that --verify proved lost is a failed check; an undecided one is not.
  const isLost = lost.some(({ result }) => result !== "unknown");
  const failed = failures.map(({ path, reason }) => `${path}: ${reason}`);
  const named = Object.fromEntries(
    Object.entries(counts).map(([each, count]) => [countWord(report, each), count]),
  );
  return {
    step: report.dryRun ? "ingest --dry-run" : "ingest",
    result: isLost ? "failed" : (results[status] as StepResult),
    details: [...countsOf(named), ...(error === undefined ? [] : [error])].join(", "),
    first: [...lost.map(nameOf), ...failed].slice(0, mostNamed),
    report: name,
  };
}

/**
 * The step of a report. `name` is its file as typed; `contradictionOf` says what in a report
 * contradicts its counts. Throws CliError `usage` for such a report and for another file.
 */
export function parseStep(
  text: string,
  name: string,
  contradictionOf: (report: CheckReport) => string | undefined,
): Step {
  const value = parseReportJson(text, name);
  if (value.type === "ingest-report") return uploadStep(parseReport(text, name), name);
  const report = parseCheckReport(value, name);
  const contradiction = contradictionOf(report);
  if (contradiction !== undefined) throw refuseContradiction(name, contradiction);
  const verdict = report.comparison
    ? [`compared with the baseline: ${report.comparison.verdict.replace("-", " ")}`]
    : [];
  const { command, status, summary } = report;
  // The metrics are long: a terminal cuts the end.
  const details = [...countsOf(summary), ...verdict, ...metricsOf(report)];
  return {
    step: command,
    result: status,
    details: details.join(", ") || "nothing checked",
    first: badItems(report),
    report: name,
  };
}

/**
 * Throws CliError `checks-failed` or `partial` unless every step passed. Its details name what the
 * columns of a table may cut.
 */
export function failUnlessPassed(steps: readonly Step[]): void {
  const named = (result: StepResult): string =>
    steps
      .filter((each) => each.result === result)
      .map(({ step }) => step)
      .join(", ");
  const details = steps.flatMap(({ step, first }) => first.map((name) => `${step}: ${name}`));
  const failed = named("failed");
  if (failed !== "") throw new CliError("checks-failed", `failed: ${failed}`, { details });
  const open = [named("partial"), named("not run")].filter((each) => each !== "").join(", ");
  if (open === "") return;
  throw new CliError("partial", `not finished, or only in part: ${open}`, { details });
}
