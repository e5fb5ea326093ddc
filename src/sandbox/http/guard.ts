import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import type { Caller } from "../store/access.ts";
import { detail, type DialectName, problem } from "./validation.ts";

const loopbackHosts: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

export function isLoopback(host: string): boolean {
  return loopbackHosts.has(host) || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

type Head = Pick<IncomingMessage, "headers" | "rawHeaders" | "method">;

/**
 * Refuses requests that a web page in the user's browser could send: a foreign name in
 * `Host` (DNS rebinding) and any foreign `Origin`. No response has CORS headers, so a
 * preflight never succeeds. faults.md X02, X03.
 */
export function createGuard(host: string, port: number): (request: Head) => void {
  const names = new Set(loopbackHosts);
  names.add(host.includes(":") ? `[${host}]` : host.toLowerCase());
  const wildcard = host === "0.0.0.0" || host === "::";
  if (wildcard) names.add(hostname().toLowerCase());
  const allowed = (value: string): boolean => {
    const parts = /^(\[[0-9a-f:.]+\]|[^:]+)(?::(\d+))?$/i.exec(value);
    if (!parts || Number(parts[2] ?? 80) !== port) return false;
    const name = parts[1]!.toLowerCase();
    // DNS rebinding affects names only, not IP addresses.
    return names.has(name) || (wildcard && isIP(name.replace(/^\[|\]$/g, "")) !== 0);
  };
  return ({ headers: { host: named, origin }, rawHeaders, method }) => {
    const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name));
    if (named === undefined || hosts.length !== 1 || !allowed(named)) {
      throw detail(421, "This host name is not served here");
    }
    if (origin !== undefined && origin !== `http://${named}`) {
      throw detail(403, "Requests from other web pages are refused");
    }
    if (method === "OPTIONS") throw detail(403, "Cross-origin requests are refused");
  };
}

/**
 * The path of a request, each segment decoded and encoded again. Undefined for a malformed or
 * traversing path. Not with `new URL`, which would resolve `..` silently.
 */
export function pathOf(target: string): string | undefined {
  const [raw = ""] = target.split("?", 1);
  if (!raw.startsWith("/") || raw.includes("//")) return undefined;
  try {
    // An encoded slash separates, too, as in the service: `a%2Fb` is two segments.
    const path = decodeURIComponent(raw);
    if (/\/\.{1,2}(?:\/|$)|[\\\0]/.test(path)) return undefined;
    return path.split("/").map(encodeURIComponent).join("/");
  } catch {
    return undefined;
  }
}

/** The key that a request carries; "" without one. */
export function keyOf({ headers }: Head, dialect: DialectName): string {
  const own = dialect === "onyx" ? headers["x-onyx-authorization"] : undefined;
  const header = typeof own === "string" ? own : (headers.authorization ?? "");
  if (header.startsWith("Bearer ")) return header.slice(7);
  // `onyx` also accepts an API key without `Bearer`: observed-service.md 6.1.
  return dialect === "onyx" ? header : "";
}

/** Finds the caller of a key. The search takes the same time for every wrong key. */
export function createCallerLookup(callers: ReadonlyMap<string, Caller>) {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const known = [...callers].map(([key, caller]) => ({ expected: digest(key), caller }));
  return (key: string): Caller | undefined => {
    const own = digest(key);
    return known.filter(({ expected }) => timingSafeEqual(own, expected))[0]?.caller;
  };
}

const administrative =
  /^\/api\/(?:manage\/(?:admin|credential|connector)|admin|onyx-api|svc-api)\//;

/** The scope that a path needs of a personal token: observed-service.md 6.1. */
function scopeOf(method: string, path: string): string | undefined {
  if (path.startsWith("/api/chat/")) return method === "GET" ? "read:chat" : "write:chat";
  return /^\/api\/(?:search|query)(?:\/|$)/.test(path) ? "read:search" : undefined;
}

/** Every token may call these. */
const unscoped = /^\/api\/(?:me|version|health(?:\/ready)?)$/;

/** Throws the refusal of a request for which the caller lacks a right. */
export function checkRights(caller: Caller, method: string, path: string, dialect: DialectName) {
  const { scopes } = caller;
  const isNarrowed = dialect === "onyx" && scopes !== undefined && !unscoped.test(path);
  if (isNarrowed && !scopes.includes(scopeOf(method, path) ?? "")) {
    const text = "This token's scopes do not permit this endpoint.";
    throw problem(dialect, 403, "INSUFFICIENT_PERMISSIONS", text);
  }
  if (caller.admin || caller.anonymous || !administrative.test(path)) return;
  const text = "You do not have the required permissions for this action.";
  throw problem(dialect, 403, "INSUFFICIENT_PERMISSIONS", text);
}
