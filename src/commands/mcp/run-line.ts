import { Readable } from "node:stream";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context, Sink } from "../../context.ts";
import { CliError, type ExitName } from "../../errors.ts";
import { createOutput, writeError } from "../../output/terminal/output.ts";
import type { RunLine } from "../try/try.ts";

/** What a command line of a tool gave. */
export interface LineResult {
  exit: ExitName;
  /** stdout. */
  text: string;
  /** stderr: notes, warnings, and the error with its hints. */
  notes: readonly string[];
}

/**
 * Runs a command line for a tool. `signal` is that of the call.
 * `onNote` receives each line of stderr at once.
 */
export type RunTool = (
  argv: readonly string[],
  signal: AbortSignal,
  onNote: (line: string) => void,
) => Promise<LineResult>;

// A result is cut to what an agent can read; this bounds what is held for it.
const mostChars = 32 * 1024 * 1024;
const mostNotes = 50;

/** The global flags of the server as arguments of a command line. */
function globalArguments(flags: GlobalFlags): string[] {
  const { profile, config, baseUrl, dialect, timeout, caFile, clientCert, clientKey, proxy } =
    flags;
  const named = {
    profile,
    config,
    "base-url": baseUrl,
    dialect,
    timeout,
    "ca-file": caFile,
    "client-cert": clientCert,
    "client-key": clientKey,
    proxy,
  };
  // With "=": a value may begin with a dash.
  return Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
}

/** A stream that is no terminal, and what is written to it. */
export function collector(onText: (text: string) => void): Sink {
  const decoder = new TextDecoder();
  return {
    isTTY: false,
    columns: () => 80,
    async write(text) {
      onText(typeof text === "string" ? text : decoder.decode(text, { stream: true }));
    },
  };
}

/** The same, line by line, without empty lines. */
export function collectLines(onLine: (line: string) => void): Sink {
  let rest = "";
  return collector((text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") onLine(line);
  });
}

/**
 * Returns a RunTool that runs command lines in this process, in the folder `root`, without a terminal
 * and without input. A failed command is a result with its exit, no exception.
 */
export function createRunTool(
  context: Context,
  flags: GlobalFlags,
  root: string,
  runLine: RunLine,
): RunTool {
  const passed = [...globalArguments(flags), `--root=${root}`, "--no-input", "--no-color"];
  return async (argv, signal, onNote) => {
    let text = "";
    let isTooLong = false;
    const notes: string[] = [];
    const inner: Context = {
      ...context,
      cwd: root,
      // Annotations of a pipeline would stand in the results.
      env: { ...context.env, GITHUB_ACTIONS: undefined },
      stdin: { isTTY: false, stream: Readable.from([]), async *[Symbol.asyncIterator]() {} },
      stdout: collector((part) => {
        if (text.length + part.length > mostChars) isTooLong = true;
        else text += part;
      }),
      stderr: collectLines((line) => {
        if (notes.length < mostNotes) notes.push(line);
        onNote(line);
      }),
      terminal: () => undefined,
      signal,
    };
    const [command = "", ...rest] = argv;
    let exit: ExitName = "ok";
    try {
      await runLine([command, ...passed, ...rest], inner);
      if (isTooLong)
        throw new CliError("local", `the result has more than ${mostChars} characters`);
    } catch (error) {
      exit = error instanceof CliError ? error.exit : "failure";
      await writeError(createOutput(inner, {}), error);
    }
    return { exit, text: isTooLong ? "" : text, notes };
  };
}
