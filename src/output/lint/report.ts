import { extname } from "node:path";
import { CliError } from "../../errors.ts";
import { writeFilePieces } from "../report/file.ts";
import { writeJobSummary } from "../report/ci/job-summary.ts";
import { inertPieces } from "../report/json.ts";
import type { Output } from "../terminal/output.ts";
import { lintAnnotations, lintSummary } from "./github.ts";
import { lintCodeQuality } from "./gitlab.ts";
import { safeRun, type LintRun } from "./lint-run.ts";

export interface LintReportOptions {
  /** Replaces registered secrets in a string; `output.secrets.redactLast`. */
  redact: (text: string) => string;
  /** Path of the project in the repository (see ciPrefix); undefined outside of one. */
  prefix: string | undefined;
}

/** Makes the pieces of `--output json` from a safeRun(). */
type JsonReport = (run: LintRun) => Iterable<string>;

type Renderer = (run: LintRun, prefix: string | undefined) => Iterable<string>;

/** Renderers by file extension; JSON is that of --output json. */
const formats = {
  ".sarif": async (): Promise<Renderer> => (await import("./sarif.ts")).sarifReport,
  ".xml": async (): Promise<Renderer> => (await import("./junit.ts")).lintJunit,
  ".html": async (): Promise<Renderer> => (await import("./html.ts")).lintHtml,
} as const;

type LintReportFormat = keyof typeof formats | ".json";

/**
 * Format of a report of lint by its file extension. Throws CliError `usage` for an unknown
 * extension.
 */
export function lintReportFormatOf(path: string): LintReportFormat {
  const extension = extname(path).toLowerCase();
  if (extension === ".json" || Object.hasOwn(formats, extension)) {
    return extension as LintReportFormat;
  }
  throw new CliError("usage", `--report ${path}: unsupported report format`, {
    hints: ["use a file name that ends in .json, .sarif, .xml (JUnit) or .html"],
  });
}

/**
 * Writes a report in the format of the extension of `path`. Throws CliError `usage` for an unknown
 * extension, `local` when the file cannot be written.
 */
export async function writeLintReport(
  path: string,
  run: LintRun,
  { redact, prefix, json }: LintReportOptions & { json: JsonReport },
): Promise<void> {
  const format = lintReportFormatOf(path);
  const safe = safeRun(run, redact);
  const pieces =
    format === ".json" ? inertPieces(json(safe)) : (await formats[format]())(safe, prefix);
  await writeFilePieces(path, pieces);
}

/** Writes GitLab's code quality report. Throws CliError `local` when the file cannot be written. */
export async function writeLintCodeQuality(
  path: string,
  run: LintRun,
  { redact, prefix }: LintReportOptions,
): Promise<void> {
  await writeFilePieces(path, lintCodeQuality(safeRun(run, redact), prefix));
}

/** In GitHub Actions, writes annotations on stderr and the job summary. Elsewhere does nothing. */
export async function writeLintGithub(
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
  run: LintRun,
  prefix: string | undefined,
): Promise<void> {
  if (!env["GITHUB_ACTIONS"]) return;
  const safe = safeRun(run, output.secrets.redactLast);
  for (const annotation of lintAnnotations(safe, prefix)) await output.annotate(annotation);
  await writeJobSummary(output, env, () => lintSummary(safe));
}
