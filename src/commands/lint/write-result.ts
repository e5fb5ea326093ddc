import type { Context } from "../../context.ts";
import {
  lintJson,
  machineFormat,
  writeLintJson,
  type LintEnd,
} from "../../output/lint/lint-json.ts";
import type { LintRun } from "../../output/lint/lint-run.ts";
import { writeFindings } from "../../output/lint/people.ts";
import { tellLintGithub, writeLintCodeQuality, writeLintReport } from "../../output/lint/report.ts";
import { ciPrefix } from "../../output/report/ci.ts";
import type { Output } from "../../output/terminal/output.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { ReportFiles } from "../ingest/report/report-files.ts";
import { findGitRoot } from "../project-root.ts";
import type { LintOptions } from "./lint-options.ts";

/** A finished run whose texts may be shown (see safeRun). */
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

/**
 * Writes the result to stdout, to the report files and, in a GitHub job, as annotations and
 * summary. Throws CliError `local` when a file cannot be written.
 */
export async function writeResult(
  context: Context,
  output: Output,
  { source, options, files }: { source: DocumentSource; options: LintOptions; files: ReportFiles },
  { run, end }: Result,
): Promise<void> {
  const { root } = source.settings;
  const prefix = ciPrefix({ root, gitRoot: findGitRoot(context, root) }, context.env);
  const format = machineFormat(options);
  if (format === undefined) {
    await writeFindings(output, run.findings, source.shown, output.verbose);
  } else if (format === "sarif" || format === "junit") {
    const pieces = await renderText(format, run, prefix);
    for (const piece of pieces)
      await (format === "sarif" ? output.json(piece) : output.write(piece));
  } else {
    await writeLintJson(output, options, end, run.findings);
  }
  const { redactLast: redact } = output.secrets;
  const json = (safe: LintRun): Iterable<string> => lintJson(end, safe.findings);
  for (const path of files.reports) await writeLintReport(path, run, { redact, prefix, json });
  if (files.gitlab !== undefined) await writeLintCodeQuality(files.gitlab, run, { redact, prefix });
  await tellLintGithub(output, context.env, run, prefix);
}
