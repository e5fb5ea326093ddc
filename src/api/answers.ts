import type * as z from "zod/mini";
import { ApiError, exitNameForStatus, type ExitName } from "../errors.ts";
import type { OutcomeKind } from "./breaker.ts";
import { nestsTooDeep } from "./depth.ts";
import type { Answer } from "./exchange.ts";
import type { Headers } from "./watch.ts";
import { readFault } from "./faults.ts";
import type { FaultKind } from "./policy.ts";
import { parseRetryAfter } from "./timing.ts";
import { readServiceWords, shorten } from "./words.ts";

/** What is asked, for messages: `list connectors: GET https://… `. */
export interface Question {
  what: string;
  method: string;
  url: string;
  /** Which key the request carries, for the hint after a refusal; `shared` serves as both. */
  key: "accessToken" | "apiKey" | "shared";
}

/** An attempt that failed: what the retry table needs, and the error if it is the last one. */
export interface Failure {
  kind: FaultKind;
  /** What it tells the gate. */
  outcome: OutcomeKind;
  status?: number | undefined;
  code?: string | undefined;
  retryAfterMs?: number | undefined;
  error: ApiError;
}

export type Result<T> = { ok: true; value: T } | { ok: false; failure: Failure };

export function header(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

interface Problem {
  kind: FaultKind;
  outcome: OutcomeKind;
  exit: ExitName;
  words: string;
  hints?: readonly string[];
  status?: number | undefined;
  code?: string | undefined;
  retryAfterMs?: number | undefined;
  retryable?: boolean;
  cause?: unknown;
}

function toFailure(question: Question, problem: Problem): Failure {
  const { kind, outcome, status, code, retryAfterMs, hints, cause } = problem;
  const { method, url } = question;
  const error = new ApiError(
    problem.exit,
    `${question.what}: ${method} ${url}: ${status === undefined ? "" : `${status}: `}${problem.words}`,
    { method, url, status, code, hints, cause, retryable: problem.retryable ?? false },
  );
  return { kind, outcome, status, code, retryAfterMs, error };
}

/** The failure that a transport error is; throws it on when it is none (an abort, a bug). */
export function failureOfFault(question: Question, error: unknown, unsent: boolean): Failure {
  const fault = readFault(error, unsent);
  if (!fault) throw error;
  const { kind, exit, code, words } = fault;
  const isLocal = /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(question.url);
  const startIt = "on this machine `knowctl sandbox` starts a service to try things on";
  const hints = code === "ECONNREFUSED" && isLocal ? [...fault.hints, startIt] : fault.hints;
  return toFailure(question, {
    kind,
    exit,
    code,
    words,
    hints,
    outcome: kind === "timeout" ? "timeout" : "connection",
    retryable: kind !== "fatal",
    cause: error,
  });
}

const checkBaseUrl = "check the base URL: it should be the address of the service itself";

/** An answer that is not what the interface promises. */
function unexpected(question: Question, status: number, words: string): Failure {
  return toFailure(question, {
    kind: "shape",
    outcome: "unexpected",
    exit: "server-error",
    status,
    words,
    hints: [checkBaseUrl],
  });
}

function redirected(question: Question, answer: Answer): Failure {
  const location = header(answer.headers, "location") ?? "";
  const target = URL.canParse(location, question.url) ? new URL(location, question.url) : undefined;
  const { origin } = new URL(question.url);
  const where = target ? shorten(target.origin + target.pathname, 200) : "nowhere";
  const hint =
    target && target.origin !== origin
      ? `if ${shorten(target.origin, 200)} is the right service, set baseUrl to it`
      : checkBaseUrl;
  return toFailure(question, {
    kind: "fatal",
    outcome: "refused",
    exit: "server-error",
    status: answer.status,
    words: `the answer is a redirect to ${where}, which is not followed`,
    hints: [hint],
  });
}

const keyNames = {
  accessToken: "the access token (accessToken, KNOWCTL_ACCESS_TOKEN)",
  apiKey: "the API key (apiKey, KNOWCTL_API_KEY)",
  shared: "the key (apiKey or accessToken, KNOWCTL_API_KEY or KNOWCTL_ACCESS_TOKEN)",
};

function hintsForStatus(question: Question, status: number, code: string | undefined): string[] {
  if (status === 401 || status === 403) {
    const key = keyNames[question.key];
    return /PERMISSION|ADMIN|UNAUTHORIZED|EE_REQUIRED/.test(code ?? "")
      ? [`the service knows ${key} but it lacks the permission; ask an administrator for it`]
      : [
          `the service does not accept ${key}, or it lacks the permission; see where it comes from with \`knowctl config show --origin\`, or store another with \`knowctl login\``,
        ];
  }
  if (status === 404 || status === 405) return ["check the base URL and --dialect"];
  if (status === 429) return ["try again later, or send less at once (--concurrency, --rate)"];
  if (status >= 500) return ["the service has a fault; try again later"];
  return [];
}

const retryableStatuses = new Set([408, 409, 425, 429]);

function outcomeOfStatus(status: number): OutcomeKind {
  if (status === 429 || status === 503) return "throttled";
  return status >= 500 ? "broken" : "refused";
}

function refused(question: Question, answer: Answer, now: number): Failure {
  const { status, headers } = answer;
  const coding = header(headers, "content-encoding");
  const readable = coding === undefined || coding === "identity";
  const contentType = header(headers, "content-type") ?? "";
  const words = readable
    ? readServiceWords(answer.body, contentType, status)
    : { text: `an answer in ${shorten(coding, 40)} coding` };
  return toFailure(question, {
    kind: "status",
    outcome: outcomeOfStatus(status),
    exit: exitNameForStatus(status),
    status,
    code: words.code,
    retryAfterMs: parseRetryAfter(header(headers, "retry-after"), header(headers, "date"), now),
    retryable: (status >= 500 && status !== 501 && status !== 505) || retryableStatuses.has(status),
    words: words.text === "" ? "no reason given" : words.text,
    hints: hintsForStatus(question, status, words.code),
  });
}

/** Why the answer cannot be taken, judged by status, coding and content type; undefined if it can. */
export function judgeHead(
  question: Question,
  answer: Answer,
  now: number,
  accepts: RegExp,
): Failure | undefined {
  const { status, headers } = answer;
  if (status >= 300 && status < 400) return redirected(question, answer);
  if (status !== 200) {
    return status > 200 && status < 300
      ? unexpected(question, status, "unexpected status")
      : refused(question, answer, now);
  }
  const coding = header(headers, "content-encoding");
  if (coding !== undefined && coding !== "identity") {
    return unexpected(question, status, `unexpected answer (${shorten(coding, 40)} coding)`);
  }
  const contentType = header(headers, "content-type") ?? "no content type";
  if (accepts.test(contentType)) return undefined;
  return unexpected(question, status, `unexpected answer (${shorten(contentType, 80)})`);
}

/** What checks a parsed answer: a zod schema, or something cheaper in front of one. */
export interface Shape<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: readonly z.core.$ZodIssue[] } };
}

