import { realpathSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type { FailOn } from "../../../checks/eval/fail-on.ts";
import { checkFailOn, finishReport, parseFailOn } from "../../../checks/eval/fail-on.ts";
import { createReport, type EvalReport, type ReportedCase } from "../../../checks/eval/report.ts";
import { checkBaseline } from "../../../checks/eval/compare.ts";
import { caseDigest } from "../../../checks/eval/suite/case-digest.ts";
import { skipReason } from "../../../checks/eval/judge-case.ts";
import type { EvalBasis, EvalRunResult } from "../../../checks/eval/result.ts";
import type { Context } from "../../../context.ts";
import { reportFormat } from "../../../output/formats/members.ts";
import { readBaseline } from "../../../output/report/stored/baseline.ts";
import {
  checkReportFiles,
  writeAll,
  writeReports,
  type ReportFiles,
} from "../../../output/report/forms.ts";
import { checkEvalFormat, evalReport } from "../../../output/report/from/eval.ts";
import { ciPrefix } from "../../../output/report/github.ts";
import { writeData } from "../../../output/report/json.ts";
import { writePeople } from "../../../output/report/people.ts";
import { findGitRoot } from "../../project-root.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { sectionLinesIn } from "../section-line.ts";
import type { EvalOptions } from "./options.ts";
import type { Prepared } from "./prepare.ts";

/** Where results go, and what they are compared with: all checked before the first question. */
export interface Goals {
  /** `text`, `json` or `ndjson`. */
  format: string;
  failOn: FailOn | undefined;
  baseline: EvalReport | undefined;
  files: ReportFiles;
}

/** Throws CliError `usage` for a bad condition, baseline, report file or selection. */
export async function checkGoals(context: Context, options: EvalOptions): Promise<Goals> {
  checkEvalFormat(options);
  const failOn = options.failOn === undefined ? undefined : parseFailOn(options.failOn);
  checkFailOn(failOn, options.baseline !== undefined);
  const files = checkReportFiles(options, context.cwd);
  const { baseline: file } = options;
  const baseline =
    file === undefined ? undefined : await readBaseline(resolve(context.cwd, file), file);
  return { format: reportFormat(options), failOn, baseline, files };
}

/** Throws CliError `usage` for a baseline of another suite, way, k, judge or kind. */
export function refuseOtherBaseline(
  { baseline }: Goals,
  basis: EvalBasis,
  { cases, rules }: Prepared,
  name = "",
): void {
  if (baseline === undefined) return;
  const asked = cases
    .filter((each) => skipReason(each, rules) === undefined)
    .map((each) => ({ id: each.id, digest: caseDigest(each, rules.kind) }));
  checkBaseline(baseline, { basis, cases: asked }, name);
}

/** The report of a run, compared with the baseline. */
export function reportOf(
  run: EvalRunResult,
  cases: readonly ReportedCase[],
  { baseline, failOn }: Goals,
  name: string | undefined,
): EvalReport {
  return finishReport(createReport(run, cases), baseline, name ?? "", failOn);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/**
 * Writes the results on stdout, to the report files, and for a GitHub job. A report that cannot be
 * written does not prevent the others; then throws its CliError `local`.
 */
export async function writeResults(
  context: Context,
  output: Output,
  options: EvalOptions,
  { result, goals, root }: { result: EvalReport; goals: Goals; root: string },
): Promise<void> {
  const { env, cwd } = context;
  const suitePath = (file: string): string =>
    relative(realPath(root), realPath(resolve(cwd, file))).replaceAll(sep, "/");
  // Redacted before lines are cut: a part of a secret would not be found.
  const report = evalReport(output.secrets.redactAll(result), {
    suitePath,
    lineOf: sectionLinesIn(root),
  });
  const prefix = ciPrefix(root, findGitRoot(context, root), env);
  await writeAll([
    () => writeReports(output, env, report, goals.files, prefix),
    async () => {
      if (goals.format === "text") await writePeople(output, report, (path) => path, "page");
      else await writeData(output, options, report.data, true);
    },
  ]);
}
