import { CliError } from "../../errors.ts";
import { neutraliseLine } from "./neutralise.ts";
import type { Output } from "./output.ts";
import { dim } from "./text.ts";

/**
 * Writes a failure on stderr: the message, its details and its hints. Any error
 * that is not a CliError is reported as a bug.
 */
export async function writeError(output: Output, error: unknown): Promise<void> {
  const known = error instanceof CliError ? error : undefined;
  const message = known?.message ?? `unexpected: ${String(error)}`;
  await output.error(neutraliseLine(message));
  for (const detail of known?.details ?? []) await output.problem("  ", neutraliseLine(detail));
  const hints = known?.hints ?? ["this is a bug in knowctl; run again with --debug and report it"];
  for (const hint of hints) await output.problem("  → ", neutraliseLine(hint));
  // GitHub shows annotations with the run; exit `changes` is not a failure.
  if (known?.exit !== "changes") {
    await output.annotate({ level: "error", title: "knowctl", message: neutraliseLine(message) });
  }
  if (output.debug && error instanceof Error) await output.problem(dim(error.stack ?? ""));
}
