import { decodeHTMLStrict } from "entities/decode";
import { Lexer, type MarkedToken } from "marked";
import { neutraliseLine } from "../../terminal/neutralise.ts";
import { bits, cellsOf, colours, type Cell } from "./rows.ts";

/** How inline text looks. */
export interface InlineLook {
  hasColour: boolean;
  hasLinks: boolean;
  /** Shorten citation markers `[[1]](…)` to `[1]`, because the list of sources has the address. */
  shortensMarkers: boolean;
}

const maxUrlLength = 2000;

/**
 * The address for a hyperlink, or undefined. Only http, https and mailto, encoded as
 * visible ASCII, so that a look-alike host shows its `xn--` form.
 */
function safeUrl(address: string): string | undefined {
  if (address.length > maxUrlLength || !/^(?:https?:\/\/|mailto:)/i.test(address)) return undefined;
  if (!URL.canParse(address)) return undefined;
  const { href } = new URL(address);
  return /^[\u0021-\u007e]+$/.test(href) ? href : undefined;
}

/** Whether the label of a link names another host than its address. */
function misleads(label: string, address: string): boolean {
  const named = /^(?:[a-z][a-z+.-]*:\/\/)?((?:[\w-]+\.)+[a-z]{2,})(?:[/:?#]|$)/i.exec(label.trim());
  if (!named) return false;
  const host = URL.canParse(address) ? new URL(address).hostname : "";
  const bare = (name: string): string => name.toLowerCase().replace(/^www\./, "");
  return bare(named[1] ?? "") !== bare(host);
}

/** More marks than real text has; the lexer takes quadratic time and more on them. */
const maxMarks = 200;

function lexInline(source: string): MarkedToken[] {
  const marks = source.match(/[*_~`[\]<!\\]+/g)?.length ?? 0;
  if (marks > maxMarks) return [{ type: "text", raw: source, text: source }];
  return Lexer.lexInline(source) as MarkedToken[];
}

/** Adds `text`, which stands for the `length` characters of the source from `at`. */
type Put = (text: string, at: number, length: number, style: number, url?: string) => void;

const emphasis = { em: bits.italic, strong: bits.bold, del: bits.strikethrough };

/** Adds the cells of some tokens. `at`: the position of the first token in the source. */
function putTokens(
  put: Put,
  tokens: readonly MarkedToken[],
  at: number,
  style: number,
  look: InlineLook,
): void {
  let from = at;
  for (const token of tokens) {
    putToken(put, token, from, style, look);
    from += token.raw.length;
  }
}

function putToken(put: Put, token: MarkedToken, at: number, style: number, look: InlineLook): void {
  const { type, raw } = token;
  switch (type) {
    case "em":
    case "strong":
    case "del": {
      const length = (raw.length - token.text.length) >> 1;
      const mark = look.hasColour ? "" : raw.slice(0, length);
      put(mark, at, length, style);
      const inner = look.hasColour ? style | emphasis[type] : style;
      putTokens(put, token.tokens as MarkedToken[], at + length, inner, look);
      return put(mark, at + raw.length - length, length, style);
    }
    case "codespan": {
      if (!look.hasColour) return put(raw, at, raw.length, style);
      // The marks have the same length, and a space beside both of them is none of the code.
      const start = at + ((raw.length - token.text.length) >> 1);
      return put(token.text, start, token.text.length, style | colours.cyan);
    }
    case "br":
      return put("\n", at, raw.length, style);
    case "escape":
      return put(token.text, at, raw.length, style);
    case "link":
    case "image":
      return putLink(put, token, at, style, look);
    case "text":
      for (const [part, reference] of raw.matchAll(/(&[#\w]{1,31};)|&| {2,}|(?:[^& ]| (?! ))+/g)) {
        // The decoded characters are untrusted, too.
        const text = reference === undefined ? part : neutraliseLine(decodeHTMLStrict(part));
        put(text.startsWith("  ") ? " " : text, at, part.length, style);
        at += part.length;
      }
      return;
    default:
      put(raw, at, raw.length, style);
  }
}

/** Adds a link: its label, and its address where that is not hidden behind the label. */
function putLink(
  put: Put,
  token: Extract<MarkedToken, { type: "link" | "image" }>,
  at: number,
  style: number,
  look: InlineLook,
): void {
  const { raw, text, href: address } = token;
  const url = look.hasLinks ? safeUrl(address) : undefined;
  const own = url === undefined ? style : style | bits.underline;
  const start =
    at + (raw.startsWith("[") || raw.startsWith("<") ? 1 : token.type === "image" ? 2 : 0);
  const label: Put = (part, from, length, inner) => put(part, from, length, inner | own, url);
  if (token.type === "image") label("image: ", at, 2, style);
  if ("autolink" in token) return label(text, start, text.length, style);
  putTokens(label, token.tokens as MarkedToken[], start, style, look);
  const words = text.replaceAll(/[*_~`\\]/g, "");
  const isMarker = look.shortensMarkers && /^\[\d{1,6}\]$/.test(text);
  const isHyperlink = url !== undefined && !misleads(words, address);
  if (address === "" || address === words || isMarker || isHyperlink) return;
  const end = start + text.length;
  put(` (${address})`, end, at + raw.length - end, style | bits.dim, url);
}

/** What an opening mark stands before; before other characters it is mostly no mark: `*.md`. */
const startsText = /["'`“‘«([\p{L}\p{N}]/u;

/** Where marks, an address or a reference begin that the text ends with: they may go on. */
function endOfText(source: string): number {
  let end = source.length;
  while (end > 0 && /[\s*_~`\\[\]!<&]/.test(source[end - 1] ?? "")) end--;
  const tail = source.slice(Math.max(0, end - maxUrlLength), end);
  const open = /(?:^|\s|[^\]]\()(https?:\/\/\S*)$|(&[#\w]{1,31})$/.exec(tail);
  return end - (open?.[1] ?? open?.[2] ?? "").length;
}

function isOpenTarget(source: string): boolean {
  let depth = 0;
  for (const character of source) {
    if (character === "(") depth++;
    else if (character === ")") depth--;
    if (depth === 0 || character === "\n") return false;
  }
  return true;
}

/**
 * The part of an unfinished text that can be shown, and what closes the marks that are open at its
 * end, so that the text has its look from the start.
 */
function completeInline(source: string, hasColour: boolean): { text: string; closing: string } {
  const target = source.lastIndexOf("](");
  const isTarget = target >= 0 && isOpenTarget(source.slice(target + 1));
  const text = source.slice(0, isTarget ? target : endOfText(source));
  const open: string[] = [];
  let code = "";
  for (const { 0: mark, index } of text.matchAll(/\\.|`+|!?\[|\]|\*{1,3}|_{1,3}|~~/gs)) {
    if (code !== "" || mark.startsWith("`")) {
      if (code === "" || code === mark) code = code === "" ? mark : "";
    } else if (mark.endsWith("[")) open.push(mark);
    else if (mark === "]") {
      const at = open.findLastIndex((each) => each.endsWith("["));
      if (at >= 0) open.length = at;
    } else if (!mark.startsWith("\\")) {
      const before = text[index - 1] ?? " ";
      const after = text[index + mark.length] ?? " ";
      const at = /\s/.test(before) ? -1 : open.lastIndexOf(mark);
      if (at >= 0) open.length = at;
      else if (startsText.test(after) && !(mark.startsWith("_") && /\w/.test(before)))
        open.push(mark);
    }
  }
  const marks = hasColour ? [...open, code] : open.filter((mark) => mark.endsWith("["));
  const first = marks.indexOf("[");
  const closing = marks.map((mark, index) => {
    if (!mark.endsWith("[")) return mark;
    // A link contains no other link, but may contain an image.
    return mark === "![" || index === first ? "]()" : "]";
  });
  return { text, closing: closing.toReversed().join("") };
}

interface InlineOptions {
  style?: number;
  /** Position in the source up to which everything is on the terminal already. */
  done?: number;
  /** Each line of the source is a row. */
  keepsLines?: boolean;
  /** The text is not complete. */
  isOpen?: boolean;
}

/** Cells of inline Markdown, each with its position in the source. */
export function inlineCells(source: string, look: InlineLook, options: InlineOptions): Cell[] {
  const { style = 0, done = 0, keepsLines = false, isOpen = false } = options;
  const cells: Cell[] = [];
  const put: Put = (words, at, length, own, url) => {
    if (at + length <= done) return;
    // Of a long text, only the rest is measured.
    const skipped = words.length === length ? Math.max(0, Math.ceil(done) - at) : 0;
    const step = length / words.length;
    let from = at + skipped;
    for (const cell of cellsOf(words.slice(skipped).replaceAll("\t", " "), own)) {
      const end = from + cell.text.length * step;
      if (end > done) cells.push({ ...cell, url, end });
      from = end;
    }
  };
  const { text, closing } = isOpen
    ? completeInline(source, look.hasColour)
    : { text: source, closing: "" };
  // Only a line break after two spaces or a backslash is one on the screen.
  const broken = keepsLines ? text : text.replaceAll(/(?<! {2}|\\)\n/g, " ");
  putTokens(put, lexInline(broken + closing), 0, style, look);
  // Marks that close nothing are not shown.
  return closing === "" ? cells : cells.filter(({ end }) => end <= text.length);
}
