import type { Headers } from "../transport/headers.ts";

/** More levels than any response has; far fewer than the call stack holds. */
const maxLevels = 500;

function goesBelow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const member of Object.values(value)) if (goesBelow(member, levels - 1)) return true;
  return false;
}

/**
 * Whether the value parsed from `json` is nested so deep that walking it would
 * exhaust the call stack. JSON.parse accepts any depth; the code after it does not.
 */
export function nestsTooDeep(value: unknown, json: string): boolean {
  // Each level needs two brackets: most texts are too short to nest too deep.
  return json.length > 2 * maxLevels && goesBelow(value, maxLevels);
}

/** Redacts the secrets of a run in text from outside; the `Secrets` of the output gate implement it. */
export interface Redactor {
  /** The text with every secret replaced. */
  redact(text: string): string;
  /** The same for a text without a continuation: its end may be the beginning of a secret. */
  redactLast(text: string): string;
  /** False if the text holds neither the first 6 characters of a secret nor an escape sequence. */
  mayHold(text: string): boolean;
  /** How many characters at the end of `text` may belong to a secret that continues. */
  openTail(text: string): number;
  /** Plain data with every secret in texts and member names replaced; the same value if it holds none. */
  redactAll<Value>(value: Value): Value;
}

// JSON may escape any character, and write a slash as `\/`: only a parser finds a secret there.
const unusualEscape = /\\(?:u00[2-7]|\/)/i;

/**
 * Redacts every secret in a text that may be JSON, also a secret cut off at the end of the text:
 * a service may truncate what it repeats. JSON stays JSON.
 */
export function redactText(text: string, redactor: Redactor): string {
  const { redactLast, redactAll, mayHold } = redactor;
  // First, because most answers hold nothing: then redactLast() would return the same text.
  if (!mayHold(text) && !unusualEscape.test(text)) return text;
  const plain = redactLast(text);
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

/** Headers with every secret replaced; the same array if they hold none. */
export function redactHeaders(headers: Headers, { redact }: Redactor): Headers {
  // Check all headers at once: most responses hold no secret, and a bulk upload has many responses.
  const all = Buffer.concat(headers).toString("latin1");
  if (redact(all) === all) return headers;
  return headers.map((each) => Buffer.from(redact(each.toString("latin1")), "latin1"));
}
