import type { Listed } from "../../../documents/find/source-file.ts";
import { accessSync, constants, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Context } from "../../../context.ts";
import { absoluteOf } from "../../../documents/inspect/absolute.ts";
import { CliError, codeOf, messageOf, writeProblem } from "../../../errors.ts";
import { makeFolder } from "../../../make-folder.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { ciPrefix, tellGithub, type ToldRun } from "../../../output/report/ci/ci.ts";
import { checkOutputPath, reportFormatOf, writeReport } from "../../../output/report/file.ts";
import type { ReportFailure } from "../../../output/report/record.ts";
import { writeCodeQuality } from "../../../output/report/ci/gitlab.ts";
import { statsOf } from "../../stats-of.ts";

/** Report files of a run. */
export interface ReportFlags {
  report?: string[];
  gitlabReport?: string;
}

/** Absolute paths that were checked to be writable. */
export interface ReportFiles {
  reports: readonly string[];
  gitlab: string | undefined;
}

function isInside(folder: string, parent: string): boolean {
  const path = relative(parent, folder);
  return path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

function checkedPath(flag: string, path: string, cwd: string): string {
  const refuse = (why: string, cause?: unknown): CliError =>
    new CliError("usage", `${flag} ${path}: ${why}`, {
      hints: ["name a file in a writable folder"],
      cause,
    });
  if (path === "") throw refuse("the path is empty");
  const absolute = resolve(cwd, path);
  const folder = dirname(absolute);
  // A missing folder outside the working directory is probably a typing error: do not create it.
  if (!isInside(folder, cwd) && !statsOf(folder)) {
    throw refuse(`there is no folder ${folder}`);
  }
  try {
    makeFolder(folder);
    // The file is written under another name in this folder and then renamed.
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refuse(
      `the folder cannot be written: ${writeProblem(codeOf(error) ?? messageOf(error))}`,
      error,
    );
  }
  checkOutputPath(flag, path, cwd);
  return join(realpathSync(folder), basename(absolute));
}

/**
 * Checks before the upload that the report files are writable. Creates missing folders inside
 * the working directory only. `checkFormat` throws for an unknown extension. Throws CliError
 * `usage`.
 */
export function checkReportFiles(
  flags: ReportFlags,
  cwd: string,
  checkFormat: (path: string) => unknown = reportFormatOf,
): ReportFiles {
  for (const path of flags.report ?? []) checkFormat(path);
  const reports = (flags.report ?? []).map((path) => checkedPath("--report", path, cwd));
  const { gitlabReport } = flags;
  const gitlab =
    gitlabReport === undefined ? undefined : checkedPath("--gitlab-report", gitlabReport, cwd);
  const all = gitlab === undefined ? reports : [...reports, gitlab];
  const duplicate = all.find((path, index) => all.indexOf(path) !== index);
  if (duplicate !== undefined) {
    throw new CliError("usage", `two reports name the same file: ${duplicate}`, {
      hints: ["name each report file once"],
    });
  }
  return { reports, gitlab };
}

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

/** Calls all writers, also after one failed. Then throws the first failure. */
export async function writeAll(writers: readonly (() => Promise<void>)[]): Promise<void> {
  let failure: { error: unknown } | undefined;
  for (const write of writers) {
    try {
      await write();
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure) throw failure.error;
}

/** The failures, and the documents that `--verify` did not find as sent. */
function* withLost({ head: { lost = [] }, failures }: ToldRun): Generator<ReportFailure> {
  yield* failures();
  for (const { path, id, result, reason } of lost) {
    yield { path: path ?? "stdin", id, reason: `${result}: ${reason}`, retryable: false };
  }
}

/**
 * Writes all report files, and the annotations and summary of a GitHub job. After a failure it
 * continues with the other files, then throws the first failure: CliError `local`.
 */
export async function writeReportFiles(
  context: Context,
  output: Output,
  { reports, gitlab }: ReportFiles,
  run: ToldRun,
): Promise<void> {
  const { head, failures } = run;
  const { redact } = output.secrets;
  const prefix = ciPrefix(run, context.env);
  await writeAll([
    ...reports.map((path) => () => writeReport(path, head, failures(), { redact })),
    ...(gitlab === undefined
      ? []
      : [() => writeCodeQuality(gitlab, withLost(run), { redact, prefix })]),
    () => tellGithub(output, context.env, run),
  ]);
}
