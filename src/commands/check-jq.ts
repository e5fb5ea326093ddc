import { runJq } from "../output/formats/jq.ts";

/**
 * Compiles a jq expression, before anything is sent. Throws CliError `usage` for one that does not
 * parse; what only fails on some data is found when there is data.
 */
export async function checkJq(expression: string, signal: AbortSignal): Promise<void> {
  // Without an input jq compiles the program and runs it for none.
  await runJq(expression, "", { signal });
}
