import type { core } from "zod/mini";
/**
 * The only table of exit codes. The help, the manual and the JSON Schemas have them from here. Every
 * failure ends with one of its names.
 */
export const exitCodes = {
  ok: { code: 0, when: "all that was asked for is done" },
  failure: { code: 1, when: "unexpected: a bug, please report it" },
  usage: {
    code: 2,
    when: "bad flag, argument or input file, a value that the service refuses, wrong Node version; nothing was stored",
  },
  "not-configured": {
    code: 3,
    when: "no profile, base URL or key; a broken, untrusted or unsafe configuration",
  },
  auth: { code: 4, when: "401 or 403: the key or a permission" },
  unreachable: { code: 5, when: "DNS, connection, TLS, proxy" },
  "rate-limited": { code: 6, when: "429 after all retries" },
  timeout: { code: 7, when: "connect, response or idle timeout" },
  "server-error": {
    code: 8,
    when: "5xx after all retries, or a reply that is not what the interface promises",
  },
  "not-found": {
    code: 9,
    when: "the thing looked up does not exist, or a name is ambiguous; endpoint missing",
  },
  partial: { code: 10, when: "some documents (or checks) succeeded, some failed" },
  incomplete: { code: 11, when: "an answer that was cut, damaged or empty" },
  changes: {
    code: 12,
    when: "`ingest --dry-run --exit-code` or `status --exit-code` found work to do",
  },
  "checks-failed": { code: 13, when: "`verify` or another check ran and found failures" },
  local: {
    code: 14,
    when: "state, lock, disk, closed or full stdout, or a file of the tool's own",
  },
  hangup: { code: 129, when: "interrupted by SIGHUP" },
  interrupted: { code: 130, when: "interrupted by Ctrl-C (SIGINT)" },
  terminated: { code: 143, when: "interrupted by SIGTERM" },
} as const;

export type ExitName = keyof typeof exitCodes;

export interface CliErrorOptions {
  /** Next steps for the user; one line each. */
  hints?: readonly string[] | undefined;
  /** Further lines of the message, e.g. the candidates of an ambiguous name. */
  details?: readonly string[] | undefined;
  /** No later attempt of this process can succeed: it cannot use the records or what is installed. */
  isLasting?: boolean | undefined;
  cause?: unknown;
}

/**
 * A failure with a known cause. `message` is one line: what failed, where (file,
 * URL, id) and why. Anything thrown that is not a CliError is a bug.
 */
export class CliError extends Error {
  readonly exit: ExitName;
  readonly hints: readonly string[];
  readonly details: readonly string[];
  readonly isLasting: boolean;

  constructor(exit: ExitName, message: string, options: CliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CliError";
    this.exit = exit;
    this.hints = options.hints ?? [];
    this.details = options.details ?? [];
    this.isLasting = options.isLasting ?? false;
  }
}

export function usageError(message: string, ...hints: (string | undefined)[]): CliError {
  return new CliError("usage", message, { hints: hints.filter((each) => each !== undefined) });
}

export interface ApiErrorOptions extends CliErrorOptions {
  method: string;
  /** Full URL without credentials. */
  url: string;
  /** HTTP status; absent when there was no response. */
  status?: number | undefined;
  /** The service's own error code (`CONNECTOR_NOT_FOUND`) or a transport code (`ECONNREFUSED`). */
  code?: string | undefined;
  /** Whether sending the same request again may succeed. */
  retryable?: boolean | undefined;
}

/** A request that failed or whose response breaks the interface. */
export class ApiError extends CliError {
  readonly method: string;
  readonly url: string;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly retryable: boolean;

  constructor(exit: ExitName, message: string, options: ApiErrorOptions) {
    super(exit, message, options);
    this.name = "ApiError";
    this.method = options.method;
    this.url = options.url;
    this.status = options.status;
    this.code = options.code;
    this.retryable = options.retryable ?? false;
  }
}

/**
 * The exit name of what a command threw; `ok` for nothing, and where the reader of stdout has gone.
 * An aborted `signal` has a reason with an exit name of its own.
 */
export function exitOf(error: unknown, signal: AbortSignal): ExitName {
  if (error === undefined || error instanceof ClosedPipeError) return "ok";
  const isAbort = error instanceof Error && error.name === "AbortError";
  if (signal.aborted && (error === signal.reason || isAbort)) {
    return (signal.reason as { exit?: ExitName }).exit ?? "failure";
  }
  return error instanceof CliError ? error.exit : "failure";
}

