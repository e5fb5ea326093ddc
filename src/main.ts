import type { Context } from "./context.ts";
import {
  ClosedPipeError,
  exitCodes,
  CliError,
  exitOf,
  isOutOfFiles,
  openFilesHint,
} from "./errors.ts";
import { runProgram } from "./cli/program.ts";

/** Converts "too many open files", which any code may throw, even loading a module. */
function toReported(error: unknown): unknown {
  if (!isOutOfFiles(error)) return error;
  return new CliError("local", "too many open files", {
    hints: [openFilesHint],
    cause: error,
  });
}

async function writeFailure(
  error: unknown,
  argv: readonly string[],
  context: Context,
): Promise<number> {
  if (error instanceof ClosedPipeError) return exitCodes.ok.code;
  const { createOutput } = await import("./output/terminal/output.ts");
  const debug =
    argv.includes("--debug") || /^(?:1|true|yes|on)$/i.test(context.env["KNOWCTL_DEBUG"] ?? "");
  const output = createOutput(context, { debug, color: !argv.includes("--no-color") });
  const exit = exitOf(error, context.signal);
  const reason = context.signal.reason as { message: string; exit: keyof typeof exitCodes };
  if (context.signal.aborted && exit === reason.exit) await output.problem(reason.message);
  else {
    const { writeError } = await import("./output/terminal/output.ts");
    await writeError(output, error);
  }
  return exitCodes[exit].code;
}

/**
 * Runs one command line (without node and script) and returns its exit code.
 * The only place that turns an error into text and an exit code.
 */
export async function main(argv: readonly string[], context: Context): Promise<number> {
  try {
    const help = await runProgram(argv, context);
    await context.stdout.write(help);
    return exitCodes.ok.code;
  } catch (thrown) {
    const error = toReported(thrown);
    try {
      return await writeFailure(error, argv, context);
    } catch {
      // stderr itself is closed: only the exit code is left.
      return exitCodes[error instanceof CliError ? error.exit : "failure"].code;
    }
  }
}
