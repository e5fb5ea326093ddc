import { readFile, stat } from "node:fs/promises";
import { CliError, codeOf, messageOf } from "../../errors.ts";
import { RunReport } from "./record.ts";

/** A little less than Node's maximum string length. */
const maxBytes = 512 * 1024 * 1024 - 1024;

const hints = ["name files that a command wrote with --report FILE.json"];

/** The error for a file that is no report. `path`: as typed. */
export function refuseReport(path: string, problem: string, cause?: unknown): CliError {
  return new CliError("usage", `${path}: ${problem}`, { hints, cause });
}

/** The text of a report. Throws CliError `usage` for a file that cannot be read. */
export async function readReportText(path: string, name: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > maxBytes) throw refuseReport(name, "larger than 512 MiB, too large for a report");
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw refuseReport(name, `cannot be read: ${codeOf(error) ?? messageOf(error)}`, error);
  }
}

/**
 * Parses a report. `name` is the file name as typed. Throws CliError `usage` that
 * names the file and the invalid member.
 */
export function parseReport(text: string, name: string): RunReport {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    // Not the parser's message: it quotes the untrusted content.
    throw refuseReport(name, "not a JSON report", error);
  }
  const { type, version } = (value ?? {}) as { type?: unknown; version?: unknown };
  if (type !== "ingest-report")
    throw refuseReport(name, "JSON, but not a report of knowctl ingest");
  if (version !== 1 && version !== 2) {
    throw new CliError("usage", `${name}: a report of version ${JSON.stringify(version)}`, {
      hints: ["this knowctl reads versions 1 and 2; use the version that wrote it, or a newer one"],
    });
  }
  const result = RunReport.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = (issue?.path ?? []).map(String).join(".");
  throw refuseReport(name, `not a valid report: ${place}: ${issue?.message ?? "unknown"}`);
}

/** Reads a JSON report. Throws like parseReport(), and for a file that cannot be read. */
export async function readReport(path: string, name = path): Promise<RunReport> {
  return parseReport(await readReportText(path, name), name);
}
