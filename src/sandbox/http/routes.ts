import type { Call } from "./call.ts";
import type { DialectName, Reply } from "./reply.ts";

export interface Route {
  method: string;
  /** `:name` matches one segment. */
  path: string;
  /** Only in this dialect; default: in both. */
  dialect?: DialectName;
  /** Needs no key. */
  open?: boolean;
  /** Accepts callers without a valid key, if the sandbox allows anonymous callers. */
  anonymous?: boolean;
  /** Maximum size of the body, in bytes; without it no body is accepted. */
  bodyLimit?: number;
  handle(call: Call): Promise<Reply> | Reply;
}

/** A GET route that only the onyx dialect has. */
export function onyxGet(path: string, handle: Route["handle"]): Route {
  return { dialect: "onyx", method: "GET", path, handle };
}

export type Match =
  | { kind: "route"; route: Route; parameters: Record<string, string> }
  | { kind: "wrong-method" }
  | { kind: "none" };

/** Segments of a path, each decoded once. Undefined for a malformed or traversing path. */
export function segmentsOf(path: string): string[] | undefined {
  if (!path.startsWith("/") || path.includes("//") || path.includes("\\")) return undefined;
  const segments: string[] = [];
  for (const raw of path.slice(1).split("/")) {
    let segment;
    try {
      segment = decodeURIComponent(raw);
    } catch {
      return undefined;
    }
    // An encoded slash separates, too, as in the service: `a%2Fb` is two segments.
    const pieces = segment.split("/");
    if (pieces.some((piece) => piece === "." || piece === ".." || /[\\\0]/.test(piece))) {
      return undefined;
    }
    segments.push(...pieces);
  }
  return segments;
}

/** Creates the route lookup of one dialect. */
export function createRouter(routes: readonly Route[], dialect: DialectName) {
  const table = routes
    .filter((route) => route.dialect === undefined || route.dialect === dialect)
    .map((route) => ({ route, pattern: route.path.slice(1).split("/") }));
  return (method: string, segments: readonly string[]): Match => {
    let known = false;
    for (const { route, pattern } of table) {
      if (pattern.length !== segments.length) continue;
      const parameters: Record<string, string> = {};
      const fits = pattern.every((part, index) => {
        const segment = segments[index]!;
        if (!part.startsWith(":")) return part === segment;
        parameters[part.slice(1)] = segment;
        return segment !== "";
      });
      if (!fits) continue;
      if (route.method === method) return { kind: "route", route, parameters };
      known = true;
    }
    return known ? { kind: "wrong-method" } : { kind: "none" };
  };
}
