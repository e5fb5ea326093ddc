import type { EvalReport } from "../../checks/eval/report.ts";
import { reportFormatOf, writeFilePieces, type ReportFormat } from "../report/file.ts";
import { inertPieces } from "../report/json.ts";
import { redactAll } from "../terminal/redact.ts";
import { evalJson } from "./json.ts";

type Renderer = (report: EvalReport) => Iterable<string>;

const formats: Record<ReportFormat, () => Promise<Renderer>> = {
  ".json": () => Promise.resolve((report) => inertPieces(evalJson(report))),
  ".xml": async () => (await import("./junit.ts")).evalJunit,
  ".html": async () => (await import("./html/page.ts")).evalHtml,
};

/**
 * Writes a report in the format of the extension of `path`. Throws CliError `usage` for an unknown
 * extension, `local` when the file cannot be written.
 */
export async function writeEvalReport(
  path: string,
  report: EvalReport,
  redact: (text: string) => string,
): Promise<void> {
  const render = await formats[reportFormatOf(path)]();
  await writeFilePieces(path, render(redactAll(report, redact)));
}
