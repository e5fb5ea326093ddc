import { basename, dirname, resolve } from "node:path";
import type { FailOn } from "../../../checks/eval/fail-on.ts";
import { checkFailOn, finishReport, parseFailOn } from "../../../checks/eval/fail-on.ts";
import { createReport, type EvalReport, type ReportedCase } from "../../../checks/eval/report.ts";
import { checkBaseline } from "../../../checks/eval/compare.ts";
import { caseDigest } from "../../../checks/eval/suite/case-digest.ts";
import { skipReason } from "../../../checks/eval/judge-case.ts";
import type { EvalBasis, EvalRunResult } from "../../../checks/eval/result.ts";
import type { Context } from "../../../context.ts";
import { checkEvalFormat, evalJson, evalResultLine } from "../../../output/eval/json.ts";
import { evalAnnotations } from "../../../output/eval/annotations.ts";
import { evalMarkdown } from "../../../output/eval/markdown.ts";
import { reportFormat, writeJsonReport } from "../../../output/formats/members.ts";
import { readBaseline } from "../../../output/eval/read.ts";
import { writeEvalReport } from "../../../output/eval/report-file.ts";
import { writeEvalText } from "../../../output/eval/text.ts";
import { ciPrefix } from "../../../output/report/ci/ci.ts";
import { writeJobSummary } from "../../../output/report/ci/job-summary.ts";
import { findGitRoot } from "../../project-root.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { checkReportFiles, writeAll, type ReportFiles } from "../../ingest/report/report-files.ts";
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

/** Annotations and the job summary in GitHub Actions; elsewhere nothing. */
async function writeGithub(
  context: Context,
  output: Output,
  report: EvalReport,
  root: string,
): Promise<void> {
  const { env, cwd } = context;
  if (!env["GITHUB_ACTIONS"]) return;
  const gitRoot = findGitRoot(context, root);
  const suitePath = (file: string): string | undefined => {
    const absolute = resolve(cwd, file);
    const folder = ciPrefix({ root: dirname(absolute), gitRoot }, env);
    return folder === undefined ? undefined : folder + basename(absolute);
  };
  const lineOf = sectionLinesIn(root);
  const places = { prefix: ciPrefix({ root, gitRoot }, env), suitePath, lineOf };
  for (const each of evalAnnotations(report, places)) await output.annotate(each);
  await writeJobSummary(output, env, () => evalMarkdown(output.secrets.redactAll(report)));
}

/**
 * Writes the results on stdout, to the report files, and for GitHub. A report that cannot be written
 * does not prevent the others; then throws its CliError `local`.
 */
export async function writeResults(
  context: Context,
  output: Output,
  options: EvalOptions,
  { report, goals, root }: { report: EvalReport; goals: Goals; root: string },
): Promise<void> {
  await writeAll([
    ...goals.files.reports.map(
      (path) => () => writeEvalReport(path, report, output.secrets.redact),
    ),
    () => writeGithub(context, output, report, root),
    async () => {
      if (goals.format === "json") await writeJsonReport(output, options, evalJson(report));
      else if (goals.format === "ndjson") await output.json(evalResultLine(report));
      else await writeEvalText(output, report);
    },
  ]);
}
