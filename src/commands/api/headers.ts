import { CliError } from "../../errors.ts";

/** Set by the HTTP client only: they frame or route the message, and a wrong value breaks it. */
const framing = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers with keys. Keys come from the profile: every local process can read arguments. */
const credentials = /^(?:authorization|cookie2?|proxy-.*|x-onyx-authorization)$/;

function problemWith(name: string): CliError | undefined {
  if (credentials.test(name)) {
    return new CliError("usage", `--header ${name}: a key cannot be passed on the command line`, {
      hints: ["choose the key with --profile and --key; `knowctl login` stores one"],
    });
  }
  if (!framing.has(name)) return undefined;
  return new CliError("usage", `--header ${name}: knowctl sets this header itself`, {
    hints: ["leave it out"],
  });
}

/**
 * Parses --header into values by lower-case name; the last value of a name wins. Throws
 * CliError `usage` for a malformed header, one that breaks the message or carries a key.
 * Errors quote no value: it may be a secret.
 */
export function parseHeaders(given: readonly string[]): Record<string, string> {
  const headers = Object.create(null) as Record<string, string>;
  for (const each of given) {
    const [, name, value = ""] = /^([!#$%&'*+.^_`|~\w-]+):([^]*)$/.exec(each) ?? [];
    if (name === undefined) {
      throw new CliError("usage", "--header: expected name: value", {
        hints: ["for example --header 'Accept: text/plain'"],
      });
    }
    if (!/^[\t\u0020-\u007e]*$/.test(value)) {
      throw new CliError(
        "usage",
        `--header ${name}: the value must be printable ASCII on one line`,
        {
          hints: ["percent-encode other characters"],
        },
      );
    }
    const lower = name.toLowerCase();
    const refused = problemWith(lower);
    if (refused) throw refused;
    headers[lower] = value.trim();
  }
  return headers;
}

/** Values of headers whose name suggests a secret. */
export function secretValues(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => /auth|cookie|key|pass|secret|signature|token/.test(name))
    .map(([, value]) => value);
}
