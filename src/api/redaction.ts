import { nestsTooDeep } from "./depth.ts";
import type { Headers } from "./headers.ts";

/** Hides the secrets of a run in text from outside; the `Secrets` of the output gate are one. */
export interface Redactor {
  /** The text with every secret replaced. */
  redact(text: string): string;
  /** How many characters at the end of `text` may belong to a secret that goes on. */
  openTail(text: string): number;
}

type Redact = Redactor["redact"];

/**
 * The value with every secret replaced in its texts and member names; the same
 * value where there is none. The value comes from JSON and is not too deep to walk.
 */
export function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map((each) => redactValue(each, redact));
    return all.every((each, at) => each === value[at]) ? value : all;
  }
  const entries = Object.entries(value).map(
    ([name, each]: [string, unknown]) =>
      [redact(name), redactValue(each, redact), name, each] as const,
  );
  const isSame = entries.every(
    ([name, each, ...before]) => name === before[0] && each === before[1],
  );
  return isSame ? value : Object.fromEntries(entries.map(([name, each]) => [name, each]));
}

// JSON may write any character as an escape, and a slash as `\/`: only its parser finds a secret in that.
const unusualEscape = /\\(?:u00[2-7]|\/)/i;

/** A text that may be JSON, with every secret replaced; JSON stays JSON. */
export function redactText(text: string, { redact }: Redactor): string {
  const plain = redact(text);
  if (plain === text && !unusualEscape.test(text)) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return plain;
  }
  if (nestsTooDeep(value, text)) return plain;
  const hidden = redactValue(value, redact);
  return hidden === value ? text : JSON.stringify(hidden);
}

/** The same for the bytes of a whole body. */
export function redactBody(body: Buffer, redactor: Redactor): Buffer {
  const text = body.toString();
  const hidden = redactText(text, redactor);
  return hidden === text ? body : Buffer.from(hidden);
}

/** Headers with every secret replaced; the same ones where there is none. */
export function redactHeaders(headers: Headers, { redact }: Redactor): Headers {
  // One look for all: most answers hold no secret, and a bulk upload has many answers.
  const all = Buffer.concat(headers).toString("latin1");
  if (redact(all) === all) return headers;
  return headers.map((each) => Buffer.from(redact(each.toString("latin1")), "latin1"));
}
