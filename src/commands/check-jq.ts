import { runJq } from "../output/formats/jq.ts";

/**
 * Compiles a jq expression before anything is sent. Throws CliError `usage` for a syntax error.
 * Errors that depend on the data appear only with data.
 */
export async function checkJq(expression: string, signal: AbortSignal): Promise<void> {
  // With empty input, jq compiles the program and runs it zero times.
  await runJq(expression, "", { signal });
}
