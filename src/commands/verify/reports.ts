import type { Context } from "../../context.ts";
import { ciPrefix } from "../../output/report/ci/ci.ts";
import {
  verifyAnnotations,
  writeVerifyReport,
  type VerifyRun,
} from "../../output/report/verify-report.ts";
import { writeAll, type ReportFiles } from "../ingest/report/report-files.ts";
import type { Session } from "../ingest/session.ts";
import { findGitRoot } from "../project-root.ts";

/** Annotates the documents of a check that are not as expected, in a GitHub job. */
async function annotate(
  context: Context,
  { output, source }: Session,
  { documents, isFine }: VerifyRun,
): Promise<void> {
  if (!context.env["GITHUB_ACTIONS"]) return;
  const { root } = source.settings;
  const prefix = ciPrefix({ root, gitRoot: findGitRoot(context, root) }, context.env);
  const bad = documents.filter((each) => !isFine(each));
  for (const each of verifyAnnotations(bad, prefix)) await output.annotate(each);
}

/**
 * Writes the report files of a check, and annotations in a GitHub job. A file that cannot be written
 * does not prevent the others; then throws its CliError `local`.
 */
export async function writeVerifyReports(
  context: Context,
  session: Session,
  { files, ...run }: VerifyRun & { files: ReportFiles },
): Promise<void> {
  const { redact } = session.output.secrets;
  await writeAll([
    ...files.reports.map((path) => () => writeVerifyReport(path, run, redact)),
    () => annotate(context, session, run),
  ]);
}
