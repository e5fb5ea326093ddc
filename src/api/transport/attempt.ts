import { ApiError } from "../../errors.ts";
import { failureOfFault, type Failure, type Question, type Result } from "../answers/answers.ts";
import { toExchange, urlOf, type Call, type Wire } from "../call.ts";
import { isUnsent } from "./connector.ts";
import { allHeaders, header, type Headers } from "./headers.ts";
import type { Exchange } from "./watch.ts";
import { explainWithoutApi } from "./without-api.ts";
import { policies, type CallPolicy } from "../retry/policy.ts";
import { retrying } from "../retry/retry.ts";

const secretHeaders = /^(?:authorization|cookie|set-cookie|proxy-authorization|x-api-key)$/;

/** Replaces the values of headers that may hold a key: by name, and those of the profile (`own`). */
export function withoutSecrets<T extends string | string[]>(
  headers: Record<string, T>,
  own: Readonly<Record<string, string>> = {},
): Record<string, T> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    secretHeaders.test(name) || Object.hasOwn(own, name) ? "***" : value,
  ]);
  return Object.fromEntries(entries) as Record<string, T>;
}

const isFromSandbox = (headers: Headers): boolean =>
  header(headers, "x-knowctl-sandbox") !== undefined;

/** Reports a fault as `incomplete`, because the service may have accepted the question. */
function asMaybeDone(failure: Failure): Failure {
  if (failure.kind !== "connection" && failure.kind !== "timeout") return failure;
  const { message, method, url, code, cause } = failure.error;
  const error = new ApiError("incomplete", `${message}; the question may have been delivered`, {
    method,
    url,
    code,
    cause,
    hints: ["check the session before you ask again: the service may have continued"],
  });
  return { ...failure, error };
}

/** Data shared by all attempts of one call. */
interface Attempt {
  wire: Wire;
  question: Question;
  exchange: Exchange;
  policy: CallPolicy;
}

function trace(
  { wire, question, exchange }: Attempt,
  number: number,
  begun: number,
  answer: { status: number; headers: Headers } | undefined,
  failure: Failure | undefined,
): void {
  const { options } = wire;
  const idHeader = wire.dialect.requestIdHeader?.toLowerCase() ?? "x-request-id";
  const requestId =
    answer && (header(answer.headers, "x-request-id") ?? header(answer.headers, idHeader));
  options.onTrace?.({
    method: question.method,
    url: question.url,
    status: answer?.status,
    code: failure?.code,
    ms: options.clock.elapsed() - begun,
    attempt: number,
    requestId: requestId ?? exchange.headers[idHeader],
    headers: {
      request: withoutSecrets(exchange.headers, options.headers),
      response: withoutSecrets(allHeaders(answer?.headers ?? [])),
    },
  });
}

/** Runs attempt `number` (from 1) within `leftMs`: `send` sends it, `read` judges the response. */
async function attemptOnce<A extends { status: number; headers: Headers }, T>(
  attempt: Attempt,
  number: number,
  leftMs: number,
  send: (exchange: Exchange) => Promise<A>,
  read: (question: Question, answer: A) => Result<T> | Promise<Result<T>>,
): Promise<Result<T>> {
  const { wire, question, exchange, policy } = attempt;
  const { onTrace, clock } = wire.options;
  const begun = onTrace ? clock.elapsed() : 0;
  let answer: A | undefined;
  let result: Result<T>;
  try {
    answer = await send(number === 1 ? exchange : { ...exchange, totalMs: leftMs });
    if (answer.status === 200) wire.isSandbox ??= isFromSandbox(answer.headers);
    const judged = read(question, answer);
    // Most responses are complete: an await would cost a promise.
    result = judged instanceof Promise ? await judged : judged;
    if (!result.ok && result.failure.status === 404) {
      result = { ok: false, failure: await explainWithoutApi(wire, result.failure) };
    }
  } catch (error) {
    const failure = failureOfFault(question, error, isUnsent(error));
    result = { ok: false, failure: policy.mayHaveActed ? asMaybeDone(failure) : failure };
  }
  if (onTrace) trace(attempt, number, begun, answer, result.ok ? undefined : result.failure);
  return result;
}

/**
 * Runs a call with its retries: `send` sends one attempt, `read` judges the response.
 * Throws as `retrying` does.
 */
export function run<A extends { status: number; headers: Headers }, T>(
  wire: Wire,
  call: Call,
  send: (exchange: Exchange) => Promise<A>,
  read: (question: Question, answer: A) => Result<T> | Promise<Result<T>>,
): Promise<T> {
  const { clock, signal } = wire.options;
  const policy = policies[call.policy];
  const { what, method, key } = call;
  const isShared = wire.options.accessToken === wire.options.apiKey;
  const question: Question = {
    what,
    method,
    key: isShared ? "shared" : key,
    keyOrigin: wire.options.keyOrigins?.[key],
    url: urlOf(wire, call.path),
  };
  const exchange = toExchange(wire, call, policy);
  const attempt: Attempt = { wire, question, exchange, policy };
  const detached = call.detachedMs !== undefined;
  const attempts = detached ? 1 : (call.attempts ?? policy.attempts);
  return retrying((number, leftMs) => attemptOnce(attempt, number, leftMs, send, read), {
    policy: attempts === policy.attempts ? policy : { ...policy, attempts },
    totalMs: exchange.totalMs,
    clock,
    signal: detached ? undefined : signal,
    gate: call.gate,
    onFailure: call.onFailure,
    onHeld: call.onHeld,
  });
}
