/** A heading of Markdown text; offsets are into the text. */
export interface Heading {
  /** 1 to 6. */
  level: number;
  /** As written, without the marks around it. */
  text: string;
  start: number;
  /** Where the text below it begins. */
  end: number;
}

export interface Structure {
  headings: readonly Heading[];
  /** Code fences and HTML blocks, as pairs of start and end: nothing in them is Markdown. */
  opaque: readonly (readonly [number, number])[];
  /** Start offsets of paragraphs and of all other blocks after a blank line. */
  paragraphs: readonly number[];
}

const atx = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
// More list marks in one line would use up the stack of a pattern.
const fenceOpen = /^([ \t]*)(?:(?:[-*+]|\d{1,9}[.)])[ \t]+){0,100}(`{3,}|~{3,})(.*)$/;
const listItem = /^([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)/;
const underline = /^ {0,3}(=+|-+)[ \t]*$/;
// Lines that begin something other than a paragraph (CommonMark 0.31, section 4 and 5).
const otherBlock =
  /^(?: {4}|\t| {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|<[A-Za-z!?/]|\||(?:-{3,}|\*{3,})[ \t]*$|(?:_[ \t]*){3,}$))/;
const htmlBlock = /^ {0,3}<(!--|(?:pre|script|style|textarea)(?=[\s>]|$))/i;

interface Scan {
  headings: Heading[];
  opaque: [number, number][];
  paragraphs: number[];
  /** Start of the paragraph that the last line belongs to; -1 outside of one. */
  paragraphStart: number;
  afterBlank: boolean;
  /** Column where the text of the current list item begins; its fences have this indentation. */
  listIndent: number;
  /** Set within a fence or an HTML block: whether a line ends it. */
  closing: ((line: string) => boolean) | undefined;
}

const fenceClose = /^([ \t]*)(`{3,}|~{3,})[ \t]*$/;
const widthOf = (blanks: string): number => blanks.replaceAll("\t", "    ").length;

/** CommonMark 0.31, section 4.5: a mark with an indentation of four more columns ends no fence. */
function closesFence(marks: string, column: number): (line: string) => boolean {
  return (line) => {
    const [, indent = "", found] = fenceClose.exec(line) ?? [];
    return found?.startsWith(marks) === true && widthOf(indent) < column + 4;
  };
}

function opensOpaque(scan: Scan, line: string): ((line: string) => boolean) | undefined {
  if (line.includes("```") || line.includes("~~~")) {
    const [, indent = "", marks = "", info = ""] = fenceOpen.exec(line) ?? [];
    const column = widthOf(indent);
    const isCode = column >= scan.listIndent + 4;
    if (marks !== "" && !isCode && !(marks[0] === "`" && info.includes("`"))) {
      return closesFence(marks, Math.max(column, scan.listIndent));
    }
  }
  const name = line.includes("<") ? htmlBlock.exec(line)?.[1]?.toLowerCase() : undefined;
  if (name === undefined) return undefined;
  const end = name === "!--" ? "-->" : `</${name}`;
  // A comment that closes on its line needs no state.
  const from = line.indexOf("<") + 4;
  return line.toLowerCase().includes(end, from)
    ? undefined
    : (each) => each.toLowerCase().includes(end);
}

