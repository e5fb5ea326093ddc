import type { Dialect } from "../../api/dialects.ts";
import { CliError } from "../../errors.ts";

const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof methods)[number];

/** Whether a word is a method name in capitals. */
export function isMethod(word: string): boolean {
  return methods.some((each) => each === word);
}

/** Parses a method name, ignoring case. Throws CliError `usage`. */
export function parseMethod(word: string): Method {
  const method = methods.find((each) => each === word.toUpperCase());
  if (method) return method;
  throw new CliError("usage", `${word}: no such method`, {
    hints: [`methods: ${methods.join(", ")}`],
  });
}

/** Whether the method changes nothing, so that a request can be retried. */
export function isSafe(method: Method): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

function badPath(problem: string, hint: string): CliError {
  return new CliError("usage", `the path ${problem}`, { hints: [hint] });
}

/** The part of an address below the base URL. */
function belowBase(address: string, baseUrl: string): string {
  const base = new URL(baseUrl);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const prefix = base.pathname.replace(/\/+$/, "");
  const isBelow =
    url?.origin === base.origin &&
    url.username + url.password === "" &&
    url.pathname.startsWith(`${prefix}/`);
  if (url && isBelow) return url.pathname.slice(prefix.length) + url.search + url.hash;
  throw badPath(
    `is a URL outside the base URL ${baseUrl}`,
    "keys are sent only to the configured service; write the path alone, as /api/tool",
  );
}

// URL parsers also read `%2e` as a dot.
const dotSegment = /^(?:\.|%2e){1,2}$/i;

/**
 * Turns an argument into a path below the base URL. `tool`, `/tool`, `api/tool` and
 * `/api/tool` are the same path. A full URL must begin with the base URL. Non-ASCII
 * characters are percent-encoded. Throws CliError `usage` for a path that could
 * leave the base URL.
 */
export function parsePath(argument: string, baseUrl: string): string {
  if (/[\u0000-\u0020\u007f\\]/.test(argument)) {
    throw badPath("holds white space, a backslash or a control character", "percent-encode it");
  }
  const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(argument);
  const segments = argument.replace(/[?#][^]*$/, "").split(/\/|%2f|%5c/i);
  if (segments.some((segment) => dotSegment.test(segment))) {
    throw badPath("holds a segment `.` or `..`", "write the path without it");
  }
  const path = isUrl ? belowBase(argument, baseUrl) : argument;
  if (path.includes("#")) throw badPath("holds `#`", "write it as %23");
  if (path.startsWith("//")) throw badPath("begins with two slashes", "write it as /api/tool");
  const below = path.replace(/^\//, "");
  if (below === "") throw badPath("is empty", "write it as /api/tool");
  const absolute = isUrl || /^api(?:[/?]|$)/.test(below) ? `/${below}` : `/api/${below}`;
  const url = new URL(`http://base${absolute.toWellFormed()}`);
  return url.pathname + url.search;
}

/** The key that the dialect's own calls send to this path. */
export function keyFor(path: string, { paths }: Dialect): "accessToken" | "apiKey" {
  const folder = paths.ingestion.slice(0, paths.ingestion.lastIndexOf("/") + 1);
  return path.startsWith(folder) ? "apiKey" : "accessToken";
}

/** Appends query parameters to a path, after its own. */
export function withQuery(path: string, query: string): string {
  if (query === "") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}
