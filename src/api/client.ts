import { randomUUID } from "node:crypto";
import type * as z from "zod/mini";
import { ApiError, CliError } from "../errors.ts";
import {
  failureOfFault,
  header,
  judgeHead,
  readAnswer,
  type Failure,
  type Question,
  type Result,
} from "./answers.ts";
import { isUnsent } from "./connector.ts";
import { dialects, type Dialect, type DialectName } from "./dialects.ts";
import type { Answer, Body, Exchange, Headers, StreamedAnswer } from "./exchange.ts";
import type { Clock, Gate } from "./gate.ts";
import { policies, type CallClass, type CallPolicy } from "./policy.ts";
import { proxyFor } from "./proxy.ts";
import { retrying } from "./retry.ts";
import { createTransport, type Transport } from "./transport.ts";

/** One attempt, for `--verbose` and `--debug`. Holds no credentials. */
export interface RequestTrace {
  method: string;
  url: string;
  /** Absent when no answer came. */
  status?: number | undefined;
  /** Transport code when no answer came, else the service's own. */
  code?: string | undefined;
  ms: number;
  /** From 1. */
  attempt: number;
  requestId?: string | undefined;
  headers?: { request: Record<string, string>; response: Headers };
}

export interface ClientOptions {
  /** Origin and optional path prefix; no trailing slash, no `/api`. */
  baseUrl: string;
  dialect: DialectName;
  accessToken: string;
  apiKey: string;
  /** The user's `--timeout`: what it limits differs by class of call (policy.ts). */
  timeoutMs?: number;
  proxy?: string;
  noProxy?: string;
  /** PEM text of certificates to trust beside the built-in ones. */
  ca?: string;
  allowInsecureTls?: boolean;
  /** Connections kept open at most (default 8). */
  connections?: number;
  /** A single short command, not a bulk upload. */
  oneShot?: boolean;
  clock: Clock;
  signal: AbortSignal;
  onTrace?(trace: RequestTrace): void;
}

export interface Call {
  /** For messages: `list connectors`. */
  what: string;
  policy: CallClass;
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the base URL, with its query. */
  path: string;
  key: "accessToken" | "apiKey";
  body?: Body;
  contentType?: string;
  /** Bytes of the body, where it is a stream. */
  contentLength?: number;
  gate?: Gate | undefined;
  /** Longest silence inside the answer, instead of the policy's. */
  idleMs?: number | undefined;
  /** Goes out although the signal is aborted: one attempt, at most this long. */
  detachedMs?: number;
}

export interface Client {
  readonly dialect: Dialect;
  /** Sends, retries as the policy says, and returns the parsed answer. Throws ApiError. */
  call<T>(call: Call, schema: z.ZodMiniType<T>): Promise<T>;
  /** The same for an answer that is read as it comes. `accepts` matches its content type. */
  open(call: Call, accepts: RegExp): Promise<AsyncGenerator<Uint8Array>>;
  /** The address of a path, for messages. */
  url(path: string): string;
  /** Closes every connection; what is in flight fails. */
  close(): Promise<void>;
}

interface Wire {
  options: ClientOptions;
  dialect: Dialect;
  transport: Transport;
  origin: string;
  /** Path prefix of the base URL, without a trailing slash. */
  prefix: string;
  /** The path that was checked last: a bulk upload uses one, and parsing it costs time. */
  checkedPath: string;
}

/** Splits a checked base URL; paths are joined to it as strings, which `new URL` would re-root. */
function splitBase(baseUrl: string): { origin: string; prefix: string } {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (
    !url ||
    (url.protocol !== "http:" && url.protocol !== "https:") ||
    url.username + url.password + url.search + url.hash !== ""
  ) {
    throw new CliError("not-configured", "the base URL is not a plain http or https address", {
      hints: ["give it as https://host, without name, password, query or fragment"],
    });
  }
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, "") };
}

