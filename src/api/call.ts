import type { ClientCertificate } from "./transport/connector.ts";
import type { Dialect, DialectName } from "./dialects.ts";
import type { Headers } from "./transport/headers.ts";
import type { Body, Exchange } from "./transport/watch.ts";
import type { Gate } from "./retry/gate.ts";
import type { Clock } from "./retry/timing.ts";
import type { Redactor } from "./answers/redaction.ts";
import type { KeyOrigin } from "./answers/status.ts";
import type { CallClass, CallPolicy, FaultKind } from "./retry/policy.ts";
import type { Transport } from "./transport/transport.ts";

/** One attempt, for `--verbose` and `--debug`. Holds no credentials. */
export interface RequestTrace {
  method: string;
  url: string;
  /** Absent if no response arrived. */
  status?: number | undefined;
  /** Transport error code if no response arrived, else the service's error code. */
  code?: string | undefined;
  ms: number;
  /** From 1. */
  attempt: number;
  requestId?: string | undefined;
  headers?: {
    request: Record<string, string>;
    response: Record<string, string | string[]>;
  };
}

export interface ClientOptions {
  /** Origin and optional path prefix; no trailing slash, no `/api`. */
  baseUrl: string;
  dialect: DialectName;
  accessToken: string;
  apiKey: string;
  /** Where each key is set, for messages. */
  keyOrigins?: Readonly<Record<"accessToken" | "apiKey", KeyOrigin>>;
  /** Further headers of every request, by lower-case name. */
  headers?: Readonly<Record<string, string>>;
  /** Redacts the secrets in every response of the service and the proxy, before it is read. */
  secrets: Redactor;
  /** The user's `--timeout`; the class of a call decides which limit it sets (policy.ts). */
  timeoutMs?: number;
  proxy?: string;
  noProxy?: string;
  /** PEM text of certificates to trust beside the built-in ones. */
  ca?: string;
  client?: ClientCertificate;
  allowInsecureTls?: boolean;
  /** Maximum of open connections (default 8). */
  connections?: number;
  clock: Clock;
  signal: AbortSignal;
  onTrace?(trace: RequestTrace): void;
}

export interface Call {
  /** For messages: `list connectors`. */
  what: string;
  policy: CallClass;
  method: "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL, with its query. */
  path: string;
  key: "accessToken" | "apiKey";
  body?: Body;
  contentType?: string;
  /** Bytes of the body, where it is a stream. */
  contentLength?: number;
  /** Further headers by lower-case name. They replace default headers, but never the key. */
  headers?: Readonly<Record<string, string>>;
  /** Maximum of attempts instead of the policy's, e.g. 1 for a body that can be read only once. */
  attempts?: number;
  gate?: Gate | undefined;
  /** Called after each failed attempt, including the last. */
  onFailure?: ((kind: FaultKind, status?: number) => void) | undefined;
  /** Called with the headers of each response. Only for `call`. */
  onHeaders?: ((headers: Headers) => void) | undefined;
  /** Called with 1 when the call starts to wait for its next attempt, and with -1 after the wait. */
  onHeld?: ((change: 1 | -1) => void) | undefined;
  /** Milliseconds of the total limit that earlier calls for the same document have used up. */
  spentMs?: number | undefined;
  /** Idle timeout within the response, instead of the policy's. */
  idleMs?: number | undefined;
  /** Maximum size of the response, instead of the policy's. */
  responseBytes?: number | undefined;
  /** Send although the signal is aborted: one attempt with this total timeout. */
  detachedMs?: number;
}

/** A call with the access token and the policy `list`; `body` is sent as JSON. */
export function callTo(what: string, method: Call["method"], path: string, body?: object): Call {
  const call: Call = { what, policy: "list", method, path, key: "accessToken" };
  if (body === undefined) return call;
  const bytes = Buffer.from(JSON.stringify(body));
  return { ...call, body: bytes, contentType: "application/json" };
}

