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

/** Set by the HTTP client only: they frame or route the message, and a wrong value breaks it. */
const framing =
  /^(?:accept-encoding|connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/;

/** Headers with keys. Keys come from the profile: every local process can read arguments. */
const credentials = /^(?:authorization|cookie2?|proxy-.*|x-onyx-authorization)$/;

/**
 * Parses --header into values by lower-case name; the last value of a name wins. Throws
 * CliError `usage` for a malformed header, one that breaks the message or carries a key.
 * Errors quote no value: it may be a secret.
 */
export function parseHeaders(given: readonly string[]): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (const each of given) {
    const [, written, value = ""] = /^([!#$%&'*+.^_`|~\w-]+):([^]*)$/.exec(each) ?? [];
    const name = written?.toLowerCase();
    const refuse = (problem: string, hint: string): CliError =>
      new CliError("usage", `--header${name === undefined ? "" : ` ${name}`}: ${problem}`, {
        hints: [hint],
      });
    if (name === undefined) {
      throw refuse("expected name: value", "for example --header 'Accept: text/plain'");
    }
    if (!/^[\t\u0020-\u007e]*$/.test(value)) {
      const problem = "the value must be printable ASCII on one line";
      throw refuse(problem, "percent-encode other characters");
    }
    if (credentials.test(name)) {
      throw refuse(
        "a key cannot be passed on the command line",
        "choose the key with --profile and --key; `knowctl login` stores one",
      );
    }
    if (framing.test(name)) throw refuse("knowctl sets this header itself", "leave it out");
    headers[name] = value.trim();
  }
  return headers;
}

/** Values of headers whose name suggests a secret. */
export function secretValues(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => /auth|cookie|key|pass|secret|signature|token/.test(name))
    .map(([, value]) => value);
}
