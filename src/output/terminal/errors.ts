import { CliError } from "../../errors.ts";
import { neutraliseLine } from "./neutralise.ts";
import type { Output } from "./output.ts";
import { dim } from "./text.ts";

/**
 * Writes a failure in its one form on stderr: the message, its details, and
 * what to do next. Anything but a CliError is a bug and says so.
 */
export async function writeError(output: Output, error: unknown): Promise<void> {
  const known = error instanceof CliError ? error : undefined;
  const message = known?.message ?? `unexpected: ${String(error)}`;
  await output.error(neutraliseLine(message));
  for (const detail of known?.details ?? []) await output.problem("  ", neutraliseLine(detail));
  const hints = known?.hints ?? ["this is a bug in knowctl; run again with --debug and report it"];
  for (const hint of hints) await output.problem("  → ", neutraliseLine(hint));
  // GitHub shows it with the run; that there is work to do is no failure.
  if (known?.exit !== "changes") {
    await output.annotate({ level: "error", title: "knowctl", message: neutraliseLine(message) });
  }
  if (output.debug && error instanceof Error) await output.problem(dim(error.stack ?? ""));
}
