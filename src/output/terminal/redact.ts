/** A shorter secret is not redacted: it would match ordinary text. */
const shortestSecret = 6;

// In base64 the same bytes look different after 0, 1 or 2 other bytes. Characters at
// either end that depend on neighbouring bytes are dropped.
function base64Spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const start = [0, 2, 3][offset] ?? 0;
    const inner = text.slice(start, Math.floor(((offset + bytes.length) * 8) / 6));
    return [text.slice(start), inner];
  });
}

/** A code unit as an escape of JSON. */
function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const numbered = [10, 16].map((base) => (unit: string): string => {
  const number = unit.charCodeAt(0).toString(base).toUpperCase();
  return `&#${base === 16 ? "x" : ""}${number};`;
});

/**
 * Escaped for HTML, once or twice. Libraries differ in the quotes, and in whether they escape "/",
 * "=", "`" and "+", or each character.
 */
function htmlSpellings(secret: string): string[] {
  const all = [...escapedForHtml(secret), ...numbersForHtml(secret)];
  return [...all, ...all.map((text) => text.replaceAll("&", "&amp;"))];
}

function escapedForHtml(secret: string): string[] {
  // Most keys have none of them, and every start registers a key.
  if (!/[&<>"'/=`+]/.test(secret)) return [secret];
  const escaped = secret.replace(/[&<>"]/g, (each) => entities[each] ?? each);
  const others = [/^(?!)/, /[/]/g, /[=`]/g, /[/=`]/g, /[+]/g, /[/=`+]/g].flatMap((more) =>
    numbered
      .map((number) => escaped.replace(more, number))
      .flatMap((text) => [text, text.replaceAll("&quot;", "&#34;")]),
  );
  return ["'", "&#39;", "&#039;", "&#x27;"].flatMap((apostrophe) =>
    others.map((text) => text.replaceAll("'", apostrophe)),
  );
}

/** Each character as its number. */
function numbersForHtml(secret: string): string[] {
  const numbers = [10, 16].map((base) =>
    secret.replace(/[^]/gu, (each) => {
      const number = (each.codePointAt(0) ?? 0).toString(base);
      return `&#${base === 16 ? "x" : ""}${number};`;
    }),
  );
  const upper = numbers.map((text) => text.replace(/(?<=x)[\da-f]+/g, (hex) => hex.toUpperCase()));
  return [...numbers, ...upper];
}

/**
 * Encodings of a secret: plain, URL-encoded once or twice, escaped for JSON or HTML, hexadecimal, and
 * base64, also inside a longer base64 text. Drops encodings shorter than `shortestSecret`.
 */
function spellings(secret: string): string[] {
  // encodeURIComponent throws on half a surrogate pair; converting to bytes and back replaces it.
  const wellFormed = Buffer.from(secret).toString();
  const encoded = encodeURIComponent(wellFormed);
  const json = JSON.stringify(secret).slice(1, -1);
  const base64 = base64Spellings(secret);
  const hex = Buffer.from(secret).toString("hex");
  const escaped = secret.replace(/[^]/g, escapeOf);
  const all = [
    secret,
    encoded,
    encoded.replace(/%../g, (code) => code.toLowerCase()),
    encoded.replaceAll("%20", "+"),
    encodeURIComponent(encoded),
    encodeURI(wellFormed),
    ...htmlSpellings(secret),
    json,
    json.replaceAll("/", "\\/"),
    json.replace(/[^ -~]/g, escapeOf),
    escaped,
    escaped.replace(/[\da-f]{4}/g, (digits) => digits.toUpperCase()),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    hex,
    hex.toUpperCase(),
  ];
  return [...new Set(all)].filter((text) => text.length >= shortestSecret);
}

/** Secrets of this run. A registered secret never reaches a sink, even if a server echoes it. */
export interface Secrets {
  /** Registers a secret. Ignores one shorter than 6 characters: it would match ordinary text. */
  add(secret: string): void;
  /**
   * Replaces every registered secret by `***`: plain, URL-encoded, JSON-escaped,
   * hexadecimal, or in base64, even inside a longer base64 text. Keeps escape
   * sequences, even inside a secret; they are our own, as the text is neutralised.
   */
  redact(text: string): string;
  /**
   * The same for the end of an output. Also replaces 6 or more last characters that are the start
   * of a secret, for example in a cut answer.
   */
  redactLast(text: string): string;
  /**
   * Number of characters at the end of `text` to hold back until more text arrives:
   * they may be the start or the middle of a secret. Mostly 0.
   */
  openTail(text: string): number;
  /** False if the text has neither the first 6 characters of any secret nor an escape sequence. */
  mayHold(text: string): boolean;
  /** redactAll() with redactLast(), because each text of the data is complete. */
  redactAll<Value>(value: Value): Value;
  /** Whether a text contains a key: a secret of 16 or more characters, longer than most words. */
  holdsKey(text: string): boolean;
}

const shortestKey = 16;

/** From `start` (included) to `end` (excluded). */
interface Span {
  start: number;
  end: number;
}

/** Positions of the known texts; overlapping ones are merged into one span. */
function findSpans(text: string, known: readonly string[]): Span[] {
  const found: Span[] = [];
  for (const each of known) {
    for (let at = text.indexOf(each); at >= 0; at = text.indexOf(each, at + 1)) {
      found.push({ start: at, end: at + each.length });
    }
  }
  const merged: Span[] = [];
  for (const span of found.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
    else merged.push(span);
  }
  return merged;
}

/** Index from which the end of `text` may be an incomplete secret; its length if there is none. */
function openStart(text: string, known: readonly string[]): number {
  let open = 0;
  for (const each of known) {
    for (let length = Math.min(each.length - 1, text.length); length > open; length--) {
      if (text.endsWith(each.slice(0, length))) open = length;
    }
  }
  let start = text.length - open;
  if (open === 0) return start;
  // A complete secret that overlaps the open part must not be cut in two.
  for (const span of findSpans(text, known).toReversed()) {
    if (span.start < start && span.end > start) start = span.start;
  }
  return start;
}

const sequences = /(\u001b(?:\[[\d;?]*[A-Za-z]|\]8;;[^\u001b]*\u001b\\))/;
const endsWithSequence = /\u001b(?:\[[\d;?]*[A-Za-z]|\\)$/;

/** Text at even indexes, escape sequences at odd ones. */
function splitSequences(text: string): string[] {
  return text.includes("\u001b") ? text.split(sequences) : [text];
}

function withoutSequences(parts: readonly string[]): string {
  return parts.filter((_, index) => index % 2 === 0).join("");
}

function replaceSpans(parts: readonly string[], spans: readonly Span[]): string {
  let position = 0;
  let result = "";
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 1) {
      result += part;
      continue;
    }
    const end = position + part.length;
    let at = position;
    for (const span of spans) {
      if (span.end <= at || span.start >= end) continue;
      if (span.start >= position)
        result += `${part.slice(at - position, span.start - position)}***`;
      at = Math.min(span.end, end);
    }
    result += part.slice(at - position);
    position = end;
  }
  return result;
}

/**
 * Applies `redact` to every text and member name in JSON data. Returns the same object if nothing
 * changes.
 */
export function redactAll<Value>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === "string") return redact(value) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const all = value.map((each: unknown) => redactAll(each, redact));
    return all.every((each, at) => each === value[at]) ? value : (all as Value);
  }
  const before = Object.entries(value) as [string, unknown][];
  const after = before.map(([name, each]) => [redact(name), redactAll(each, redact)] as const);
  const isSame = after.every(
    ([name, each], at) => name === before[at]?.[0] && each === before[at][1],
  );
  return isSame ? value : (Object.fromEntries(after) as Value);
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

