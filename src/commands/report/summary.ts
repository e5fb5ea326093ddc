import { existsSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { checkFormat, checkSelection, writeList } from "../../output/formats/formats.ts";
import { valueOf, type Column } from "../../output/formats/select.ts";
import { summaryTable, writeJobSummary } from "../../output/report/github.ts";
import { readReportText } from "../../output/report/stored/read.ts";
import {
  failUnlessPassed,
  parseStep,
  type Step,
  type CheckReport,
  type Item,
} from "../../output/report/stored/steps.ts";
import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import { openOutput } from "../connect.ts";
import { parseFailOn, statusOf as evalStatus, type FailOn } from "../../checks/eval/fail-on.ts";
import { CliError } from "../../errors.ts";
import { formatCount } from "../../output/terminal/progress.ts";
import { verifyResults, type VerifyCounts } from "../../output/report/from/verify.ts";
import { statusOf as verifyStatus } from "../verify/outcome.ts";

type Status = CheckReport["status"];

/** What a report of a kind is about: its list, the member that its counts go by, and its counts. */
interface Kind {
  items: readonly Item[];
  nameOf: (item: Item) => string | undefined;
  counted: readonly string[];
  /** Its other counts. */
  others: readonly string[];
  /** Statuses that the counts allow. */
  allowed: readonly Status[];
}

function countIn({ summary }: CheckReport, name: string): number {
  const count = summary[name];
  return typeof count === "number" ? count : 0;
}

function verifyKind(report: CheckReport): Kind {
  const counts = Object.fromEntries(verifyResults.map((name) => [name, countIn(report, name)]));
  const status = verifyStatus(counts as VerifyCounts, report.expected === "hidden", 0);
  return {
    items: report.documents ?? [],
    nameOf: ({ result }) => result,
    counted: verifyResults,
    others: ["documents"],
    // Documents that could not be checked are in no count.
    allowed: status === "passed" ? ["passed", "partial"] : [status],
  };
}

function lintKind(report: CheckReport): Kind {
  const { findings = [] } = report;
  const hasWarnings = countIn(report, "warning") > 0;
  const isUnread = countIn(report, "failed") > 0;
  // The limit of warnings and files that could not be fixed are not in the report.
  const allowed: Status[] = [isUnread ? "partial" : "passed", "partial"];
  if (hasWarnings) allowed.push("failed");
  return {
    items: findings,
    nameOf: ({ severity }) => severity,
    counted: ["error", "warning", "note"],
    others: ["documents", "skipped", "failed", "known", "fixed"],
    allowed: countIn(report, "error") > 0 ? ["failed"] : allowed,
  };
}

/** The condition of a report; `unknown` for one that `--fail-on` does not take. */
function conditionOf(failOn: string | null): FailOn | "unknown" | undefined {
  if (failOn === null) return undefined;
  try {
    return parseFailOn(failOn);
  } catch (error) {
    if (error instanceof CliError) return "unknown";
    throw error;
  }
}

function evalKind(report: CheckReport): Kind {
  const [cases, skipped, passed] = [
    countIn(report, "cases"),
    countIn(report, "skipped"),
    countIn(report, "passed"),
  ];
  const asked = cases - skipped;
  const rate = { passed: { value: asked > 0 ? passed / asked : null } };
  const { comparison = null, stopped = null, failOn = null } = report;
  const condition = conditionOf(failOn);
  const summary = {
    cases,
    failed: countIn(report, "failed"),
    flaky: countIn(report, "flaky"),
    error: countIn(report, "error"),
    metrics: rate,
  };
  const statuses = (): Status[] => {
    if (condition === "unknown") return [];
    const needsComparison = condition !== undefined && condition.when !== "rate";
    if (needsComparison && comparison === null) return [];
    return [evalStatus({ stopped, summary, comparison }, condition)];
  };
  return {
    items: report.cases ?? [],
    nameOf: ({ outcome }) => outcome,
    counted: ["passed", "failed", "error", "flaky", "skipped"],
    others: ["cases"],
    allowed: statuses(),
  };
}

/** What in the report of a check contradicts its counts or its list; undefined if nothing does. */
function contradictionOf(report: CheckReport): string | undefined {
  const { command, status } = report;
  const kind =
    command === "verify"
      ? verifyKind(report)
      : command === "lint"
        ? lintKind(report)
        : evalKind(report);
  const strange = Object.keys(report.summary).find(
    (name) => countIn(report, name) > 0 && ![...kind.counted, ...kind.others].includes(name),
  );
  if (strange !== undefined) {
    return `${formatCount(countIn(report, strange))} ${strange}, and ${command} has no such count`;
  }
  for (const name of kind.counted) {
    const [count, listed] = [
      countIn(report, name),
      kind.items.filter((item) => kind.nameOf(item) === name).length,
    ];
    if (count !== listed) {
      return `${formatCount(count)} ${name} in its summary, and ${formatCount(listed)} in its list`;
    }
  }
  if (kind.allowed.includes(status)) return undefined;
  const counts = [...kind.counted, "failed"]
    .filter((name, at, all) => countIn(report, name) > 0 && all.indexOf(name) === at)
    .map((name) => `${formatCount(countIn(report, name))} ${name}`);
  return `the status is ${status}, with ${counts.join(", ") || "nothing counted"}`;
}

const columns: Column<Step>[] = [
  { name: "step" },
  { name: "result" },
  { name: "details" },
  { name: "first", value: ({ first }) => first.join("; ") },
  { name: "report", shown: false },
];

const sample: Step = { step: "", result: "passed", details: "", first: [], report: "" };

async function readStep(path: string, name: string): Promise<Step> {
  // An earlier step may have ended before it wrote its report.
  if (!existsSync(path)) {
    const step = basename(name, extname(name));
    return { step, result: "not run", details: "it wrote no report", first: [], report: name };
  }
  return parseStep(await readReportText(path, name), name, contradictionOf);
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
  const output = openOutput(context, options);
  const steps: Step[] = [];
  for (const name of names) steps.push(await readStep(resolve(context.cwd, name), name));
  await writeList(output, options, columns, steps);
  await writeJobSummary(output, context.env, () => {
    const shown = columns.filter((column) => column.shown !== false);
    const rows = output.secrets
      .redactAll(steps)
      .map((step) => shown.map((column) => String(valueOf(column, step))));
    return summaryTable(
      shown.map(({ name }) => name),
      rows,
    );
  });
  failUnlessPassed(steps);
}
