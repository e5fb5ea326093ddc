import { spawn, type ChildProcessByStdio } from "node:child_process";
import { parse } from "node:path";
import type { Readable } from "node:stream";
import { CliError, codeOf, messageOf, fileProblem } from "../errors.ts";

/**
 * `key=value` for `git -c`. A repository's own configuration can name programs that
 * git starts. These settings disable every such program that the commands used here
 * could start (git-config(1)). openRepository() disables filters, whose names vary.
 * An empty core.fsmonitor is off in every version; before git 2.36, `false` was
 * the name of a program.
 */
const fixedSettings = [
  "core.fsmonitor=",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "core.sshCommand=false",
  "core.askPass=",
  "credential.helper=",
  "diff.external=",
  "diff.relative=false",
  "log.showSignature=false",
  "log.showRoot=true",
  "log.follow=false",
  "protocol.allow=never",
];

const fixedEnvironment = {
  // Callers match git's English messages.
  LC_ALL: "C",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  // Overrides every protocol.*.allow of the repository; no protocol has this name.
  GIT_ALLOW_PROTOCOL: "none",
};

/**
 * Environment for git: the caller's, without its GIT_ variables. A GIT_ variable could
 * select another repository, index, configuration or program.
 */
export function gitEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(git_|lc_all$)/i.test(entry[0]),
  );
  return { ...Object.fromEntries(kept), ...fixedEnvironment };
}

/** How git is called in one folder. Plain data. */
export interface Git {
  /** Absolute path; git runs as if started here. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** `key=value` for `git -c`, in addition to the fixed settings. */
  readonly settings: readonly string[];
}

export interface RunOptions {
  signal?: AbortSignal | undefined;
}

/** Result of a command with short output. `code` is null when git was killed. */
interface GitResult {
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
    // Windows searches git.exe in the working directory first, and a project may contain one.
    cwd: parse(git.folder).root,
    env: git.env,
    shell: false,
    stdio: ["ignore", "pipe", "pipe"],
    windowsHide: true,
    ...(signal && { signal }),
  });
}

/** git's own reason as one line for a message, without control characters. */
export function reasonIn(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "");
  const line = lines.find((each) => /^(fatal|error):/.test(each)) ?? lines[0] ?? "no reason given";
  const clean = line.replace(/^(fatal|error): */, "").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
  // Cut between words: redaction cannot recognise a part of a key.
  if (clean.length <= 300) return clean;
  const words = clean.slice(0, 300).replace(/\S*$/, "").trim();
  return words === "" ? "the reason is too long to be shown" : `${words} …`;
}

function startFailure(error: unknown): CliError {
  const code = codeOf(error);
  if (code === "ENOENT" || code === "EACCES") {
    return new CliError(
      "usage",
      `git cannot be started: ${code === "ENOENT" ? "it is not in PATH" : fileProblem(code)}`,
      {
        hints: ["install git and add it to PATH, or omit the options that need git"],
        cause: error,
      },
    );
  }
  return new CliError("local", `git cannot be started: ${fileProblem(code ?? messageOf(error))}`, {
    hints: ["run `git --version` to see the reason, or omit the options that need git"],
    cause: error,
  });
}

interface Ending {
  code: number | null;
  stderr: string;
  error?: unknown;
}

function endingOf(child: Child): Promise<Ending> {
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    // Keep reading after the limit: git would block on a full pipe.
    if (stderr.length < maxStderrChars) stderr += text.slice(0, maxStderrChars);
  });
  return new Promise((done) => {
    let error: unknown;
    child.on("error", (cause) => {
      error = cause;
      // No process was started, so "close" will not follow.
      if (child.pid === undefined) done({ code: null, stderr, error });
    });
    child.on("close", (code) => done({ code, stderr, error }));
  });
}

/**
 * Streams git's output as text. The process ends when the reader stops.
 * `onEnd` receives the exit code and stderr, and may throw. Throws CliError `usage`
 * when git cannot be started, and the signal's reason when aborted.
 */
async function* streamText(
  git: Git,
  args: readonly string[],
  options: RunOptions,
  onEnd: (ending: Ending) => void,
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
    onEnd(ended);
  } catch (error) {
    // The pipe of a killed process breaks before the signal's own error arrives.
    signal?.throwIfAborted();
    throw error;
  } finally {
    child.kill();
  }
}

/**
 * Runs a command with short output. Does not throw on any exit code. Throws CliError
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
      throw new CliError("usage", `git ${args[0] ?? ""} printed more than 1 MiB`);
    }
  }
  return { ...result, stdout };
}

/**
 * Runs a command with NUL-terminated output and yields its parts in batches. The
 * process ends when the reader stops. Invalid UTF-8 becomes U+FFFD.
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
      throw new CliError("usage", `git ${args[0] ?? ""} printed a name longer than 1 MiB`);
    }
    if (parts.length > 0) yield parts;
  }
}
