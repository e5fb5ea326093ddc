import { absoluteOf, type Listed } from "../../../documents/files/source-file.ts";
import type { Context } from "../../../context.ts";
import { redactEach } from "../../../output/report/file.ts";
import { writeReports, type ReportFiles } from "../../../output/report/forms.ts";
import { uploadReport } from "../../../output/report/from/upload.ts";
import { ciPrefix } from "../../../output/report/github.ts";
import type { ReportFailure, ReportHead } from "../../../output/report/stored/record.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { redactAll } from "../../../output/terminal/redact.ts";
import { findGitRoot } from "../../project-root.ts";

/** Marks report files among the listed files as skipped: a report of an earlier run is no document. */
export function withoutReports(
  listed: Iterable<Listed>,
  root: string,
  { reports, gitlab }: ReportFiles = { reports: [], gitlab: undefined },
): Iterable<Listed> {
  const own = new Set([...reports, ...(gitlab === undefined ? [] : [gitlab])]);
  return own.size === 0 ? listed : markReports(listed, root, own);
}

function* markReports(
  listed: Iterable<Listed>,
  root: string,
  own: ReadonlySet<string>,
): Generator<Listed> {
  for (const each of listed) {
    const place =
      each.kind === "file" ? (each.absolutePath ?? absoluteOf(root, each.path)) : undefined;
    if (place !== undefined && own.has(place)) {
      yield { kind: "skipped", path: each.path, reason: "a report of this command" };
    } else yield each;
  }
}

/**
 * Writes the report files of an upload or dry run in the project `root`, and what a GitHub job shows.
 * Each call of `failures` starts at the first failure. Throws CliError `local` for a file that cannot
 * be written, after the others are.
 */
export async function writeUploadReports(
  context: Context,
  output: Output,
  files: ReportFiles,
  root: string,
  { head, failures }: { head: ReportHead; failures: () => Iterable<ReportFailure> },
): Promise<void> {
  const { redact } = output.secrets;
  const report = uploadReport(redactAll(head, redact), () => redactEach(failures(), redact));
  const prefix = ciPrefix(root, findGitRoot(context, root), context.env);
  await writeReports(output, context.env, report, files, prefix);
}
