import type { Context } from "./context.ts";
import { ClosedPipeError, exitCodes, CliError, isOutOfFiles, openFilesHint } from "./errors.ts";
import { runProgram } from "./program.ts";

function isSignal(error: unknown, context: Context): boolean {
  if (!context.signal.aborted) return false;
  if (error === context.signal.reason) return true;
  return error instanceof Error && error.name === "AbortError";
}

/** The error as it is told: a lack of open files may come from anywhere, loading a module included. */
function toTold(error: unknown): unknown {
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
  if (isSignal(error, context)) {
    const reason = context.signal.reason as { message: string; exit: keyof typeof exitCodes };
    await output.problem(reason.message);
    return exitCodes[reason.exit].code;
  }
  const { writeError } = await import("./output/terminal/errors.ts");
  await writeError(output, error);
  return exitCodes[error instanceof CliError ? error.exit : "failure"].code;
}

/**
 * Runs one command line (without node and script) and returns its exit code.
 * The only place where an error becomes text and a code.
 */
export async function main(argv: readonly string[], context: Context): Promise<number> {
  try {
    const help = await runProgram(argv, context);
    await context.stdout.write(help);
    return exitCodes.ok.code;
  } catch (thrown) {
    const error = toTold(thrown);
    try {
      return await writeFailure(error, argv, context);
    } catch {
      // stderr itself is gone: the code is all that is left to say.
      return exitCodes[error instanceof CliError ? error.exit : "failure"].code;
    }
  }
}