function addHeading(scan: Scan, text: string, line: string, start: number, end: number): boolean {
  const [, marks, title = ""] = (line.includes("#") && atx.exec(line)) || [];
  if (marks !== undefined) {
    const clean = title.replace(/(^|[ \t])#+[ \t]*$/, "$1").trim();
    scan.headings.push({ level: marks.length, text: clean, start, end });
    return true;
  }
  const [, bar] = (scan.paragraphStart !== -1 && underline.exec(line)) || [];
  if (bar === undefined) return false;
  const lines = text.slice(scan.paragraphStart, start).trim().split("\n");
  const underlinedTitle = lines.map((each) => each.trim()).join(" ");
  const level = bar.startsWith("=") ? 1 : 2;
  scan.headings.push({ level, text: underlinedTitle, start: scan.paragraphStart, end });
  return true;
}

function trackLists(scan: Scan, line: string): void {
  const item = listItem.exec(line);
  if (item) scan.listIndent = widthOf(item[0]);
  else if (!/^[ \t]/.test(line) && scan.afterBlank) scan.listIndent = 0;
}

/** Handles a line that begins with a letter: it is in a paragraph or continues a list item. */
function scanProse(scan: Scan, start: number): void {
  if (scan.afterBlank) {
    scan.paragraphs.push(start);
    scan.listIndent = 0;
  }
  scan.afterBlank = false;
  if (scan.paragraphStart === -1 && scan.listIndent === 0) scan.paragraphStart = start;
}

function scanLine(scan: Scan, text: string, start: number, lineEnd: number): void {
  // Most lines begin with a letter. No pattern can match them.
  const first = text.charCodeAt(start) | 0x20;
  if (!scan.closing && first >= 0x61 && first <= 0x7a) return scanProse(scan, start);
  const line = text.slice(start, lineEnd);
  const end = Math.min(lineEnd + 1, text.length);
  const last = scan.opaque.at(-1);
  if (scan.closing && last) {
    last[1] = end;
    if (scan.closing(line)) scan.closing = undefined;
    scan.afterBlank = false;
    return;
  }
  if (line.trim() === "") {
    scan.afterBlank = true;
    scan.paragraphStart = -1;
    return;
  }
  if (scan.afterBlank) scan.paragraphs.push(start);
  trackLists(scan, line);
  scan.afterBlank = false;
  scan.closing = opensOpaque(scan, line);
  if (scan.closing) {
    scan.opaque.push([start, end]);
    scan.paragraphStart = -1;
  } else if (addHeading(scan, text, line, start, end)) {
    scan.paragraphStart = -1;
  } else if (scan.paragraphStart === -1 && !otherBlock.test(line) && scan.listIndent === 0) {
    scan.paragraphStart = start;
  } else if (scan.paragraphStart !== -1 && otherBlock.test(line) && !/^(?: {4}|\t)/.test(line)) {
    // A list or quotation interrupts the paragraph.
    scan.paragraphStart = -1;
  }
}

function scanAll(text: string, enough?: (heading: Heading) => boolean): Structure {
  const scan: Scan = {
    headings: [],
    opaque: [],
    paragraphs: [],
    paragraphStart: -1,
    afterBlank: true,
    listIndent: 0,
    closing: undefined,
  };
  for (let start = 0; start < text.length;) {
    const next = text.indexOf("\n", start);
    const lineEnd = next === -1 ? text.length : next;
    const count = scan.headings.length;
    scanLine(scan, text, start, lineEnd);
    const heading = scan.headings[count];
    if (heading && enough?.(heading)) break;
    start = lineEnd + 1;
  }
  return { headings: scan.headings, opaque: scan.opaque, paragraphs: scan.paragraphs };
}

// The reader, the mapping and many rules ask for the structure of a text, one after the other.
let last: { text: string; structure: Structure } | undefined;

/**
 * Finds headings (`#` and underlined), fences and paragraphs of Markdown in one pass over the
 * lines. Text in a fence (also an indented one in a list), in an HTML comment or in `<pre>` is
 * never a heading. Stops after the first heading for which `enough` is true. A text that is scanned
 * whole twice in a row is scanned once.
 */
export function scanStructure(text: string, enough?: (heading: Heading) => boolean): Structure {
  if (enough) return scanAll(text, enough);
  if (last?.text !== text) last = { text, structure: scanAll(text) };
  return last.structure;
}

// Nobody writes a text with so many spans.
const mostSpans = 1_000_000;

/**
 * Where code ends that would begin at a run of backticks, by the start of the run: with the next run
 * of the same length before a break (CommonMark 0.31, section 6.1). `marks` matches runs and breaks.
 */
export function codeEndsIn(text: string, marks = /`+/g): Map<number, number> {
  const ends = new Map<number, number>();
  const last = new Map<number, number>();
  for (const { 0: run, index } of text.matchAll(marks)) {
    if (!run.startsWith("`")) {
      last.clear();
      continue;
    }
    const open = last.get(run.length);
    if (open !== undefined && ends.size < mostSpans) ends.set(open, index + run.length);
    last.set(run.length, index);
  }
  return ends;
}

/** Code spans of a line or paragraph as pairs of start and end, in order. */
export function codeSpansOf(
  line: string,
  mayOpen: (at: number) => boolean = () => true,
): [number, number][] {
  const spans: [number, number][] = [];
  let from = 0;
  for (const [at, end] of [...codeEndsIn(line)].toSorted(([one], [other]) => one - other)) {
    if (at < from || !mayOpen(at)) continue;
    spans.push([at, end]);
    from = end;
  }
  return spans;
}

