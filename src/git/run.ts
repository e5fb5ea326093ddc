import { spawn, type ChildProcessByStdio } from "node:child_process";
import { parse } from "node:path";
import type { Readable } from "node:stream";
import { CliError, codeOf, messageOf } from "../errors.ts";
import { fixedSettings } from "./environment.ts";

/** How git is called in one folder. Plain data. */
export interface Git {
  /** Absolute path; git starts as if in there. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** `key=value` for `git -c`, beyond the fixed ones. */
  readonly settings: readonly string[];
}

export interface RunOptions {
  signal?: AbortSignal | undefined;
}

/** What a short command printed. `code` is null when git was killed. */
export interface GitResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

const maxStdoutChars = 1024 * 1024;
const maxStderrChars = 4096;

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start(git: Git, args: readonly string[], signal: AbortSignal | undefined): Child {
  const settings = [...fixedSettings, ...git.settings].flatMap((each) => ["-c", each]);
  return spawn("git", ["--no-pager", "-C", git.folder, ...settings, ...args], {
    // Windows looks for git.exe in the working directory first, and that may hold anything.
    cwd: parse(git.folder).root,
    env: git.env,
    shell: false,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
    ...(signal && { signal }),
  });
}

/** One line that is fit for a message: the reason git gave, without control characters. */
export function reasonIn(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const line = lines.find((each) => /^(fatal|error):/.test(each)) ?? lines[0] ?? "no reason given";
  const clean = line.replace(/^(fatal|error): */, "").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
  // Cut between words: the part of a key that a cut leaves could not be told from other text.
  if (clean.length <= 300) return clean;
  const words = clean.slice(0, 300).replace(/\S*$/, "").trim();
  return words === "" ? "the reason is too long to be shown" : `${words} …`;
}

function startFailure(error: unknown): CliError {
  const code = codeOf(error);
  if (code === "ENOENT" || code === "EACCES") {
    return new CliError("usage", `git cannot be started: ${code}`, {
      hints: ["install git and see that it is on PATH, or leave out the options that need it"],
      cause: error,
    });
  }
  return new CliError("local", `git cannot be started: ${messageOf(error)}`, { cause: error });
}

interface Ending {
  code: number | null;
  stderr: string;
  error?: unknown;
}

function endingOf(child: Child): Promise<Ending> {
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    // Read to its end, or git would block, but not kept to its end.
    if (stderr.length < maxStderrChars) stderr += text.slice(0, maxStderrChars);
  });
  return new Promise((done) => {
    let error: unknown;
    child.on("error", (cause) => {
      error = cause;
      // Nothing was started, so nothing will close.
      if (child.pid === undefined) done({ code: null, stderr, error });
    });
    child.on("close", (code) => done({ code, stderr, error }));
  });
}

/**
 * Output of git as text, as it comes; the process ends when the reader stops.
 * Throws CliError `usage` when git cannot be started or ends with a code that
 * `mayEnd` does not take, and the signal's reason when aborted.
 */
async function* streamText(
  git: Git,
  args: readonly string[],
  options: RunOptions,
  end: (ending: Ending) => void,
): AsyncGenerator<string> {
  const { signal } = options;
  signal?.throwIfAborted();
  const child = start(git, args, signal);
  const ending = endingOf(child);
  try {
    if (child.pid !== undefined) {
      for await (const text of child.stdout.setEncoding("utf8")) yield text as string;
    }
    const ended = await ending;
    signal?.throwIfAborted();
    if (ended.error !== undefined) throw startFailure(ended.error);
    end(ended);
  } catch (error) {
    // The pipe of a killed process breaks before the signal's own error arrives.
    signal?.throwIfAborted();
    throw error;
  } finally {
    child.kill();
  }
}

/**
 * Runs a command with short output. Any exit code is a result. Throws CliError
 * when git cannot be started or prints more than a mebibyte, and the signal's
 * reason when aborted.
 */
export async function runGit(
  git: Git,
  args: readonly string[],
  options: RunOptions = {},
): Promise<GitResult> {
  let stdout = "";
  const result: GitResult = { code: null, stdout, stderr: "" };
  const end = ({ code, stderr }: Ending): void => void Object.assign(result, { code, stderr });
  for await (const text of streamText(git, args, options, end)) {
    stdout += text;
    if (stdout.length > maxStdoutChars) {
      throw new CliError("usage", `git ${args[0] ?? ""} printed more than can be right`);
    }
  }
  return { ...result, stdout };
}

/**
 * Runs a command with NUL-terminated output and gives its parts in batches; the
 * process ends when the reader stops. Bytes that are no UTF-8 become U+FFFD.
 * Throws CliError `usage` when git fails, and the signal's reason when aborted.
 */
export async function* streamGit(
  git: Git,
  args: readonly string[],
  options: RunOptions = {},
): AsyncGenerator<string[]> {
  let rest = "";
  const end = ({ code, stderr }: Ending): void => {
    if (code === 0) return;
    throw new CliError("usage", `git ${args[0] ?? ""} failed: ${reasonIn(stderr)}`);
  };
  for await (const text of streamText(git, args, options, end)) {
    const parts = (rest + text).split("\0");
    rest = parts.pop() ?? "";
    if (rest.length > maxStdoutChars) {
      throw new CliError("usage", `git ${args[0] ?? ""} printed a name that has no end`);
    }
    if (parts.length > 0) yield parts;
  }
}