function urlOf(wire: Wire, path: string): string {
  const url = wire.origin + wire.prefix + path;
  // A second wall behind the join: nothing of a path may change where the key goes.
  if (path !== wire.checkedPath) {
    if (!path.startsWith("/") || new URL(url).origin !== wire.origin) {
      throw new Error(`path leaves the base URL: ${path.slice(0, 80)}`);
    }
    wire.checkedPath = path;
  }
  return url;
}

function headersOf(wire: Wire, call: Call): Record<string, string> {
  const { options, dialect } = wire;
  const headers: Record<string, string> = {
    authorization: `Bearer ${options[call.key]}`,
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": "knowctl",
  };
  if (call.contentType !== undefined) headers["content-type"] = call.contentType;
  if (call.contentLength !== undefined) headers["content-length"] = String(call.contentLength);
  if (options.onTrace && dialect.requestIdHeader) {
    headers[dialect.requestIdHeader.toLowerCase()] = randomUUID();
  }
  return headers;
}

interface Limits {
  headersMs: number;
  idleMs: number;
  totalMs: number;
}

/** The policy's limits with the user's `--timeout` and the size of the body worked in. */
export function limitsOf(
  policy: CallPolicy,
  timeoutMs: number | undefined,
  bodyBytes: number,
  idleMs?: number,
): Limits {
  const limits: Limits = {
    headersMs: policy.headersMs,
    idleMs: idleMs ?? policy.idleMs,
    totalMs: policy.totalMs,
  };
  if (timeoutMs !== undefined) {
    limits[policy.timeoutSets] = timeoutMs;
    // Before the first byte of a stream there is silence, too.
    if (policy.timeoutSets === "idleMs") limits.headersMs = timeoutMs;
    if (policy.timeoutSets === "headersMs") limits.totalMs = Math.max(limits.totalMs, timeoutMs);
  }
  if (policy.uploadBytesPerSecond !== undefined && limits.headersMs > 0) {
    limits.headersMs += Math.ceil((bodyBytes / policy.uploadBytesPerSecond) * 1000);
  }
  return limits;
}

function toExchange(wire: Wire, call: Call, policy: CallPolicy): Exchange {
  const { timeoutMs } = wire.options;
  const bytes = call.body instanceof Uint8Array ? call.body.byteLength : (call.contentLength ?? 0);
  const limits = limitsOf(policy, timeoutMs, bytes, call.idleMs);
  const detached = call.detachedMs !== undefined;
  return {
    method: call.method,
    path: wire.prefix + call.path,
    headers: headersOf(wire, call),
    body: call.body,
    ...limits,
    ...(detached ? { headersMs: 0, totalMs: call.detachedMs ?? 0, detached } : {}),
    responseBytes: policy.responseBytes,
    fresh: policy.fresh,
  };
}

const secretHeaders = /^(?:authorization|cookie|set-cookie|proxy-authorization|x-api-key)$/;

function withoutSecrets<T extends string | string[]>(headers: Record<string, T>): Record<string, T> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    secretHeaders.test(name) ? "***" : value,
  ]);
  return Object.fromEntries(entries) as Record<string, T>;
}

/** A wire fault after the question may have been taken is not "unreachable" but "unknown". */
function asMaybeDone(failure: Failure): Failure {
  if (failure.kind !== "connection" && failure.kind !== "timeout") return failure;
  const { message, method, url, code, cause } = failure.error;
  const error = new ApiError("incomplete", `${message}; the question may have been delivered`, {
    ...{ method, url, code, cause },
    hints: ["look into the session before asking again: the service may have gone on"],
  });
  return { ...failure, error };
}

interface Attempt {
  wire: Wire;
  question: Question;
  exchange: Exchange;
  policy: CallPolicy;
  number: number;
}

