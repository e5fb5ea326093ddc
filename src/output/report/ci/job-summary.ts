import { appendFile } from "node:fs/promises";
import { codeOf, writeProblem } from "../../../errors.ts";
import type { Output } from "../../terminal/output.ts";

/**
 * In GitHub Actions, appends Markdown to the job summary, the file in GITHUB_STEP_SUMMARY. `textOf`
 * makes it, without secrets, and is called only there. The run is already finished, so a failed
 * write is only a warning.
 */
export async function writeJobSummary(
  output: Output,
  env: Readonly<Record<string, string | undefined>>,
  textOf: () => string,
): Promise<void> {
  const path = env["GITHUB_STEP_SUMMARY"];
  if (!env["GITHUB_ACTIONS"] || !path) return;
  const text = textOf();
  try {
    await appendFile(path, text);
  } catch (error) {
    await output.warn(`cannot write the job summary ${path}: ${writeProblem(codeOf(error))}`);
  }
}
