import { readFile, stat } from "node:fs/promises";
import type * as z from "zod/mini";
import { CliError, codeOf, fileProblem, messageOf } from "../../errors.ts";
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
    throw refuseReport(
      name,
      `cannot be read: ${fileProblem(codeOf(error) ?? messageOf(error))}`,
      error,
    );
  }
}

/** The members of a JSON report. Throws CliError `usage` for a text that is not JSON. */
export function parseReportJson(
  text: string,
  name: string,
): { version?: unknown; type?: unknown; command?: unknown } {
  try {
    return (JSON.parse(text.replace(/^\ufeff/, "")) as object | null) ?? {};
  } catch (error) {
    // Not the parser's message: it quotes the untrusted content.
    throw refuseReport(name, "not a JSON report", error);
  }
}

/** The error for a report of another version. `known`: the versions that this program reads. */
export function refuseVersion(name: string, version: unknown, known: string): CliError {
  return new CliError("usage", `${name}: a report of version ${JSON.stringify(version)}`, {
    hints: [`this knowctl reads ${known}; use the version that wrote it, or a newer one`],
  });
}

/** The error for a report with an invalid member. */
export function refuseInvalid(name: string, { issues: [issue] }: z.core.$ZodError): CliError {
  const place = (issue?.path ?? []).map(String).join(".") || "the report";
  return refuseReport(name, `not a valid report: ${place}: ${issue?.message ?? "unknown"}`);
}

/**
 * Parses a report. `name` is the file name as typed. Throws CliError `usage` that
 * names the file and the invalid member.
 */
export function parseReport(text: string, name: string): RunReport {
  const value = parseReportJson(text, name);
  const { type, version } = value;
  if (type !== "ingest-report")
    throw refuseReport(name, "JSON, but not a report of knowctl ingest");
  if (version !== 1 && version !== 2) throw refuseVersion(name, version, "versions 1 and 2");
  const result = RunReport.safeParse(value);
  if (result.success) return result.data;
  throw refuseInvalid(name, result.error);
}

/** Reads a JSON report. Throws like parseReport(), and for a file that cannot be read. */
export async function readReport(path: string, name = path): Promise<RunReport> {
  return parseReport(await readReportText(path, name), name);
}
