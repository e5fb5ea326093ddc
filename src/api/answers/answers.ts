import { ApiError, type ExitName } from "../../errors.ts";
import type { OutcomeKind } from "../retry/pace.ts";
import { isObject } from "../chat/common-lines.ts";
import { nestsTooDeep } from "./redaction.ts";
import type { Answer } from "../transport/exchange.ts";
import { readFault } from "../transport/faults.ts";
import { header } from "../transport/headers.ts";
import type { FaultKind } from "../retry/policy.ts";
import {
  describeIssues,
  type Shape,
  shorten,
  readServiceWords,
  type ServiceWords,
} from "./words.ts";
import {
  exitOfStatus,
  hintsForStatus,
  isRetryable,
  outcomeOfStatus,
  type KeyUsed,
  hintForUnknown,
} from "./status.ts";
import { parseRetryAfter } from "../retry/timing.ts";

/** The request, for messages: `list connectors: GET https://… `. */
export interface Question extends KeyUsed {
  what: string;
  method: string;
  url: string;
}

/** A failed attempt: input for the retry table, and the error to throw after the last attempt. */
export interface Failure {
  kind: FaultKind;
  /** Outcome to report to the gate. */
  outcome: OutcomeKind;
  status?: number | undefined;
  code?: string | undefined;
  retryAfterMs?: number | undefined;
  error: ApiError;
}

export type Result<T> = { ok: true; value: T } | { ok: false; failure: Failure };

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

/** The failure of a transport error. Rethrows any other error (an abort, a bug). */
export function failureOfFault(question: Question, error: unknown, unsent: boolean): Failure {
  const fault = readFault(error, unsent);
  if (!fault) throw error;
  const { kind, exit, code, words } = fault;
  const isLocal = /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(question.url);
  const startIt = "to try things on this machine, start a service with `knowctl sandbox`";
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

/** The failure of a response that violates the interface. */
export function unexpected(question: Question, status: number, words: string): Failure {
  return toFailure(question, {
    kind: "shape",
    outcome: "unexpected",
    exit: "server-error",
    status,
    words,
    hints: [checkBaseUrl],
  });
}

/** The failure of a redirect, which is never followed. */
export function redirected(question: Question, answer: Answer): Failure {
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
    words: `the response is a redirect to ${where}, which is not followed`,
    hints: [hint],
  });
}

/** The failure of a response with an error status. */
export function refused(question: Question, answer: Answer, now: number): Failure {
  const { status, headers } = answer;
  const coding = header(headers, "content-encoding");
  const readable = coding === undefined || coding === "identity";
  const contentType = header(headers, "content-type") ?? "";
  const words: ServiceWords = readable
    ? readServiceWords(answer.body, contentType, status)
    : { text: `a response in ${shorten(coding, 40)} coding` };
  const { text, code, isPage = false } = words;
  // A fault of the service may quote anything.
  const unknown = status < 500 && !isPage ? hintForUnknown(code, text) : undefined;
  return toFailure(question, {
    kind: "status",
    outcome: outcomeOfStatus(status),
    exit: unknown === undefined ? exitOfStatus(status, isPage) : "not-found",
    status,
    code,
    retryAfterMs: parseRetryAfter(header(headers, "retry-after"), header(headers, "date"), now),
    retryable: isRetryable(status),
    words: text === "" ? "no reason given" : text,
    hints: unknown === undefined ? hintsForStatus(question, status, words) : [unknown],
  });
}

/** The failure of a response by status, coding or content type; undefined if these are right. */
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
    return unexpected(question, status, `unexpected response (${shorten(coding, 40)} coding)`);
  }
  const contentType = header(headers, "content-type") ?? "no content type";
  if (accepts.test(contentType)) return undefined;
  return unexpected(question, status, `unexpected response (${shorten(contentType, 80)})`);
}

const json = /^application\/(?:[\w.-]+\+)?json\b/i;

/** Parses a whole response: status 200, JSON, and of the given shape. */
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
    // Not the parser's message: it quotes the response.
    const words = answer.body.length === 0 ? "an empty response" : "a response that is not JSON";
    return { ok: false, failure: unexpected(question, answer.status, words) };
  }
  if (nestsTooDeep(value, text)) {
    return {
      ok: false,
      failure: unexpected(question, answer.status, "a response nested too deep"),
    };
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const said = isObject(value) ? readServiceWords(answer.body, "", answer.status).text : "";
  const more = said === "" ? "" : `; the message is: ${said}`;
  const words = `unexpected response: ${describeIssues(parsed.error.issues)}${more}`;
  return { ok: false, failure: unexpected(question, answer.status, words) };
}