/** The same failure of a request in other words: `error` becomes its cause. */
export function reworded(error: ApiError, message: string, hints = error.hints): ApiError {
  const { exit, method, url, status, code, details, retryable } = error;
  const more = { method, url, status, code, details, hints, retryable, cause: error };
  return new ApiError(exit, message, more);
}

/** The reader of stdout closed the pipe (`| head`): commands end quietly with exit 0. */
export class ClosedPipeError extends Error {
  constructor() {
    super("the reader of the output closed the pipe");
    this.name = "ClosedPipeError";
  }
}

/** Converts an error of an output stream; without one, stdout was closed before the start. */
export function outputFailure(error?: Error): ClosedPipeError | CliError {
  if (!error) {
    return new CliError("local", "cannot write the output: stdout is closed", {
      hints: ["redirect stdout to a file, or to /dev/null to discard the output"],
    });
  }
  const code = codeOf(error);
  if (code === "EPIPE" || code === "ERR_STREAM_DESTROYED") return new ClosedPipeError();
  const why = code === undefined ? error.message : writeProblem(code);
  return new CliError("local", `cannot write the output: ${why}`, {
    cause: error,
    hints: ["check the disk or the reader of the output, then run the command again"],
  });
}

/** Text of any thrown value, for messages about causes. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `code` of a Node system error (`ENOENT`), if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

const fileProblems: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  ENAMETOOLONG: "no such file",
  ELOOP: "a symbolic link in a loop",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "it is too large",
  ERR_FS_FILE_TOO_LARGE: "it is too large",
  ERR_STRING_TOO_LONG: "it is too large",
  EIO: "the disk failed",
  EBUSY: "another program uses it",
  ETXTBSY: "another program uses it",
  EMFILE: "too many open files",
  ENFILE: "too many open files",
  ENXIO: "it is not a regular file",
};

const writeProblems: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  ENOTDIR: "a part of its path is not a folder",
  EEXIST: "it exists already",
  ENOTEMPTY: "it is a folder that is not empty",
  ENAMETOOLONG: "its name is too long",
};

const isSystemCode = (code: string): boolean => /^E[A-Z0-9]+$/.test(code);

/** Why a file cannot be read, by the code of the error; other words stay as they are. */
export function fileProblem(code = "unknown failure"): string {
  return fileProblems[code] ?? (isSystemCode(code) ? `the system reports ${code}` : code);
}

/** Why a file or a folder cannot be written, by the code of the error. */
export function writeProblem(code?: string): string {
  return writeProblems[code ?? ""] ?? fileProblem(code);
}

/** Words for an error of the system; other messages, for example SQLite's, are words already. */
export function writeReason(error: unknown): string {
  const code = codeOf(error) ?? "";
  return isSystemCode(code) ? writeProblem(code) : messageOf(error);
}

/** Hint for "too many open files". */
export const openFilesHint = "raise the limit of this shell (`ulimit -n`), or lower --concurrency";

/**
 * Whether the process or the machine reached its limit of open files. The file that could not be
 * opened is not at fault.
 */
export function isOutOfFiles(error: unknown): boolean {
  const code = codeOf(error);
  return code === "EMFILE" || code === "ENFILE";
}

/** A failure of one file or row as one line: the message and its hints. */
export function reasonOf(error: CliError): string {
  return [error.message, ...error.hints].join("; ");
}

const typeNames: Readonly<Record<string, string>> = {
  int: "whole number",
  array: "list",
  record: "object",
};

// Of the library: without a language, and in English, which another part of a program may load.
const generalMessage = /^(?:Invalid |Too (?:big|small)|Unrecognized key)/;

/**
 * What is wrong with a value, by the issue of its schema, which has no words of its own. `found` is the
 * type of the value. Never the value itself: it may be a secret.
 */
export function issueText(issue: core.$ZodIssue, found?: string): string {
  if (!generalMessage.test(issue.message)) return issue.message;
  if (issue.code === "invalid_type") {
    const expected = `expected ${typeNames[issue.expected] ?? issue.expected}`;
    return found === undefined ? expected : `${expected}, found ${found}`;
  }
  if (issue.code === "invalid_value")
    return `expected one of ${issue.values.map(String).join(", ")}`;
  if (issue.code === "too_small") {
    return issue.origin === "number" ? `expected at least ${issue.minimum}` : "may not be empty";
  }
  if (issue.code === "too_big") {
    const unit =
      issue.origin === "string" ? " characters" : issue.origin === "array" ? " elements" : "";
    return `expected at most ${issue.maximum}${unit}`;
  }
  if (issue.code === "unrecognized_keys") return `unknown ${issue.keys.slice(0, 3).join(", ")}`;
  return issue.code === "invalid_union" ? "it has none of the allowed forms" : "it is not valid";
}
