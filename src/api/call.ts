import type { ClientCertificate } from "./transport/connector.ts";
import type { Dialect, DialectName } from "./dialects.ts";
import type { Body, Exchange } from "./transport/watch.ts";
import type { Gate } from "./retry/gate.ts";
import type { Clock } from "./retry/timing.ts";
import type { Redactor } from "./answers/redaction.ts";
import type { CallClass, CallPolicy, FaultKind } from "./retry/policy.ts";
import type { Transport } from "./transport/transport.ts";

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
  /** Takes secrets out of everything that the service and the proxy answer, before it is read. */
  secrets: Redactor;
  /** The user's `--timeout`: what it limits differs by class of call (policy.ts). */
  timeoutMs?: number;
  proxy?: string;
  noProxy?: string;
  /** PEM text of certificates to trust beside the built-in ones. */
  ca?: string;
  client?: ClientCertificate;
  allowInsecureTls?: boolean;
  /** Connections kept open at most (default 8). */
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
  /** Further headers by lower-case name; they replace those of every call, but never the key. */
  headers?: Readonly<Record<string, string>>;
  /** How often it is sent at most, instead of the policy's: a body that can be read once. */
  attempts?: number;
  gate?: Gate | undefined;
  /** Told of each attempt that failed, the last one included. */
  onFailure?: ((kind: FaultKind) => void) | undefined;
  /** Longest silence inside the answer, instead of the policy's. */
  idleMs?: number | undefined;
  /** Most bytes of the answer, instead of the policy's. */
  responseBytes?: number | undefined;
  /** Goes out although the signal is aborted: one attempt, at most this long. */
  detachedMs?: number;
}

/** What calls of one client share. */
export interface Wire {
  options: ClientOptions;
  dialect: Dialect;
  transport: Transport;
  origin: string;
  /** Path prefix of the base URL, without a trailing slash. */
  prefix: string;
  /** The path that was checked last: a bulk upload uses one, and parsing it costs time. */
  checkedPath: string;
  /** The headers that were made last, for the calls that want the same. */
  made?: { key: Call["key"]; contentType: string | undefined; headers: Record<string, string> };
}

/** The address of a path below the base URL. Throws when the path would leave it. */
export function urlOf(wire: Wire, path: string): string {
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

/** What calls with the same key and content type have in common; nobody changes it. */
function commonHeaders(wire: Wire, { key, contentType }: Call): Record<string, string> {
  const { made } = wire;
  if (made && made.key === key && made.contentType === contentType) return made.headers;
  const headers: Record<string, string> = {
    authorization: `Bearer ${wire.options[key]}`,
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": "knowctl",
  };
  if (contentType !== undefined) headers["content-type"] = contentType;
  wire.made = { key, contentType, headers };
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

// What the system may have taken and not sent yet: beyond it each piece that goes out is seen.
const unseenBytes = 1024 * 1024;

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
    const unseen = Math.min(bodyBytes, unseenBytes);
    limits.headersMs += Math.ceil((unseen / policy.uploadBytesPerSecond) * 1000);
  }
  return limits;
}

/** What goes out for a call, the same for each of its attempts. */
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
    totalMs: call.detachedMs ?? totalMs,
    responseBytes: call.responseBytes ?? policy.responseBytes,
    fresh: policy.fresh,
    detached,
  };
}
