import { decodeHTMLAttribute } from "entities/decode";

// A longer line is data, or made to cost time.
const longestTag = 10_000;
// CommonMark 0.31, 4.6.
const blockTag =
  /^<\/?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:[\s>]|\/>|$)/i;
const rawTag = /^<(pre|script|style|textarea)(?:[\s>]|$)/i;
const attribute = String.raw`\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>\x60]+|'[^']*'|"[^"]*"))?`;
const tagAlone = new RegExp(
  String.raw`^<(?:[A-Za-z][\w-]*(?:${attribute})*\s*/?|/[A-Za-z][\w-]*\s*)>\s*$`,
);
const fence = /^(`{3,})[^`]*$|^(~{3,})/;
const bullet = /^(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)/;
const thematicBreak = /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
// A longer row of marks would use up the stack of the pattern.
/** Whether a line is a thematic break. */
const isBreak = (rest: string): boolean => rest.length <= longestTag && thematicBreak.test(rest);
const heading = /^#{1,6}(?:[ \t]|$)/;

/** How a fence or an HTML block ends. */
interface Ending {
  /** Whether a line ends the block, and belongs to it. */
  ends: (line: string) => boolean;
  endsAtBlank: boolean;
}

/** How an HTML block that begins with this line ends; undefined for none. */
function htmlEnding(rest: string, isInParagraph: boolean): Ending | undefined {
  if (!rest.startsWith("<")) return undefined;
  const until = (mark: RegExp): Ending => ({ ends: (line) => mark.test(line), endsAtBlank: false });
  if (rest.startsWith("<!--")) return until(/-->/);
  if (rawTag.test(rest)) return until(/<\/(?:pre|script|style|textarea)>/i);
  if (rest.startsWith("<?")) return until(/\?>/);
  if (rest.startsWith("<![CDATA[")) return until(/\]\]>/);
  if (/^<![A-Za-z]/.test(rest)) return until(/>/);
  const isAlone = !isInParagraph && rest.length <= longestTag && tagAlone.test(rest);
  if (!blockTag.test(rest) && !isAlone) return undefined;
  return { ends: () => false, endsAtBlank: true };
}

/** How a fence that begins with this line ends; undefined for none. */
function fenceEnding(rest: string): Ending | undefined {
  const [, ticks, tildes] = fence.exec(rest) ?? [];
  const marks = ticks ?? tildes;
  if (marks === undefined) return undefined;
  const char = marks[0] ?? "";
  const ends = (line: string): boolean => {
    const text = line.trim();
    return text.length >= marks.length && text === char.repeat(text.length);
  };
  return { ends, endsAtBlank: false };
}

/** A part of a Markdown text by how its lines are read. The pieces are in order and do not overlap. */
export interface Piece {
  /** `text`: a paragraph, heading or row of a table. `html`: an HTML block. */
  kind: "text" | "html" | "code";
  start: number;
  end: number;
  /** Numbers of the quotations and list items around it, outermost first. */
  containers: readonly number[];
}

interface Container {
  id: number;
  /** Columns that the lines of a list item are indented by; undefined for a quotation. */
  indent: number | undefined;
}

/** A fence or an HTML block that goes on until a line ends it. */
interface Open extends Ending {
  piece: Piece;
  depth: number;
}

/** A place in a line; columns count tabs as up to four. */
interface Cursor {
  text: string;
  at: number;
  lineEnd: number;
  column: number;
  /** Column up to which containers took the line. */
  taken: number;
}

interface Scan {
  pieces: Piece[];
  containers: Container[];
  nextId: number;
  open: Open | undefined;
  paragraph: Piece | undefined;
}

// Each line is compared with every container.
const mostContainers = 50;

function skipBlanks(cursor: Cursor): void {
  for (; cursor.at < cursor.lineEnd; cursor.at++) {
    const char = cursor.text[cursor.at];
    if (char === " ") cursor.column++;
    else if (char === "\t") cursor.column += 4 - (cursor.column % 4);
    else return;
  }
}

const isBlank = ({ at, lineEnd }: Cursor): boolean => at >= lineEnd;
const indentOf = ({ column, taken }: Cursor): number => column - taken;
const restOf = ({ text, at, lineEnd }: Cursor): string => text.slice(at, lineEnd);

function advance(cursor: Cursor, chars: number): void {
  cursor.at += chars;
  cursor.column += chars;
  cursor.taken = cursor.column;
}

function takeQuote(cursor: Cursor): boolean {
  if (indentOf(cursor) > 3 || cursor.text[cursor.at] !== ">" || isBlank(cursor)) return false;
  advance(cursor, 1);
  const next = cursor.text[cursor.at];
  if (next === " " || next === "\t") cursor.taken++;
  skipBlanks(cursor);
  return true;
}

/** Number of containers that go on in this line. */
function matchContainers({ containers }: Scan, cursor: Cursor): number {
  let count = 0;
  for (const { indent } of containers) {
    if (indent === undefined) {
      if (!takeQuote(cursor)) break;
    } else if (!isBlank(cursor)) {
      if (indentOf(cursor) < indent) break;
      cursor.taken += indent;
    }
    count++;
  }
  return count;
}

function endParagraph(scan: Scan): void {
  scan.paragraph = undefined;
}

function closeTo(scan: Scan, depth: number): void {
  if (scan.containers.length <= depth) return;
  scan.containers.length = depth;
  endParagraph(scan);
}

