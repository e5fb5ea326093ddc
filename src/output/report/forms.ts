import { accessSync, constants, realpathSync } from "node:fs";
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { CliError, codeOf, messageOf, writeProblem } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";
import { neutraliseJson } from "../terminal/neutralise.ts";
import type { Output } from "../terminal/output.ts";
import { checkOutputPath, writeFilePieces } from "./file.ts";
import { annotationsOf, jobSummary, writeJobSummary } from "./github.ts";
import { jsonOf } from "./json.ts";
import type { Report } from "./report.ts";

type Form = (report: Report, prefix: string | undefined, name: string) => Iterable<string>;

function* inertJson({ data }: Report): Generator<string> {
  for (const piece of jsonOf(data)) yield neutraliseJson(piece);
}

/** The forms of a report by file extension. A new form is an entry here and its renderer. */
const forms = {
  ".json": (): Promise<Form> => Promise.resolve(inertJson),
  ".sarif": async (): Promise<Form> => (await import("./sarif.ts")).sarifReport,
  ".xml": async (): Promise<Form> => (await import("./junit.ts")).junitReport,
  ".html": async (): Promise<Form> => (await import("./html.ts")).htmlReport,
  ".prom": async (): Promise<Form> => (await import("./prometheus.ts")).prometheusReport,
} as const;

/** The form of a report by its file extension. Throws CliError `usage` for an unknown extension. */
export function formOf(path: string): () => Promise<Form> {
  const extension = extname(path).toLowerCase();
  if (Object.hasOwn(forms, extension)) return forms[extension as keyof typeof forms];
  throw new CliError("usage", `--report ${path}: unsupported report format`, {
    hints: [
      "use a file name that ends in .json, .sarif, .xml (JUnit), .html or .prom (Prometheus)",
    ],
  });
}

/** Flags of the report files of a run. */
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
  try {
    // A missing folder outside the working directory is probably a typing error: do not create it.
    if (isInside(folder, cwd)) makeFolder(folder);
    // The file is written under another name in this folder and then renamed.
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") throw refuse(`there is no folder ${folder}`, error);
    throw refuse(`the folder cannot be written: ${writeProblem(code ?? messageOf(error))}`, error);
  }
  checkOutputPath(flag, path, cwd);
  return join(realpathSync(folder), basename(absolute));
}

/**
 * Checks before any work that the report files are writable and have a form. Creates missing folders
 * inside the working directory only. Throws CliError `usage`.
 */
export function checkReportFiles(flags: ReportFlags, cwd: string): ReportFiles {
  for (const path of flags.report ?? []) formOf(path);
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

/** Writes one report file in the form of its extension. Throws CliError `local` if it cannot. */
export async function writeReportFile(
  path: string,
  report: Report,
  prefix: string | undefined,
): Promise<void> {
  const form = await formOf(path)();
  await writeFilePieces(path, form(report, prefix, basename(path, extname(path))));
}

/**
 * Writes the report files and, in a GitHub job, annotations on stderr and the job summary. `prefix` is
 * the path of the project in the repository, see ciPrefix(). A file that cannot be written does not
 * prevent the others; then throws its CliError `local`.
 */
export async function writeReports(
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
  report: Report,
  { reports, gitlab }: ReportFiles,
  prefix: string | undefined,
): Promise<void> {
  await writeAll([
    ...reports.map((path) => () => writeReportFile(path, report, prefix)),
    async () => {
      if (gitlab === undefined) return;
      const { gitlabReport } = await import("./gitlab.ts");
      await writeFilePieces(gitlab, gitlabReport(report, prefix));
    },
    async () => {
      if (!env["GITHUB_ACTIONS"]) return;
      for (const each of annotationsOf(report, prefix)) await output.annotate(each);
      await writeJobSummary(output, env, () => jobSummary(report));
    },
  ]);
}