const json = /^application\/(?:[\w.-]+\+)?json\b/i;

function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const shown = issues.slice(0, 3).map((issue) => {
    const place = issue.path.map(String).join(".");
    const problem = issue.code === "invalid_type" ? `expected ${issue.expected}` : issue.message;
    return shorten(place === "" ? problem : `${place}: ${problem}`, 160);
  });
  return shown.join("; ") + (issues.length > 3 ? ` (and ${issues.length - 3} more)` : "");
}

/** Reads a whole answer: 200, JSON, and of the given shape. */
export function readAnswer<T>(
  question: Question,
  answer: Answer,
  shape: Shape<T>,
  now: number,
): Result<T> {
  const rejected = judgeHead(question, answer, now, json);
  if (rejected) return { ok: false, failure: rejected };
  const text = answer.body.toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the answer.
    const words = answer.body.length === 0 ? "an empty answer" : "an answer that is not JSON";
    return { ok: false, failure: unexpected(question, answer.status, words) };
  }
  if (nestsTooDeep(value, text)) {
    return { ok: false, failure: unexpected(question, answer.status, "an answer nested too deep") };
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const words = `unexpected answer: ${describeIssues(parsed.error.issues)}`;
  return { ok: false, failure: unexpected(question, answer.status, words) };
}