/** State that all calls of one client share. */
export interface Wire {
  options: ClientOptions;
  dialect: Dialect;
  transport: Transport;
  origin: string;
  /** Path prefix of the base URL, without a trailing slash. */
  prefix: string;
  /** The last checked path: a bulk upload uses one path, and parsing it costs time. */
  checkedPath: string;
  /** Whether a response named itself the sandbox's; undefined before the first good response. */
  isSandbox?: boolean;
  /** The last common headers, reused by calls with the same key and content type. */
  lastHeaders?: {
    key: Call["key"];
    contentType: string | undefined;
    headers: Record<string, string>;
  };
}

/** The address of a path below the base URL. Throws when the path would leave it. */
export function urlOf(wire: Wire, path: string): string {
  const url = wire.origin + wire.prefix + path;
  // Second guard: no path may change the origin that receives the key.
  if (path !== wire.checkedPath) {
    if (!path.startsWith("/") || new URL(url).origin !== wire.origin) {
      throw new Error(`path leaves the base URL: ${path.slice(0, 80)}`);
    }
    wire.checkedPath = path;
  }
  return url;
}

/** Headers of all calls with the same key and content type. Shared: do not change them. */
function commonHeaders(wire: Wire, { key, contentType }: Call): Record<string, string> {
  const { lastHeaders: last } = wire;
  if (last && last.key === key && last.contentType === contentType) return last.headers;
  const value = wire.options[key];
  const headers: Record<string, string> = {
    // A judge on this machine may need no key.
    ...(value === "" ? {} : { authorization: `Bearer ${value}` }),
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": "knowctl",
    ...wire.options.headers,
  };
  if (contentType !== undefined) headers["content-type"] = contentType;
  wire.lastHeaders = { key, contentType, headers };
  return headers;
}

function headersOf(wire: Wire, call: Call): Record<string, string> {
  const common = commonHeaders(wire, call);
  const idHeader = wire.options.onTrace ? wire.dialect.requestIdHeader : undefined;
  if (call.contentLength === undefined && !idHeader && !call.headers) return common;
  const { authorization = "" } = common;
  const headers: Record<string, string> = { ...common, ...call.headers, authorization };
  if (call.contentLength !== undefined) headers["content-length"] = String(call.contentLength);
  if (idHeader) headers[idHeader.toLowerCase()] = crypto.randomUUID();
  return headers;
}

export interface Limits {
  headersMs: number;
  idleMs: number;
  totalMs: number;
}

// Bytes that the system may buffer unsent. Beyond them, onSent reports each piece that leaves.
const unseenBytes = 1024 * 1024;

/** The policy's limits, adjusted to the user's `--timeout` and the size of the body. */
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
    // The wait for the first byte of a stream is idle time, too.
    if (policy.timeoutSets === "idleMs") limits.headersMs = timeoutMs;
    if (policy.timeoutSets === "headersMs") {
      limits.idleMs = Math.max(limits.idleMs, timeoutMs);
      // 0 is no limit.
      if (limits.totalMs > 0) limits.totalMs = Math.max(limits.totalMs, timeoutMs);
    }
  }
  if (policy.uploadBytesPerSecond !== undefined && limits.headersMs > 0) {
    const unseen = Math.min(bodyBytes, unseenBytes);
    limits.headersMs += Math.ceil((unseen / policy.uploadBytesPerSecond) * 1000);
  }
  return limits;
}

/** The exchange of a call, the same for each attempt. */
export function toExchange(wire: Wire, call: Call, policy: CallPolicy): Exchange {
  const { timeoutMs } = wire.options;
  const bytes = call.body instanceof Uint8Array ? call.body.byteLength : (call.contentLength ?? 0);
  const { headersMs, idleMs, totalMs } = limitsOf(policy, timeoutMs, bytes, call.idleMs);
  const detached = call.detachedMs !== undefined;
  return {
    method: call.method,
    path: wire.prefix + call.path,
    headers: headersOf(wire, call),
    body: call.body,
    onSent: call.gate?.moved,
    headersMs: detached ? 0 : headersMs,
    idleMs,
    totalMs: call.detachedMs ?? totalMs - (call.spentMs ?? 0),
    responseBytes: call.responseBytes ?? policy.responseBytes,
    fresh: policy.fresh,
    detached,
  };
}