function trace(
  { wire, question, exchange, number }: Attempt,
  begun: number,
  answer: { status: number; headers: Headers } | undefined,
  failure: Failure | undefined,
): void {
  const { onTrace, clock } = wire.options;
  if (!onTrace) return;
  const idHeader = wire.dialect.requestIdHeader?.toLowerCase() ?? "x-request-id";
  const given = answer && (header(answer.headers, "x-request-id") ?? header(answer.headers, idHeader));
  onTrace({
    method: question.method,
    url: question.url,
    status: answer?.status,
    code: failure?.code,
    ms: clock.now() - begun,
    attempt: number,
    requestId: given ?? exchange.headers[idHeader],
    headers: {
      request: withoutSecrets(exchange.headers),
      response: withoutSecrets(answer?.headers ?? {}),
    },
  });
}

/** One attempt: `ask` sends, `read` judges what came. */
async function attemptOnce<A extends { status: number; headers: Headers }, T>(
  attempt: Attempt,
  ask: () => Promise<A>,
  read: (answer: A) => Result<T> | Promise<Result<T>>,
): Promise<Result<T>> {
  const { wire, question, policy } = attempt;
  const begun = wire.options.clock.now();
  let answer: A | undefined;
  let result: Result<T>;
  try {
    answer = await ask();
    result = await read(answer);
  } catch (error) {
    const failure = failureOfFault(question, error, isUnsent(error));
    result = { ok: false, failure: policy.mayHaveActed ? asMaybeDone(failure) : failure };
  }
  trace(attempt, begun, answer, result.ok ? undefined : result.failure);
  return result;
}

async function run<A extends { status: number; headers: Headers }, T>(
  wire: Wire,
  call: Call,
  ask: (exchange: Exchange) => Promise<A>,
  read: (question: Question, answer: A) => Result<T> | Promise<Result<T>>,
): Promise<T> {
  const { clock, signal } = wire.options;
  const policy = policies[call.policy];
  const { what, method, key } = call;
  const question: Question = { what, method, key, url: urlOf(wire, call.path) };
  const exchange = toExchange(wire, call, policy);
  const detached = call.detachedMs !== undefined;
  return retrying(
    (number) =>
      attemptOnce(
        { wire, question, exchange, policy, number },
        () => ask(exchange),
        (answer) => read(question, answer),
      ),
    {
      policy: detached ? { ...policy, attempts: 1 } : policy,
      totalMs: exchange.totalMs,
      clock,
      signal: detached ? undefined : signal,
      gate: call.gate,
    },
  );
}

/** Above this an error body is not read on: the words are in its beginning. */
const errorBodyBytes = 1024 * 1024;

async function readErrorBody(answer: StreamedAnswer): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > errorBodyBytes) break;
  }
  return { status: answer.status, headers: answer.headers, body: Buffer.concat(chunks) };
}

/**
 * The client of one service. Opens nothing until the first call; the caller
 * closes it. Throws CliError `not-configured` for an unusable base URL or proxy.
 */
export function createClient(options: ClientOptions): Client {
  const { origin, prefix } = splitBase(options.baseUrl);
  const transport = createTransport({
    origin,
    connections: options.connections ?? 8,
    oneShot: options.oneShot === true,
    signal: options.signal,
    proxy: proxyFor(origin, options.proxy, options.noProxy),
    ca: options.ca,
    allowInsecureTls: options.allowInsecureTls,
  });
  const dialect = dialects[options.dialect];
  const wire: Wire = { options, dialect, transport, origin, prefix, checkedPath: "" };
  const { now } = options.clock;
  return {
    dialect,
    url: (path) => urlOf(wire, path),
    call: (call, schema) =>
      run(
        wire,
        call,
        (exchange) => transport.send(exchange),
        (question, answer) => readAnswer(question, answer, schema, now()),
      ),
    open: (call, accepts) =>
      run(
        wire,
        call,
        (exchange) => transport.open(exchange),
        async (question, answer) => {
          const head = { ...answer, body: Buffer.alloc(0) };
          const accepted = answer.status === 200;
          const whole = accepted ? head : await readErrorBody(answer);
          const failure = judgeHead(question, whole, now(), accepts);
          if (!failure) return { ok: true, value: answer.body };
          if (accepted) await answer.body.return(undefined);
          return { ok: false, failure };
        },
      ),
    close: () => transport.close(),
  };
}
