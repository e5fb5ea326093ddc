import type { EvalReport } from "../../../checks/eval/report.ts";
import {
  checkShape,
  parseReportJson,
  readReportText,
  refuseReport,
  refuseVersion,
} from "./read.ts";
import { EvalReportSchema } from "../../schemas/eval.ts";

/**
 * Parses a report of eval as a baseline. `name` is the file name as typed. Throws CliError `usage`
 * that names the file and the invalid member.
 */
export function parseBaseline(text: string, name: string): EvalReport {
  const flag = `--baseline ${name}`;
  const value = parseReportJson(text, flag);
  const { version, command } = value;
  if (command !== "eval retrieval" && command !== "eval answers") {
    throw refuseReport(flag, "JSON, but not a report of knowctl eval");
  }
  if (version !== 1) throw refuseVersion(flag, version, "version 1");
  return checkShape(flag, EvalReportSchema, value);
}

/** Reads a baseline. Throws like parseBaseline(), and for a file that cannot be read. */
export async function readBaseline(path: string, name = path): Promise<EvalReport> {
  return parseBaseline(await readReportText(path, `--baseline ${name}`), name);
}
