import { readFile, stat } from "node:fs/promises";
import type { EvalReport } from "../../checks/eval/report.ts";
import { CliError, codeOf, messageOf } from "../../errors.ts";
import { EvalReportSchema } from "./schema.ts";

/** A little less than Node's maximum string length. */
const maxBytes = 512 * 1024 * 1024 - 1024;

const hints = ["name a file written by `knowctl eval … --report FILE.json`"];

function refuse(name: string, problem: string, cause?: unknown): CliError {
  return new CliError("usage", `--baseline ${name}: ${problem}`, { hints, cause });
}

/**
 * Parses a report of eval as a baseline. `name` is the file name as typed. Throws CliError `usage`
 * that names the file and the invalid member.
 */
export function parseBaseline(text: string, name: string): EvalReport {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    // Not the parser's message: it quotes the untrusted content.
    throw refuse(name, "not a JSON report", error);
  }
  const { version, command } = (value ?? {}) as { version?: unknown; command?: unknown };
  if (command !== "eval retrieval" && command !== "eval answers") {
    throw refuse(name, "JSON, but not a report of knowctl eval");
  }
  if (version !== 1) {
    throw new CliError(
      "usage",
      `--baseline ${name}: a report of version ${JSON.stringify(version)}`,
      {
        hints: ["this knowctl reads version 1; use the version that wrote it, or a newer one"],
      },
    );
  }
  const result = EvalReportSchema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = (issue?.path ?? []).map(String).join(".") || "the report";
  throw refuse(name, `not a valid report: ${place}: ${issue?.message ?? "unknown"}`);
}

/** Reads a baseline. Throws like parseBaseline(), and for a file that cannot be read. */
export async function readBaseline(path: string, name = path): Promise<EvalReport> {
  let text: string;
  try {
    const { size } = await stat(path);
    if (size > maxBytes) throw refuse(name, "larger than 512 MiB, too large for a report");
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw refuse(name, `cannot be read: ${codeOf(error) ?? messageOf(error)}`, error);
  }
  return parseBaseline(text, name);
}
