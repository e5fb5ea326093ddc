import { codeHtml, escapeHtml, linkHtml, unescaped } from "../rst-html.ts";
import { readFootnote, readInterpreted, readUnderscore } from "./rst-references.ts";
import { nameOf } from "../rst-reading.ts";
import {
  addressOf,
  canOpen,
  findEnd,
  flush,
  isCloser,
  longestName,
  type Inline,
  type Scan,
} from "../blocks/rst-scan.ts";

function readLiteral(scan: Scan): boolean {
  const { text, at } = scan;
  if (!canOpen(scan, at, at, 2)) return false;
  const end = findEnd(scan, "``", at + 2);
  if (end === -1) return false;
  // A backtick before the end belongs to the text.
  const close = text[end + 2] === "`" && isCloser(text, end + 3) ? end + 1 : end;
  flush(scan, at, close + 2, codeHtml(text.slice(at + 2, close)));
  return true;
}

function readStars(scan: Scan): boolean {
  const { text, at } = scan;
  const mark = text[at + 1] === "*" ? "**" : "*";
  if (!canOpen(scan, at, at, mark.length)) return false;
  const end = findEnd(scan, mark, at + mark.length);
  if (end === -1) return false;
  const name = mark === "*" ? "em" : "strong";
  const content = unescaped(text.slice(at + mark.length, end));
  flush(scan, at, end + mark.length, `<${name}>${content}</${name}>`);
  return true;
}

const deepestSubstitution = 8;

function readSubstitution(scan: Scan): boolean {
  const { text, at, inline, depth } = scan;
  if (!canOpen(scan, at, at, 1)) return false;
  const end = findEnd(scan, "|", at + 1);
  if (end === -1) return false;
  const name = text.slice(at + 1, end);
  const value = name.length <= longestName ? inline.substitutions.get(nameOf(name)) : undefined;
  const marks = /^_{0,2}/.exec(text.slice(end + 1, end + 3))?.[0] ?? "";
  const next = end + 1 + marks.length;
  if (!value || depth >= deepestSubstitution || value.text.length > inline.room) {
    scan.at = next;
    return true;
  }
  inline.room -= value.text.length;
  const shown = value.kind === "html" ? value.text : render(inline, value.text, depth + 1);
  const address = marks === "_" ? addressOf(inline, name) : undefined;
  flush(scan, at, next, address ? linkHtml(shown, address) : shown);
  return true;
}

function readEscape(scan: Scan): boolean {
  const { at, text } = scan;
  flush(scan, at, at + 2, unescaped(text.slice(at, at + 2)));
  return true;
}

const marks = /[\\`*|_[]/g;

function readMark(scan: Scan): boolean {
  const { text, at } = scan;
  const mark = text[at];
  if (mark === "\\") return readEscape(scan);
  if (mark === "`") return text[at + 1] === "`" ? readLiteral(scan) : readInterpreted(scan);
  if (mark === "*") return readStars(scan);
  if (mark === "|") return readSubstitution(scan);
  return mark === "[" ? readFootnote(scan) : readUnderscore(scan);
}

function render(inline: Inline, text: string, depth: number): string {
  const scan: Scan = {
    inline,
    text,
    at: 0,
    from: 0,
    parts: [],
    unclosed: new Set(),
    depth,
  };
  while (scan.at < text.length) {
    marks.lastIndex = scan.at;
    const found = marks.exec(text);
    if (!found) break;
    scan.at = found.index;
    if (readMark(scan)) continue;
    // A run of backticks or stars that opens nothing is text.
    const mark = text[scan.at++] ?? "";
    if (mark === "`" || mark === "*") while (text[scan.at] === mark) scan.at++;
  }
  return scan.parts.join("") + escapeHtml(text.slice(scan.from));
}

// A longer text is no paragraph. Its marks would use gigabytes.
const longestText = 1_000_000;

/** Running text as HTML. */
export function renderInline(inline: Inline, text: string): string {
  return text.length > longestText ? escapeHtml(text) : render(inline, text, 0);
}
