import type { IncomingMessage } from "node:http";
import { anonymousCaller, type Caller } from "../store/access.ts";
import { createCallerLookup, createGuard, denied, keyOf, refusedTo } from "./guard.ts";
import { detail, type DialectName, notFound, Refusal } from "./reply.ts";
import { createRouter, type Match, type Route, segmentsOf } from "./routes.ts";

export type Admitted = Extract<Match, { kind: "route" }> & { caller: Caller };

export interface AdmissionOptions {
  host: string;
  port: number;
  /** By key. */
  callers: ReadonlyMap<string, Caller>;
  dialect: DialectName;
  routes: readonly Route[];
  /** Whether some routes accept callers without a valid key: observed-service.md 6.1. */
  anonymous: boolean;
}

/** `onyx` redirects a trailing slash to an address without /api: observed-service.md 8, row 26. */
function redirectOf(path: string, host: string): Refusal {
  const location = `http://${host}${path.replace(/^\/api(?=\/)/, "").replace(/\/$/, "")}`;
  return new Refusal({ status: 307, headers: { location }, body: "" });
}

/**
 * Checks a request before reading its body: host, origin, path, route and key, in this
 * order. Throws a Refusal with the response.
 */
export function createAdmission(options: AdmissionOptions) {
  const { host, port, callers, dialect, routes } = options;
  const guard = createGuard(host, port);
  const router = createRouter(routes, dialect);
  const callerOf = createCallerLookup(callers);
  return (request: IncomingMessage, path: string): Admitted => {
    const refusal = guard(request);
    if (refusal) throw new Refusal(refusal);
    const segments = segmentsOf(path);
    if (!segments) throw new Refusal(detail(400, "Malformed path"));
    const match = router(request.method ?? "", segments);
    // In `onyx`, routing comes before the key: observed-service.md 6.1.
    const unknownIsOpen = dialect === "onyx" || segments[0] !== "api";
    const open = match.kind === "route" ? match.route.open === true : unknownIsOpen;
    const known = callerOf(keyOf(request, dialect));
    const admitted = options.anonymous && match.kind === "route" && match.route.anonymous;
    if (!known && !open && !admitted) throw new Refusal(denied(dialect, path));
    const caller = known ?? anonymousCaller;
    const refused = refusedTo(caller, { method: request.method ?? "", path }, dialect);
    if (refused) throw new Refusal(refused);
    if (match.kind === "route") return { ...match, caller };
    if (match.kind === "wrong-method") throw new Refusal(detail(405, "Method Not Allowed"));
    const slash = dialect === "onyx" && segments.length > 1 && segments.at(-1) === "";
    const bare = slash && router(request.method ?? "", segments.slice(0, -1)).kind !== "none";
    // `onyx` lacks the documented file listing, but redirects its path.
    if (bare || (slash && path === "/api/user/projects/file/")) {
      throw redirectOf(path, request.headers.host ?? "");
    }
    throw new Refusal(notFound());
  };
}
