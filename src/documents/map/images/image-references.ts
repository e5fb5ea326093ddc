import { createUnreadTest } from "../../text/structure.ts";

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** Decodes the HTML character references that occur in addresses; others stay unchanged. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,4}));/g,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined)
        return Object.hasOwn(entities, name) ? (entities[name] ?? whole) : whole;
      const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

// Sticky: each match starts at the end of the last one, so that the text is scanned once.
const nameAndEquals = /[\s/]*([^\s"'<>/=]+)\s*(=?)\s*/y;
const unquoted = /[^\s"'<>`=]+/y;

interface AttributeValue {
  value: string;
  /** Offsets of the value with its quotes. */
  start: number;
  end: number;
}

function readValue(text: string, at: number): AttributeValue | undefined {
  const quote = text[at];
  if (quote === '"' || quote === "'") {
    const end = text.indexOf(quote, at + 1);
    return end === -1 ? undefined : { value: text.slice(at + 1, end), start: at, end: end + 1 };
  }
  unquoted.lastIndex = at;
  const value = unquoted.exec(text)?.[0];
  return value === undefined ? undefined : { value, start: at, end: at + value.length };
}

/**
 * Reads an attribute of a tag, if any, without character references; the attributes begin at `at`.
 * `end` is the offset where reading stopped. A template expression (`{…}`) is no value.
 */
export function readAttribute(
  text: string,
  at: number,
  name: string,
): { attribute?: AttributeValue; end: number } {
  let end = at;
  let attribute: AttributeValue | undefined;
  for (;;) {
    nameAndEquals.lastIndex = end;
    const found = nameAndEquals.exec(text);
    if (!found) break;
    end = nameAndEquals.lastIndex;
    if (found[2] === "") continue;
    const read = readValue(text, end);
    if (!read) break;
    // `href= target="_blank"`: a template left the value out, and another attribute follows.
    if (text[read.end] === "=") continue;
    end = read.end;
    if (found[1]?.toLowerCase() === name) attribute ??= read;
  }
  if (attribute === undefined || attribute.value.startsWith("{")) return { end };
  return { attribute: { ...attribute, value: decodeEntities(attribute.value) }, end };
}

/** One place in a text that refers to an image. */
interface ImageReference {
  /** The address, without escapes and character references. */
  source: string;
  /** Where the reference begins in the text. */
  offset: number;
}

interface Bracket {
  offset: number;
  isImage: boolean;
  /** Whether it contains brackets; a label must not (CommonMark 0.31, section 6.3). */
  hasInner: boolean;
}

// Escapes, brackets, tags, and blank lines. A blank line ends every open bracket.
const marks = /\\[^\n]|!?\[|\]|<img(?=[\s/>])|\n[ \t]*(?=\n)/gi;
const blanks = /[ \t]*\n?[ \t]*/y;
/** An address in `<…>`. */
export const angled = /<((?:\\.|[^\\<>\n]){0,4096})>/y;
const label = /\[((?:\\.|[^\\[\]]){0,999})\]/y;
/**
 * A definition `[label]: address`: label, address in `<…>`, other address. A reader may have dropped
 * the address, which a program makes: the next definition is none.
 */
export const definition =
  /^[ \t>]*\[((?:\\.|[^\\[\]]){1,999})\]:[ \t]*\n?[ \t]*(?:<([^<>\n]{0,4096})>|((?!\[[^[\]\n]{1,999}\]:)[^\s<]\S*))/gm;
// As in cmark, deeper nesting is no address. The limit also bounds the scans of hostile text.
const maxDepth = 32;

/** Text without Markdown escapes and character references. */
export const unescape = (text: string): string =>
  decodeEntities(text.replace(/\\([!-/:-@[-`{-~])/g, "$1"));

/** Labels that differ in blanks and capitals only are the same (CommonMark 0.31, section 4.7). */
export const labelKey = (text: string): string =>
  text.trim().replace(/\s+/g, " ").toLowerCase().toUpperCase();

/** End offset of blanks with at most one line break. */
export function skipBlanks(text: string, at: number): number {
  blanks.lastIndex = at;
  blanks.exec(text);
  return blanks.lastIndex;
}

/** End offset of an address without `<…>`; undefined when its parentheses nest too deeply. */
export function endOfBare(text: string, at: number): number | undefined {
  let depth = 0;
  let end = at;
  for (; end < text.length; end++) {
    const char = text[end] ?? "";
    if (char <= " ") break;
    if (char === "\\") end++;
    else if (char === "(" && ++depth > maxDepth) return undefined;
    else if (char === ")" && --depth < 0) break;
  }
  return Math.min(end, text.length);
}

/** Finds the next `mark`. `from` must grow from call to call, so that the text is scanned once. */
function createFinder(text: string, mark: string): (from: number) => number {
  let next = -1;
  return (from) => {
    if (next < from) next = text.indexOf(mark, from);
    if (next === -1) next = Infinity;
    return next;
  };
}

/** Offset of the next `)` in the same line. */
type FindClose = (from: number) => number | undefined;

function createCloseFinder(text: string): FindClose {
  const findClose = createFinder(text, ")");
  const findNewline = createFinder(text, "\n");
  return (from) => {
    const close = findClose(from);
    return close < findNewline(from) ? close : undefined;
  };
}

type Read = { source: string; end: number } | undefined;

/** Reads the parentheses of `![…](…)`; `at` is the offset after the opening parenthesis. */
function readInline(text: string, at: number, findClose: FindClose): Read {
  const start = skipBlanks(text, at);
  angled.lastIndex = start;
  const inAngles = text[start] === "<" ? angled.exec(text) : null;
  const end = inAngles ? angled.lastIndex : endOfBare(text, start);
  if (end === undefined) return undefined;
  const source = unescape(inAngles?.[1] ?? text.slice(start, end));
  const after = skipBlanks(text, end);
  if (text[after] === ")") return { source, end: after + 1 };
  // A title. It need not be valid.
  if (after > end && /["'(]/.test(text[after] ?? "")) return { source, end: after };
  // Several renderers accept a bare address with blanks, and authors use it.
  const close = inAngles ? undefined : findClose(end);
  if (close === undefined) return undefined;
  return { source: unescape(text.slice(start, close).trim()), end: close + 1 };
}

function readDefinitions(text: string): Map<string, string> {
  const isCode = createUnreadTest(text);
  const definitions = new Map<string, string>();
  for (const found of text.matchAll(definition)) {
    const key = labelKey(found[1] ?? "");
    // A footnote is no address.
    if (key.startsWith("^")) continue;
    if (definitions.has(key) || isCode(found.index + found[0].indexOf("["))) continue;
    definitions.set(key, unescape(found[2] ?? found[3] ?? ""));
  }
  return definitions;
}

/** Resolves `][label]`, `][]` or `]` alone; `at` is the offset after the first `]`. */
function readReference(
  text: string,
  at: number,
  open: Bracket,
  definitions: () => Map<string, string>,
): Read {
  label.lastIndex = at;
  const match = label.exec(text);
  const end = match ? label.lastIndex : at;
  let name = match?.[1] ?? "";
  if (name.trim() === "") {
    if (open.hasInner || at - open.offset > 1000) return undefined;
    name = text.slice(open.offset + 2, at - 1);
  }
  const source = definitions().get(labelKey(name));
  return source === undefined ? undefined : { source, end };
}

function createDefinitions(text: string): () => Map<string, string> {
  let definitions: Map<string, string> | undefined;
  return () => (definitions ??= readDefinitions(text));
}

/** Handles a closing bracket. Returns the image that it completes, if any. */
function closeBracket(
  text: string,
  at: number,
  stack: Bracket[],
  findClose: FindClose,
  definitions: () => Map<string, string>,
): { reference: ImageReference; end: number } | undefined {
  const open = stack.pop();
  const outer = stack.at(-1);
  if (outer) outer.hasInner = true;
  if (!open?.isImage) return undefined;
  const inline = text[at] === "(" ? readInline(text, at + 1, findClose) : undefined;
  const read = inline ?? readReference(text, at, open, definitions);
  return read && { reference: { source: read.source, offset: open.offset }, end: read.end };
}

/**
 * Finds the images that Markdown text refers to, in order: `![…](…)`, `![…][label]` with its
 * definition, and `<img src>`. Ignores references in code. The time is linear in the length of the
 * text, also for hostile text.
 */
export function findReferences(text: string): ImageReference[] {
  if (!text.includes("![") && !(text.includes("<") && /<img/i.test(text))) return [];
  const isCode = createUnreadTest(text);
  const findClose = createCloseFinder(text);
  const definitions = createDefinitions(text);
  const references: ImageReference[] = [];
  let stack: Bracket[] = [];
  marks.lastIndex = 0;
  for (let found = marks.exec(text); found; found = marks.exec(text)) {
    const [mark] = found;
    const next = marks.lastIndex;
    if (mark.startsWith("\n")) stack = [];
    if (mark.startsWith("\n") || mark.startsWith("\\") || isCode(found.index)) continue;
    if (mark === "]") {
      const image = closeBracket(text, next, stack, findClose, definitions);
      if (image) references.push(image.reference);
      if (image) marks.lastIndex = image.end;
    } else if (mark.startsWith("<")) {
      const { attribute, end } = readAttribute(text, next, "src");
      if (attribute) references.push({ source: attribute.value, offset: found.index });
      marks.lastIndex = end;
    } else {
      stack.push({ offset: found.index, isImage: mark.startsWith("!"), hasInner: false });
    }
  }
  return references.toSorted((one, other) => one.offset - other.offset);
}
