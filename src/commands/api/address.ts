import type { Dialect } from "../../api/dialects.ts";
import { CliError } from "../../errors.ts";

const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] as const;
export type Method = (typeof methods)[number];

/** Whether a word is a method as methods are written: in capitals. */
export function isMethod(word: string): boolean {
  return methods.some((each) => each === word);
}

/** A method, in any case. Throws CliError `usage`. */
export function parseMethod(word: string): Method {
  const method = methods.find((each) => each === word.toUpperCase());
  if (method) return method;
  throw new CliError("usage", `${word}: no such method`, {
    hints: [`methods: ${methods.join(", ")}`],
  });
}

/** Whether a request may be sent again: it changes nothing. */
export function isSafe(method: Method): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

function badPath(words: string, hint: string): CliError {
  return new CliError("usage", `the path ${words}`, { hints: [hint] });
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
    `is an address that does not begin with the base URL ${baseUrl}`,
    "a key is sent to its own service only; give the path alone, as /api/tool",
  );
}

// A browser and a server read these as `.` and `..` as well.
const dots = /^(?:\.|%2e){1,2}$/i;

/**
 * The path below the base URL that was meant: `tool`, `/tool`, `api/tool` and
 * `/api/tool` are the same, an address must begin with the base URL. Characters
 * beyond ASCII are percent-encoded. Throws CliError `usage` for a path that could
 * lead elsewhere.
 */
export function parsePath(given: string, baseUrl: string): string {
  if (/[\u0000-\u0020\u007f\\]/.test(given)) {
    throw badPath("holds white space, a backslash or a control character", "percent-encode it");
  }
  const isAddress = /^[a-z][a-z\d+.-]*:\/\//i.test(given);
  const segments = given.replace(/[?#][^]*$/, "").split(/\/|%2f|%5c/i);
  if (segments.some((segment) => dots.test(segment))) {
    throw badPath("holds a segment `.` or `..`", "give the path that it leads to");
  }
  const path = isAddress ? belowBase(given, baseUrl) : given;
  if (path.includes("#")) throw badPath("holds `#`", "write it as %23");
  if (path.startsWith("//")) throw badPath("begins with two slashes", "give it as /api/tool");
  const below = path.replace(/^\//, "");
  if (below === "") throw badPath("is empty", "give it as /api/tool");
  const whole = isAddress || /^api(?:[/?]|$)/.test(below) ? `/${below}` : `/api/${below}`;
  const url = new URL(`http://base${whole.toWellFormed()}`);
  return url.pathname + url.search;
}

/** The key that the dialect's own calls would send to this path. */
export function keyFor(path: string, { paths }: Dialect): "accessToken" | "apiKey" {
  const folder = paths.ingestion.slice(0, paths.ingestion.lastIndexOf("/") + 1);
  return path.startsWith(folder) ? "apiKey" : "accessToken";
}

/** The path with more query parameters behind those it has. */
export function withQuery(path: string, query: string): string {
  if (query === "") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${query}`;
}
