/** Secrets of this run. A registered secret never reaches a sink, even where a server echoes it. */
export interface Secrets {
  /** Shorter than 6 characters is not redacted: it would shred ordinary text. */
  add(secret: string): void;
  /**
   * Replaces every registered secret by `***`: plain, URL-encoded, JSON-escaped,
   * hexadecimal, or in base64, also as a part of a longer base64 text. Escape
   * sequences (our own; the text is neutralised) stay, also inside a secret.
   */
  redact(text: string): string;
  /**
   * How many characters at the end of `text` must wait for what follows: they
   * may be the beginning of a secret, or belong to one that goes on. Mostly 0.
   */
  openTail(text: string): number;
}

/** From `start` (included) to `end` (excluded). */
interface Span {
  start: number;
  end: number;
}

const shortestSecret = 6;

// The same bytes look different in base64 after 0, 1 or 2 others; the characters
// at either end that depend on the neighbours are left out.
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

function spellings(secret: string): string[] {
  // encodeURIComponent throws on half a surrogate pair; the way to bytes and back mends it.
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
    encodeURI(wellFormed),
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

/** Where the known texts stand; those that overlap are one span. */
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

function openStart(text: string, known: readonly string[]): number {
  let open = 0;
  for (const each of known) {
    for (let length = Math.min(each.length - 1, text.length); length > open; length--) {
      if (text.endsWith(each.slice(0, length))) open = length;
    }
  }
  let start = text.length - open;
  if (open === 0) return start;
  // A secret that ends inside the open part would be cut in two.
  for (const span of findSpans(text, known).toReversed()) {
    if (span.start < start && span.end > start) start = span.start;
  }
  return start;
}

const sequences = /(\u001b(?:\[[\d;?]*[A-Za-z]|\]8;;[^\u001b]*\u001b\\))/;
const endsWithSequence = /\u001b(?:\[[\d;?]*[A-Za-z]|\\)$/;

/** Text at even places, escape sequences at odd ones. */
function splitSequences(text: string): string[] {
  return text.includes("\u001b") ? text.split(sequences) : [text];
}

function onlyText(parts: readonly string[]): string {
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

export function createSecrets(): Secrets {
  let known: string[] = [];
  let characters = new Set<string>();
  const clean = (parts: readonly string[]): string =>
    replaceSpans(parts, findSpans(onlyText(parts), known));
  return {
    add(secret) {
      if (secret.length < shortestSecret) return;
      known = [...new Set([...known, ...spellings(secret)])];
      characters = new Set(known.join(""));
    },
    redact(text) {
      if (known.length === 0) return text;
      const parts = splitSequences(text);
      // The address of a link stands inside its sequence.
      return clean(parts.map((part, index) => (index % 2 === 1 ? clean([part]) : part)));
    },
    openTail(text) {
      // The quick way out: most writes end with a newline.
      const last = text.at(-1);
      if (last === undefined || known.length === 0) return 0;
      if (!characters.has(last) && !endsWithSequence.test(text.slice(-32))) return 0;
      const parts = splitSequences(text);
      const visible = onlyText(parts);
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
    },
  };
}

/** The key of a sandbox on loopback: redacting it would shred the word wherever it stands. */
export const publicKey = "sandbox";

const registries = new WeakMap<object, Secrets>();

/** Keys that are known before anything is read: a command line that is refused may hold one, too. */
const keyVariables = ["KNOWCTL_API_KEY", "KNOWCTL_ACCESS_TOKEN", "KNOWCTL_CLIENT_KEY_PASSPHRASE"];

/** The secrets of a run: one registry per context, shared by every gate of that run. */
export function secretsOf(context: {
  env?: Readonly<Record<string, string | undefined>>;
}): Secrets {
  let secrets = registries.get(context);
  if (secrets) return secrets;
  registries.set(context, (secrets = createSecrets()));
  for (const name of keyVariables) {
    const key = context.env?.[name]?.trim() ?? "";
    if (key !== publicKey) secrets.add(key);
  }
  return secrets;
}
