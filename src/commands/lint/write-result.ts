import type { Context } from "../../context.ts";
import { reportFormat } from "../../output/formats/members.ts";
import { lintJson, writeLintJson, type LintEnd } from "../../output/lint/lint-json.ts";
import type { LintRun } from "../../output/lint/lint-run.ts";
import { writeFindings } from "../../output/lint/people.ts";
import {
  writeLintCodeQuality,
  writeLintGithub,
  writeLintReport,
} from "../../output/lint/report.ts";
import { ciPrefix } from "../../output/report/ci/ci.ts";
import type { Output } from "../../output/terminal/output.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import { writeAll, type ReportFiles } from "../ingest/report/report-files.ts";
import { findGitRoot } from "../project-root.ts";
import type { LintOptions } from "./lint-options.ts";

/** A finished run whose texts may be shown (see safeFinding). */
export interface Result {
  run: LintRun;
  end: LintEnd;
}

async function renderText(
  format: "sarif" | "junit",
  run: LintRun,
  prefix: string | undefined,
): Promise<Iterable<string>> {
  if (format === "junit") return (await import("../../output/lint/junit.ts")).lintJunit(run);
  return (await import("../../output/lint/sarif.ts")).sarifReport(run, prefix);
}

async function writeOutput(
  output: Output,
  { source, options }: { source: DocumentSource; options: LintOptions },
  { run, end }: Result,
  prefix: string | undefined,
): Promise<void> {
  const format = reportFormat(options);
  if (format === "text") {
    await writeFindings(output, run.findings, source.shown, output.verbose);
  } else if (format === "sarif" || format === "junit") {
    const pieces = await renderText(format, run, prefix);
    for (const piece of pieces)
      await (format === "sarif" ? output.json(piece) : output.write(piece));
  } else {
    await writeLintJson(output, options, end, run.findings);
  }
}

/**
 * Writes the result to stdout, to the report files and, in a GitHub job, as annotations and
 * summary. A file that cannot be written does not prevent the others; then throws its CliError
 * `local`.
 */
export async function writeResult(
  context: Context,
  output: Output,
  lint: { source: DocumentSource; options: LintOptions; files: ReportFiles },
  result: Result,
): Promise<void> {
  const { root } = lint.source.settings;
  const { reports, gitlab } = lint.files;
  const { run, end } = result;
  const prefix = ciPrefix({ root, gitRoot: findGitRoot(context, root) }, context.env);
  const { redactLast: redact } = output.secrets;
  const json = (safe: LintRun): Iterable<string> => lintJson(end, safe.findings);
  await writeAll([
    () => writeOutput(output, lint, result, prefix),
    ...reports.map((path) => () => writeLintReport(path, run, { redact, prefix, json })),
    ...(gitlab === undefined ? [] : [() => writeLintCodeQuality(gitlab, run, { redact, prefix })]),
    () => writeLintGithub(output, context.env, run, prefix),
  ]);
}
