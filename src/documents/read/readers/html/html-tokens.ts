import { decodeHTML, decodeHTMLAttribute } from "entities/decode";

/** One token of an HTML text, as far as it matters for the text of the page. */
export type Token =
  | { kind: "text"; text: string }
  | { kind: "open"; name: string; attributes: ReadonlyMap<string, string>; at: number }
  | { kind: "close"; name: string }
  | { kind: "comment"; text: string; at: number };

export type Open = Extract<Token, { kind: "open" }>;

// Their content is no markup (HTML Standard, 13.2.5): up to the end tag it is one text. Only in
// `title` and `textarea` it has entities.
const rawElements = new Set(["script", "style", "xmp", "iframe", "noembed", "title", "textarea"]);
const tagName = /[^\t\n\f\r />]*/y;
const attributePart =
  /[\t\n\f\r /]*(?:([^\t\n\f\r />=][^\t\n\f\r />=]*|=[^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r >"'][^\t\n\f\r >]*))?)?)?/y;
const maxAttributes = 100;

export interface TagSource {
  text: string;
  /** End tags and comment ends that do not occur again: they are searched for only once. */
  missing: Set<string>;
}

/** Offset of the next occurrence; -1 for none. A missing text is searched for only once. */
function find(source: TagSource, what: string, from: number): number {
  if (source.missing.has(what)) return -1;
  const at = source.text.indexOf(what, from);
  if (at === -1) source.missing.add(what);
  return at;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Reads the attributes from an offset to the end of the tag; undefined if the tag never ends. */
export function readAttributes(
  source: TagSource,
  from: number,
): { attributes: Map<string, string>; end: number } | undefined {
  const attributes = new Map<string, string>();
  let at = from;
  while (source.text[at] !== ">") {
    if (at >= source.text.length) return undefined;
    // A quote that never closes must not be scanned again for each tag.
    const found = source.missing.has("tag end") ? null : match(attributePart, source.text, at);
    if (found?.[0] === undefined || found[0] === "") {
      const end = find(source, ">", at);
      return end === -1 ? undefined : { attributes, end: end + 1 };
    }
    at += found[0].length;
    const [, name, double, single, bare] = found;
    if (name === undefined || attributes.size >= maxAttributes) continue;
    const key = name.toLowerCase();
    const value = double ?? single ?? bare ?? "";
    // The first of two attributes counts. A longer value is data, not text.
    if (!attributes.has(key) && value.length <= 10_000) {
      attributes.set(key, decodeHTMLAttribute(value));
    }
  }
  return { attributes, end: at + 1 };
}

/** Start and end of the end tag of a raw element, ignoring case; undefined for none. */
function findEndTag(source: TagSource, name: string, from: number): [number, number] | undefined {
  const key = `</${name}`;
  if (source.missing.has(key)) return undefined;
  const pattern = new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, "gi");
  pattern.lastIndex = from;
  const start = pattern.exec(source.text)?.index;
  const end = start === undefined ? -1 : source.text.indexOf(">", start);
  if (start !== undefined && end !== -1) return [start, end + 1];
  source.missing.add(key);
  return undefined;
}

function* readOpen(source: TagSource, at: number): Generator<Token, number> {
  const { text } = source;
  const name = match(tagName, text, at + 1)?.[0] ?? "";
  const read = readAttributes(source, at + 1 + name.length);
  if (!read) {
    source.missing.add("tag end");
    yield { kind: "text", text: "<" };
    return at + 1;
  }
  const lower = name.toLowerCase();
  yield { kind: "open", name: lower, attributes: read.attributes, at };
  // `svg` is the only hidden element that may close itself.
  const isClosed = lower === "svg" && text.startsWith("/>", read.end - 2);
  if (isClosed) yield { kind: "close", name: lower };
  if (!rawElements.has(lower)) return read.end;
  const close = findEndTag(source, lower, read.end);
  // Never closed: a browser would hide all following text; here the text stays.
  if (!close) return read.end;
  const content = text.slice(read.end, close[0]);
  const hasEntities = lower === "title" || lower === "textarea";
  yield { kind: "text", text: hasEntities ? decodeHTML(content) : content };
  yield { kind: "close", name: lower };
  return close[1];
}

/** Reads one construct that begins with "<". Returns the offset after it. */
function* readMarkup(source: TagSource, at: number): Generator<Token, number> {
  const { text } = source;
  const next = text[at + 1] ?? "";
  if (/[A-Za-z]/.test(next)) return yield* readOpen(source, at);
  if (text.startsWith("<!--", at)) {
    // `<!-->` and `<!--->` are also comments. One that never closes hides the rest of the page.
    const end = find(source, "-->", at + 2);
    const textEnd = end === -1 ? text.length : end;
    yield { kind: "comment", text: text.slice(at + 4, Math.max(at + 4, textEnd)), at };
    return end === -1 ? text.length : end + 3;
  } else if (next === "!" || next === "?" || (next === "/" && /[^\s<]/.test(text[at + 2] ?? ""))) {
    const end = find(source, ">", at);
    if (end !== -1) {
      const name = next === "/" ? (match(tagName, text, at + 2)?.[0] ?? "") : "";
      if (name !== "") yield { kind: "close", name: name.toLowerCase() };
      return end + 1;
    }
  }
  yield { kind: "text", text: "<" };
  return at + 1;
}

/**
 * Yields the tokens of an HTML text in order, with decoded entities and names in lower case. The
 * time is linear for any text. A construct that is never closed is text, so that nothing after it
 * is lost.
 */
export function* readTokens(text: string): Generator<Token> {
  const source: TagSource = { text, missing: new Set() };
  for (let at = 0; at < text.length;) {
    const open = text.indexOf("<", at);
    const end = open === -1 ? text.length : open;
    if (end > at) yield { kind: "text", text: decodeHTML(text.slice(at, end)) };
    at = open === -1 ? end : yield* readMarkup(source, open);
  }
}
