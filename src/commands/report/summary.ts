import { existsSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { parseFailOn, statusOf as evalStatus } from "../../checks/eval/report.ts";
import { EvalReport } from "../../checks/eval/result.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, checkSelection, writeList } from "../../output/formats/formats.ts";
import { valueOf, type Column } from "../../output/formats/select.ts";
import { summaryTable, writeJobSummary } from "../../output/report/github.ts";
import {
  checkShape,
  parseReportJson,
  readReportText,
  refuseContradiction,
  refuseReport,
  uploadReportOf,
  type Stored,
} from "../../output/report/stored/read.ts";
import type { RunReport, RunStatus } from "../../output/report/stored/record.ts";
import { bareReason, countWord } from "../../output/report/text.ts";
import { verifyResults } from "../../output/report/from/verified.ts";
import { LintReport, VerifyReport } from "../../output/report/stored/checks.ts";
import { countOf, formatCount } from "../../output/terminal/progress.ts";
import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import { statusOf as verifyStatus } from "../verify/outcome.ts";
import { createOutput } from "../../output/terminal/output.ts";

type Result = "passed" | "failed" | "partial" | "not run";

/** One step of a pipeline, from its report. */
interface Step {
  /** The command: `verify`. */
  step: string;
  result: Result;
  /** Counts and measures in words. */
  details: string;
  /** The first documents, cases or findings that are not as they should be. */
  first: readonly string[];
  /** The file with the report, as typed. */
  report: string;
}

/** What the summary shows and checks of the report of a check. */
interface Checked {
  status: EvalReport["status"];
  summary: object;
  /** The result of each item of its list. */
  results: readonly string[];
  /** The results that its summary counts. */
  counted: readonly string[];
  /** Statuses that the counts allow. */
  allowed: readonly Checked["status"][];
  /** Items that are not as they should be. */
  bad: readonly string[];
  /** What follows the counts. */
  more: readonly string[];
}

const placed = (name: string, line?: number | null): string =>
  typeof line === "number" ? `${name}:${line}` : name;

function lintChecked({ status, summary, findings }: LintReport): Checked {
  // The limit of warnings and files that could not be fixed are not in the report.
  const others: Checked["status"][] = [summary.failed > 0 ? "partial" : "passed", "partial"];
  const errors = findings.filter(({ severity }) => severity === "error");
  // Too many warnings fail as well.
  const shown = errors.length > 0 ? errors : findings.filter((each) => each.severity === "warning");
  return {
    status,
    summary,
    results: findings.map(({ severity }) => severity),
    counted: ["error", "warning", "note"],
    allowed: summary.error > 0 ? ["failed"] : summary.warning > 0 ? [...others, "failed"] : others,
    bad: shown.map(({ path, line, rule }) => `${placed(path, line)} (${rule})`),
    more: [],
  };
}

function verifyChecked({ status, expected, summary, documents }: VerifyReport): Checked {
  const proved = verifyStatus(summary, expected === "hidden", 0);
  const good: readonly string[] = ["current", "present"];
  return {
    status,
    summary,
    results: documents.map(({ result }) => result),
    counted: verifyResults,
    // Documents that could not be checked are in no count.
    allowed: proved === "passed" ? ["passed", "partial"] : [proved],
    bad: documents
      .filter(({ result }) => !good.includes(result))
      .map(({ id, path, result }) => `${path ?? id} (${result})`),
    more: [],
  };
}

/** The statuses that a report of eval may have; none for a condition that --fail-on does not take. */
function evalStatuses(report: EvalReport): Checked["status"][] {
  const { failOn, comparison, summary, stopped } = report;
  const asked = summary.cases - summary.skipped;
  const value = asked > 0 ? summary.passed / asked : null;
  const metrics = { ...summary.metrics, passed: { ...summary.metrics.passed, value } };
  try {
    const condition = failOn === null ? undefined : parseFailOn(failOn);
    const needsComparison = condition !== undefined && condition.when !== "rate";
    if (needsComparison && comparison === null) return [];
    return [evalStatus({ stopped, summary: { ...summary, metrics }, comparison }, condition)];
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}

/** The document that a case should find; one that it did not find comes first. */
function expectedPath({ expected }: EvalReport["cases"][number]): string | undefined {
  const known = expected.filter(({ path }) => path !== null);
  return (known.find(({ rank }) => rank === null) ?? known[0])?.path ?? undefined;
}

function evalChecked(report: EvalReport): Checked {
  const { status, summary, cases, comparison } = report;
  const metrics = Object.entries(summary.metrics).flatMap(([name, { value, low, high }]) =>
    value === null || low === null || high === null
      ? []
      : [`${name} ${value.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`],
  );
  const verdict = comparison
    ? [`compared with the baseline: ${comparison.verdict.replace("-", " ")}`]
    : [];
  return {
    status,
    summary,
    results: cases.map(({ outcome }) => outcome),
    counted: ["passed", "failed", "error", "flaky", "skipped"],
    allowed: evalStatuses(report),
    bad: cases
      .filter(({ outcome }) => outcome !== "passed" && outcome !== "skipped")
      .map((each) => {
        const wanted = expectedPath(each);
        return `${wanted === undefined ? each.id : `${each.id}: ${wanted}`} (${each.outcome})`;
      }),
    // The metrics are long: a terminal cuts the end.
    more: [...verdict, ...metrics],
  };
}

const nouns: Readonly<Record<string, string>> = {
  documents: "document",
  cases: "case",
  error: "error",
  warning: "warning",
  note: "note",
};

function countsOf(counts: object): string[] {
  const known = Object.entries(counts).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number" && entry[1] > 0,
  );
  return known.map(([name, count]) => {
    const noun = nouns[name];
    return noun === undefined
      ? `${formatCount(count)} ${name.replace("-", " ")}`
      : countOf(count, noun);
  });
}

/** What in the report of a check contradicts its counts or its list; undefined if nothing does. */
function contradictionOf({ status, summary, results, counted, allowed }: Checked) {
  const counts = summary as Record<string, number>;
  for (const name of counted) {
    const listed = results.filter((each) => each === name).length;
    if (counts[name] === listed) continue;
    return `${formatCount(counts[name] ?? 0)} ${name} in its summary, and ${formatCount(listed)} in its list`;
  }
  if (allowed.includes(status)) return undefined;
  const shown = [...new Set([...counted, "failed"])]
    .filter((name) => (counts[name] ?? 0) > 0)
    .map((name) => `${formatCount(counts[name] ?? 0)} ${name}`);
  return `the status is ${status}, with ${shown.join(", ") || "nothing counted"}`;
}

const mostNamed = 3;

function uploadStep(report: RunReport, name: string): Step {
  const results: Readonly<Record<RunStatus, Result>> = {
    ok: "passed",
    partial: "partial",
    error: "failed",
    interrupted: "partial",
  };
  const { status, counts, failures, lost = [], error } = report;
  // A document that --verify proved lost is a failed check; an undecided one is not.
  const isLost = lost.some(({ result }) => result !== "unknown");
  const named = Object.entries(counts).map(([each, count]) => [countWord(report, each), count]);
  return {
    step: report.dryRun ? "ingest --dry-run" : "ingest",
    result: isLost ? "failed" : results[status],
    details: [
      ...countsOf(Object.fromEntries(named) as object),
      ...(error === undefined ? [] : [error]),
    ].join(", "),
    first: [
      ...lost.map(({ id, path, result }) => `${path ?? id} (${result})`),
      ...failures.slice(0, mostNamed).map((each) => `${each.path}: ${bareReason(each)}`),
    ].slice(0, mostNamed),
    report: name,
  };
}

const checks: Readonly<Record<string, (name: string, value: Stored) => Checked>> = {
  lint: (name, value) => lintChecked(checkShape(name, LintReport, value)),
  verify: (name, value) => verifyChecked(checkShape(name, VerifyReport, value)),
  "eval retrieval": (name, value) => evalChecked(checkShape(name, EvalReport, value)),
  "eval answers": (name, value) => evalChecked(checkShape(name, EvalReport, value)),
};

/** The step of a report. Throws CliError `usage` for a report that contradicts its counts, and for another file. */
async function readStep(path: string, name: string): Promise<Step> {
  // An earlier step may have ended before it wrote its report.
  if (!existsSync(path)) {
    const step = basename(name, extname(name));
    return { step, result: "not run", details: "it wrote no report", first: [], report: name };
  }
  const value = parseReportJson(await readReportText(path, name), name);
  if (value.type === "ingest-report") return uploadStep(uploadReportOf(value, name), name);
  const step = typeof value.command === "string" ? value.command : "";
  if (!Object.hasOwn(checks, step)) {
    throw refuseReport(name, "JSON, but not a report of lint, ingest, verify or eval");
  }
  const checked = checks[step]!(name, value);
  const contradiction = contradictionOf(checked);
  if (contradiction !== undefined) throw refuseContradiction(name, contradiction);
  const { status, summary, bad, more } = checked;
  return {
    step,
    result: status,
    details: [...countsOf(summary), ...more].join(", ") || "nothing checked",
    first: status === "passed" ? [] : bad.slice(0, mostNamed),
    report: name,
  };
}

const columns: Column<Step>[] = [
  { name: "step" },
  { name: "result" },
  { name: "details" },
  { name: "first", value: ({ first }) => first.join("; ") },
  { name: "report", shown: false },
];

const sample: Step = { step: "", result: "passed", details: "", first: [], report: "" };

/**
 * Throws CliError `checks-failed` or `partial` unless every step passed. Its details name what the
 * columns of a table may cut.
 */
function failUnlessPassed(steps: readonly Step[]): void {
  const named = (...results: Result[]): string =>
    results
      .flatMap((result) => steps.filter((each) => each.result === result))
      .map(({ step }) => step)
      .join(", ");
  const details = steps.flatMap(({ step, first }) => first.map((name) => `${step}: ${name}`));
  const failed = named("failed");
  if (failed !== "") throw new CliError("checks-failed", `failed: ${failed}`, { details });
  const open = named("partial", "not run");
  if (open === "") return;
  throw new CliError("partial", `not finished, or only in part: ${open}`, { details });
}

/**
 * `knowctl report summary`: the steps of a pipeline from their reports, as a list. Throws CliError
 * `usage` for a file that is no report, `checks-failed` or `partial` unless every step passed.
 */
export async function reportSummary(
  system: Context,
  names: string[],
  options: GlobalFlags,
): Promise<void> {
  const context = goOnAfterClosedPipe(system);
  checkFormat(options);
  checkSelection(options, columns, sample);
  const output = createOutput(context, options);
  const steps: Step[] = [];
  for (const name of names) steps.push(await readStep(resolve(context.cwd, name), name));
  await writeList(output, options, columns, steps);
  await writeJobSummary(output, context.env, () => {
    const shown = columns.filter((column) => column.shown !== false);
    return summaryTable(
      shown.map(({ name }) => name),
      output.secrets
        .redactAll(steps)
        .map((step) => shown.map((column) => String(valueOf(column, step)))),
    );
  });
  failUnlessPassed(steps);
}
