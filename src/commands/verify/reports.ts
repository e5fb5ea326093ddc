import type { Context } from "../../context.ts";
import { ciPrefix } from "../../output/report/ci.ts";
import {
  verifyAnnotations,
  writeVerifyReport,
  type VerifyRun,
} from "../../output/report/verify-report.ts";
import type { ReportFiles } from "../ingest/report/report-files.ts";
import type { Session } from "../ingest/session.ts";
import { findGitRoot } from "../project-root.ts";

/** Writes the report files of a check, and annotations in a GitHub job. Throws CliError `local`. */
export async function writeVerifyReports(
  context: Context,
  { output, source }: Session,
  { files, ...run }: VerifyRun & { files: ReportFiles },
): Promise<void> {
  for (const path of files.reports) await writeVerifyReport(path, run, output.secrets.redact);
  if (!context.env["GITHUB_ACTIONS"]) return;
  const { root } = source.settings;
  const prefix = ciPrefix({ root, gitRoot: findGitRoot(context, root) }, context.env);
  const bad = run.documents.filter((each) => !run.isFine(each));
  for (const each of verifyAnnotations(bad, prefix)) await output.annotate(each);
}
