import { CliError } from "../../errors.ts";

/** The client's own: they frame the message or say where it goes, and a wrong one would break it. */
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

/** Keys, which come from the profile: an argument can be read by every process of the machine. */
const credentials = /^(?:authorization|cookie2?|proxy-.*|x-onyx-authorization)$/;

function refusal(name: string): CliError | undefined {
  if (credentials.test(name)) {
    return new CliError("usage", `--header ${name}: keys are not taken from the command line`, {
      hints: ["choose the key with --profile and --key; `knowctl login` stores one"],
    });
  }
  if (!framing.has(name)) return undefined;
  return new CliError("usage", `--header ${name}: this header is the client's own`, {
    hints: ["leave it out"],
  });
}

/**
 * Headers of --header by lower-case name; of one name the last counts. Throws
 * CliError `usage` for what is no header, would break the message or carry a key.
 * No value is repeated in an error: it may be a secret.
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
      throw new CliError("usage", `--header ${name}: only printable ASCII, on one line`, {
        hints: ["percent-encode other characters"],
      });
    }
    const lower = name.toLowerCase();
    const refused = refusal(lower);
    if (refused) throw refused;
    headers[lower] = value.trim();
  }
  return headers;
}

/** Values of headers whose name says that they are secret. */
export function secretValues(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers)
    .filter(([name]) => /auth|cookie|key|pass|secret|signature|token/.test(name))
    .map(([, value]) => value);
}