export function createSecrets(): Secrets {
  let known: string[] = [];
  let keys: string[] = [];
  let characters = new Set<string>();
  // Fast check: matches the start of any known text, or an escape sequence, which may be inside a
  // secret. Most texts have neither, and an upload checks a response for each document.
  // Without secrets it matches nothing; the anchor keeps it from trying at each character.
  let suspicious = /^(?!)/;
  const redact = (text: string): string => {
    if (!suspicious.test(text)) return text;
    const parts = splitSequences(text);
    // Sequences too: a hyperlink contains its address.
    return clean(parts.map((part, index) => (index % 2 === 1 ? clean([part]) : part)));
  };
  const clean = (parts: readonly string[]): string =>
    replaceSpans(parts, findSpans(withoutSequences(parts), known));
  const openTail = (text: string): number => {
    // Fast path: most writes end with a newline.
    const last = text.at(-1);
    if (last === undefined || known.length === 0) return 0;
    if (!characters.has(last) && !endsWithSequence.test(text.slice(-32))) return 0;
    const parts = splitSequences(text);
    const visible = withoutSequences(parts);
    let open = visible.length - openStart(visible, known);
    if (open === 0) return 0;
    let count = 0;
    for (const [index, part] of [...parts.entries()].toReversed()) {
      if (index % 2 === 1) count += part.length;
      else {
        const taken = Math.min(open, part.length);
        count += taken;
        open -= taken;
        if (open === 0) break;
      }
    }
    return count;
  };
  const redactLast = (text: string): string => {
    // The start of a secret begins with its first 6 characters too, or it is too short to matter.
    if (!suspicious.test(text)) return text;
    const end = text.length - openTail(text);
    const tail = splitSequences(text.slice(end));
    if (withoutSequences(tail).length < shortestSecret) return redact(text);
    const styles = tail.filter((_, index) => index % 2 === 1);
    return `${redact(text.slice(0, end))}***${styles.join("")}`;
  };
  return {
    add(secret) {
      if (secret.length < shortestSecret) return;
      const all = spellings(secret);
      known = [...new Set([...known, ...all])];
      if (secret.length >= shortestKey) keys = [...keys, ...all];
      characters = new Set(known.join(""));
      const prefixes = new Set(known.map((text) => text.slice(0, shortestSecret)));
      suspicious = new RegExp([...prefixes].map(escapeRegExp).concat("\\u001b").join("|"));
    },
    redact,
    redactAll: (value) => redactAll(value, redactLast),
    mayHold: (text) => suspicious.test(text),
    holdsKey: (text) => suspicious.test(text) && keys.some((each) => text.includes(each)),
    redactLast,
    openTail,
  };
}

/** The key of a sandbox on loopback, not redacted: it is an ordinary word. */
export const publicKey = "sandbox";

const registries = new WeakMap<object, Secrets>();

/** Variables with keys, registered first: a rejected command line may contain a key too. */
const keyVariables = ["KNOWCTL_API_KEY", "KNOWCTL_ACCESS_TOKEN", "KNOWCTL_CLIENT_KEY_PASSPHRASE"];

/** The secrets of a run: one registry for each context, shared by all gates of that run. */
export function secretsOf(context: {
  env?: Readonly<Record<string, string | undefined>>;
}): Secrets {
  let secrets = registries.get(context);
  if (secrets) return secrets;
  registries.set(context, (secrets = createSecrets()));
  for (const name of keyVariables) {
    const key = context.env?.[name]?.trim() ?? "";
    // A shorter value may be an ordinary word.
    if (key.length >= shortestKey) secrets.add(key);
  }
  return secrets;
}