/** Whether an offset lies in one of the ranges. The offset must grow from call to call. */
export function createLookup(
  ranges: readonly (readonly [number, number])[],
): (offset: number) => boolean {
  let next = 0;
  return (offset) => {
    for (let range = ranges[next]; range && range[1] <= offset; range = ranges[next]) next++;
    return (ranges[next]?.[0] ?? Infinity) <= offset;
  };
}

// What has indented lines that are no code: lists, admonitions, tabs, terms, footnotes, elements, tags.
const container =
  /^ {0,3}(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)|!!!|\?\?\?|===|:::|\/\/\/|:[ \t]|\[\^|<|\{|@)/;
const mayIndent = /(?:^|\n)[ \t]*\n(?: {4}| {0,3}\t)/;

/**
 * Indented code (CommonMark 0.31, section 4.4) as pairs of start and end, in order. What may belong to a list
 * or something like it is none.
 */
export function indentedCodeOf(text: string): [number, number][] {
  const ranges: [number, number][] = [];
  if (!mayIndent.test(text)) return ranges;
  const isOpaque = createLookup(scanStructure(text).opaque);
  let [afterBlank, isWithin, isCode] = [true, false, false];
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    const next = text.indexOf("\n", start);
    end = next === -1 ? text.length : next;
    const line = text.slice(start, Math.min(end, start + 100));
    if (line.trim() === "" && end - start < 100) {
      afterBlank = true;
      continue;
    }
    const isIndented = !isOpaque(start) && /^(?: {4}| {0,3}\t)/.test(line);
    isCode = isIndented && !isWithin && (afterBlank || isCode);
    if (isCode) ranges.push([start, end]);
    else if (container.test(line)) isWithin = true;
    else if (!isIndented && (afterBlank || line.startsWith("#")))
      isWithin = /^[ \t]/.test(line) && isWithin;
    afterBlank = false;
  }
  return ranges;
}

// pandoc.org, "Math": a `$` before a digit, or behind a blank, is the sign of a currency.
const math = /\$\$[^$]+\$\$|(?<![\\$])\$(?=[^\s$])[^$\n]{0,500}(?<=[^\s\\])\$(?![\d$])/g;

/** The formulas of TeX in a text, as pairs of start and end, in order. */
export const mathOf = (text: string): [number, number][] =>
  Array.from(text.matchAll(math), ({ 0: found, index }) => [index, index + found.length]);

/** HTML comments of a line that close in it, as pairs of start and end, in order. */
function commentsOf(line: string): [number, number][] {
  const comments: [number, number][] = [];
  for (let at = line.indexOf("<!--"); at !== -1; at = line.indexOf("<!--", at)) {
    const close = line.indexOf("-->", at + 4);
    if (close === -1) break;
    comments.push([at, close + 3]);
    at = close + 3;
  }
  return comments;
}

/** Code spans and comments of a line, in order. A comment in a code span is code. */
function unreadSpansOf(line: string): [number, number][] {
  const spans = codeSpansOf(line);
  if (!line.includes("<!--")) return spans;
  const isCode = createLookup(spans);
  const comments = commentsOf(line).filter(([start]) => !isCode(start));
  return [...spans, ...comments].toSorted(([one], [other]) => one - other);
}

function createTest(
  text: string,
  spansOf: (line: string) => [number, number][],
): (offset: number) => boolean {
  const isOpaque = createLookup(scanStructure(text).opaque);
  let start = 0;
  let end = -1;
  let isInSpan: (offset: number) => boolean = () => false;
  return (offset) => {
    if (isOpaque(offset)) return true;
    if (offset >= end) {
      start = text.lastIndexOf("\n", offset) + 1;
      const next = text.indexOf("\n", offset);
      end = next === -1 ? text.length : next;
      isInSpan = createLookup(spansOf(text.slice(start, end)));
    }
    return isInSpan(offset - start);
  };
}

/**
 * Returns a function that checks whether an offset of Markdown text lies in code or an HTML block,
 * where Markdown marks have no meaning: fences, comments over several lines, `<pre>`, and code
 * spans that close on their line. The offset must grow from call to call, so that the text is
 * scanned once.
 */
export const createCodeTest = (text: string): ((offset: number) => boolean) =>
  createTest(text, (line) => codeSpansOf(line));

/** Like createCodeTest(), but also for comments on one line: no link and no image is in one. */
export const createUnreadTest = (text: string): ((offset: number) => boolean) =>
  createTest(text, unreadSpansOf);