function addPiece(scan: Scan, kind: Piece["kind"], start: number, end: number): Piece {
  const piece = { kind, start, end, containers: scan.containers.map(({ id }) => id) };
  scan.pieces.push(piece);
  return piece;
}

/** Opens a list item; returns whether the line begins one. */
function openItem(scan: Scan, cursor: Cursor, isInParagraph: boolean): boolean {
  const rest = restOf(cursor);
  const mark = bullet.exec(rest)?.[0];
  if (mark === undefined || isBreak(rest)) return false;
  const isEmpty = rest.slice(mark.length).trim() === "";
  if (isInParagraph && (isEmpty || (/^\d/.test(mark) && mark.slice(0, -1) !== "1"))) return false;
  const before = indentOf(cursor);
  advance(cursor, mark.length);
  skipBlanks(cursor);
  const gap = indentOf(cursor);
  const blanks = isEmpty || gap > 4 ? 1 : gap;
  cursor.taken += blanks;
  if (isEmpty) cursor.taken = cursor.column;
  scan.containers.push({ id: scan.nextId++, indent: before + mark.length + blanks });
  return true;
}

/** Opens the quotations and list items that begin in this line. */
function openContainers(scan: Scan, cursor: Cursor, depth: number): void {
  while (!isBlank(cursor) && indentOf(cursor) < 4 && depth < mostContainers) {
    const isInParagraph = scan.paragraph !== undefined && scan.containers.length === depth;
    const open = scan.containers.splice(depth);
    const isQuote = takeQuote(cursor);
    if (isQuote) scan.containers.push({ id: scan.nextId++, indent: undefined });
    else if (!openItem(scan, cursor, isInParagraph)) {
      scan.containers.push(...open);
      return;
    }
    depth++;
    endParagraph(scan);
  }
}

/** Continues a fence or an HTML block. Returns false if the line is not part of it. */
function continueOpen(scan: Scan, cursor: Cursor, matched: number): boolean {
  const { open } = scan;
  if (!open) return false;
  if (matched < open.depth || (open.endsAtBlank && isBlank(cursor))) {
    scan.open = undefined;
    return false;
  }
  open.piece.end = cursor.lineEnd;
  if (open.ends(restOf(cursor))) scan.open = undefined;
  return true;
}

function openBlock(scan: Scan, cursor: Cursor, kind: "html" | "code", ending: Ending): void {
  endParagraph(scan);
  const piece = addPiece(scan, kind, cursor.at, cursor.lineEnd);
  const depth = scan.containers.length;
  // The line that opens a fence does not close it.
  if (kind === "html" && ending.ends(restOf(cursor).slice(2))) return;
  scan.open = { piece, depth, ...ending };
}

function readLeaf(scan: Scan, cursor: Cursor): void {
  const { paragraph } = scan;
  const rest = restOf(cursor);
  if (indentOf(cursor) >= 4) {
    if (paragraph) paragraph.end = cursor.lineEnd;
    else addPiece(scan, "code", cursor.at, cursor.lineEnd);
    return;
  }
  const code = fenceEnding(rest);
  const html = htmlEnding(rest, paragraph !== undefined);
  if (code) openBlock(scan, cursor, "code", code);
  else if (html) openBlock(scan, cursor, "html", html);
  else if (heading.test(rest) || isBreak(rest)) {
    endParagraph(scan);
    addPiece(scan, "text", cursor.at, cursor.lineEnd);
  } else if (paragraph) paragraph.end = cursor.lineEnd;
  else scan.paragraph = addPiece(scan, "text", cursor.at, cursor.lineEnd);
}

/** Whether a line goes on with a paragraph although it lacks the marks of its containers. */
function isLazy(scan: Scan, cursor: Cursor): boolean {
  if (!scan.paragraph) return false;
  if (indentOf(cursor) >= 4) return true;
  const rest = restOf(cursor);
  const isOther =
    rest.startsWith(">") ||
    heading.test(rest) ||
    isBreak(rest) ||
    bullet.test(rest) ||
    fenceEnding(rest) !== undefined ||
    htmlEnding(rest, true) !== undefined;
  return !isOther;
}

function readLine(scan: Scan, text: string, start: number, lineEnd: number): void {
  const cursor = { text, at: start, lineEnd, column: 0, taken: 0 };
  skipBlanks(cursor);
  const matched = matchContainers(scan, cursor);
  if (continueOpen(scan, cursor, matched)) return;
  if (isBlank(cursor)) {
    endParagraph(scan);
    // A blank line ends a quotation; the next line tells about list items.
    closeTo(scan, matched);
    return;
  }
  if (matched < scan.containers.length && isLazy(scan, cursor) && scan.paragraph) {
    scan.paragraph.end = lineEnd;
    return;
  }
  closeTo(scan, matched);
  openContainers(scan, cursor, matched);
  if (!isBlank(cursor)) readLeaf(scan, cursor);
}

/**
 * Divides a Markdown text into paragraphs, HTML blocks and code, as CommonMark reads its lines: also
 * in quotations and list items. The time is linear in the length of the text.
 */
export function piecesOf(text: string): Piece[] {
  const scan: Scan = {
    pieces: [],
    containers: [],
    nextId: 0,
    open: undefined,
    paragraph: undefined,
  };
  for (let start = 0; start <= text.length;) {
    const next = text.indexOf("\n", start);
    const lineEnd = next === -1 ? text.length : next;
    readLine(scan, text, start, lineEnd);
    start = lineEnd + 1;
  }
  return scan.pieces;
}

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
