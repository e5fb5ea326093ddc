import { nestsTooDeep } from "./depth.ts";
import type { Headers } from "../transport/headers.ts";

/** Hides the secrets of a run in text from outside; the `Secrets` of the output gate are one. */
export interface Redactor {
  /** The text with every secret replaced. */
  redact(text: string): string;
  /** The same for a text after which nothing comes: its end may be the beginning of a secret. */
  redactLast(text: string): string;
  /** False for a text without the first 6 characters of any secret, and without an escape sequence. */
  mayHold(text: string): boolean;
  /** How many characters at the end of `text` may belong to a secret that goes on. */
  openTail(text: string): number;
  /** Plain data with every secret in its texts and member names replaced; the same value where there is none. */
  redactAll<Value>(value: Value): Value;
}

// JSON may write any character as an escape, and a slash as `\/`: only its parser finds a secret in that.
const unusualEscape = /\\(?:u00[2-7]|\/)/i;

/**
 * A text that may be JSON, with every secret replaced, and the beginning of one at the end of
 * a text: a service may have cut what it repeats. JSON stays JSON.
 */
export function redactText(text: string, redactor: Redactor): string {
  const { redactLast, redactAll, mayHold } = redactor;
  const plain = redactLast(text);
  if (plain === text && !unusualEscape.test(text) && !mayHold(text)) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return plain;
  }
  if (nestsTooDeep(value, text)) return plain;
  const hidden = redactAll(value);
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
