import type { LintPage, Span, Found } from "../rule.ts";
import { type Body, bodyOf, createLineOf, createProseTest } from "./body.ts";
import { formatOf, formats } from "../../../documents/formats/formats.ts";
import { hideSecrets } from "../secrets/find-secrets.ts";

/** Finds the place in the file of a piece of the body; offsets must grow from call to call. */
type FindSpan = (start: number, end: number) => Span | undefined;

/** Places of equal lines in the file. Those before `next` are used up. */
interface Places {
  offsets: number[];
  next: number;
}

const nowhere = (): undefined => undefined;
// A longer line is compared as it is.
const longestLine = 2000;
// Searches in vain: each of them can cost a look at the whole file.
const mostSearches = 100;
const shortestPiece = 6;

/** The letters and digits of a line: each format writes headings, lists and code in its own way. */
const bare = (line: string): string =>
  line.length > longestLine ? line : line.replace(/[^\p{L}\p{N}]+/gu, "");

// The id that a reader adds to a heading: the file has it on a line of its own.
const ownId = /[ \t]\{#[^{}\s]+\}[ \t]*$/;

function placesOf(source: string): Map<string, Places> {
  const places = new Map<string, Places>();
  for (let start = 0; start < source.length;) {
    const next = source.indexOf("\n", start);
    const end = next === -1 ? source.length : next;
    const key = bare(source.slice(start, end));
    const known = places.get(key);
    if (known) known.offsets.push(start);
    else places.set(key, { offsets: [start], next: 0 });
    start = end + 1;
  }
  return places;
}

const htmlHeading = /<h([1-6])\b[^>]*>([^]{0,500}?)<\/h\1>/gi;
const tagOrEntity = /<[^>]*>|&#?\w{1,20};/g;

/** The headings of HTML by their letters and digits. */
function headingsOf(source: string): Map<string, Span[]> {
  const headings = new Map<string, Span[]>();
  for (const { 0: whole, 2: inner = "", index } of source.matchAll(htmlHeading)) {
    const key = bare(inner.replace(tagOrEntity, ""));
    const span = { start: index, end: index + whole.length };
    const known = headings.get(key);
    if (known) known.push(span);
    else headings.set(key, [span]);
  }
  return headings;
}

/** Finds the headings of a body in its HTML: of equal ones, the first is the first there. */
function findHeadings(source: string, text: string): (lineStart: number) => Span | undefined {
  const inFile = headingsOf(source);
  const found = new Map<number, Span>();
  for (const { 0: line, index } of text.matchAll(/^#{1,6} .*$/gm)) {
    const spans = inFile.get(bare(line));
    // Markdown may contain headings of both kinds.
    if (!spans || source.includes(line)) continue;
    const span = spans.length > 1 ? spans.shift() : spans[0];
    if (span) found.set(index, span);
  }
  return (lineStart) => found.get(lineStart);
}

const headingLines = /^#{1,6} .*$/gm;

/** Counts the headings before an offset with the same letters and digits; offsets must grow from call to call. */
function createHeadingCount(text: string): (start: number, key: string) => number {
  const seen = new Map<string, number>();
  const lines = text.matchAll(headingLines);
  let open = lines.next();
  return (start, key) => {
    for (; !open.done && open.value.index < start; open = lines.next()) {
      const each = bare(open.value[0].replace(ownId, ""));
      seen.set(each, (seen.get(each) ?? 0) + 1);
    }
    return seen.get(key) ?? 0;
  };
}

/** Finds the lines of a body that its reader changed. */
function findLines(source: string, text: string): FindSpan {
  const lineOf = createLineOf(text);
  let places: Map<string, Places> | undefined;
  const headingCount = createHeadingCount(text);
  let headings: ((lineStart: number) => Span | undefined) | undefined;
  const headingAt = (lineStart: number): Span | undefined =>
    (headings ??= findHeadings(source, text))(lineStart);
  let bodyLine = -1;
  let line: Span | undefined;
  let heading: Span | undefined;
  let from = 0;
  // Of the line or piece found last: an equal line is another one, further on.
  let last = -1;
  let searches = 0;
  const placeOf = (start: number, end: number): Span | undefined => {
    places ??= placesOf(source);
    const written = text.slice(start, end);
    const [key, withoutId] = [bare(written), bare(written.replace(ownId, ""))];
    const found = key === "" ? undefined : (places.get(key) ?? places.get(withoutId));
    if (!found) return undefined;
    const { offsets } = found;
    const marked = written.startsWith("#")
      ? offsets.filter((at) => /^[ \t>]*[#=]/.test(source.slice(at, at + 20)))
      : [];
    while (found.next < offsets.length - 1 && (offsets[found.next] ?? 0) <= last) found.next++;
    // Of equal headings, each is the one of the same number in the file.
    const nth = marked.length > 0 ? headingCount(start, withoutId) : 0;
    last = marked[Math.min(nth, marked.length - 1)] ?? offsets[found.next] ?? 0;
    const lineEnd = source.indexOf("\n", last);
    return { start: last, end: lineEnd === -1 ? source.length : lineEnd };
  };
  const search = (piece: string): Span | undefined => {
    if (piece.length < shortestPiece || searches > mostSearches) return undefined;
    const at = source.indexOf(piece, last + 1);
    if (at === -1) searches++;
    if (at === -1) return undefined;
    last = at;
    return { start: at, end: at + piece.length };
  };
  return (start, end) => {
    const [lineStart, lineEnd] = lineOf(start);
    if (lineStart !== bodyLine) {
      bodyLine = lineStart;
      heading = text[lineStart] === "#" ? headingAt(lineStart) : undefined;
      line = heading ? undefined : placeOf(lineStart, lineEnd);
      from = line?.start ?? 0;
    }
    const piece = text.slice(start, end);
    if (!line) return heading ?? search(piece.trim());
    const at = searches > mostSearches ? -1 : source.slice(from, line.end).indexOf(piece);
    if (at === -1) searches++;
    if (at === -1) return line;
    const found = { start: from + at, end: from + at + piece.length };
    // An equal piece further on in the line is not this one.
    from = found.start + 1;
    return found;
  };
}

// Each failed search reads the whole file.
const mostFailures = 200;

const beforeAddress = /[("'<=]/;
const inAddress = /[\p{L}\p{N}/._-]/u;

/** Finds an address that is not part of a longer one; `isMarked` wants a mark of a link before it. */
function findWhole(source: string, text: string, from: number, isMarked: boolean): number {
  for (let at = source.indexOf(text, from); at !== -1; at = source.indexOf(text, at + 1)) {
    const before = source[at - 1] ?? "";
    const isApart = isMarked ? beforeAddress.test(before) : !inAddress.test(before);
    if (isApart && !inAddress.test(source[at + text.length] ?? "")) return at;
  }
  return -1;
}

/** For bodies that a reader made of the file: finds the same text, from the last place on. */
function createSearch(source: string, first: number): (text: string) => Span | undefined {
  let last = first;
  let failures = 0;
  return (text) => {
    if (text === "" || failures >= mostFailures) return undefined;
    let start = -1;
    for (const isMarked of [true, false]) {
      for (const from of new Set([last, first])) {
        if (start === -1) start = findWhole(source, text, from, isMarked);
        if (start === -1) failures++;
      }
    }
    if (start === -1) return undefined;
    last = start + text.length;
    return { start, end: last };
  };
}

/** Offset of a line (from 1) in a text. */
function lineStart(text: string, line: number): number {
  let start = 0;
  for (let count = 1; count < line; count++) start = text.indexOf("\n", start) + 1;
  return start;
}

/** For a body that is the end of its file, but for parts that its reader or an ignore region left out. */
function createShift({ source = "", parsed }: LintPage, { removed }: Body): FindSpan {
  const { removed: hidden = [] } = parsed;
  let shift = source.length - parsed.body.length;
  for (const { length } of hidden) shift -= length;
  let [ignored, next, nextHidden] = [0, 0, 0];
  return (start, end) => {
    for (let each = removed[next]; each && each.at <= start; each = removed[++next]) {
      shift += each.length;
      ignored += each.length;
    }
    for (let each = hidden[nextHidden]; each && each.at <= start + ignored;) {
      shift += each.length;
      each = hidden[++nextHidden];
    }
    return { start: start + shift, end: end + shift };
  };
}

/** Finds places without a search; undefined if the reader made another text of the file. */
function findInTail(page: LintPage, body: Body): FindSpan | undefined {
  const { source, parsed } = page;
  if (source === undefined || body.text === "") return nowhere;
  if (source.endsWith(body.text)) {
    const shift = source.length - body.text.length;
    return (start, end) => ({ start: start + shift, end: end + shift });
  }
  const isTail = parsed.removed !== undefined || source.endsWith(parsed.body);
  return parsed.isMarkdown && isTail ? createShift(page, body) : undefined;
}

/**
 * Returns a function that finds the place of a piece of the body in the file. Undefined if the
 * file is no text, or if the piece comes from another file.
 */
export function createFindSpan(page: LintPage): FindSpan {
  let find: FindSpan | undefined;
  return (start, to) => {
    const body = bodyOf(page);
    // The line break of a heading is not part of it.
    const end = body.text[to - 1] === "\n" ? to - 1 : to;
    // Most rules find nothing: texts are compared for the first finding.
    find ??= findInTail(page, body) ?? findLines(page.source ?? "", body.text);
    return find(start, end);
  };
}

/** The same for a piece that its reader leaves as it is, such as the address of a link. */
export function createFindText(page: LintPage): FindSpan {
  const { source = "", parsed } = page;
  let find: FindSpan | undefined;
  return (start, end) => {
    const body = bodyOf(page);
    if (!find) {
      const search = createSearch(source, lineStart(source, parsed.bodyLine));
      find = findInTail(page, body) ?? ((from, to) => search(body.text.slice(from, to)));
    }
    return find(start, end);
  };
}

/**
 * The matches of a pattern in the prose of a page, as findings. `pattern` is global. `messageOf`
 * returns undefined for a match that is none after all.
 */
export function* findInProse(
  page: LintPage,
  pattern: RegExp,
  messageOf: (found: string, offset: number, text: string) => string | undefined,
): Generator<Found> {
  const body = bodyOf(page);
  const isProse = createProseTest(body);
  const find = createFindSpan(page);
  for (const { 0: found, index } of body.text.matchAll(pattern)) {
    // Blanks before the match belong to its line, not to the finding.
    const start = index + (found.length - found.trimStart().length);
    const shown = found.trim();
    if (!isProse(start)) continue;
    const message = messageOf(shown, start, body.text);
    if (message !== undefined) yield { message, span: find(start, start + shown.length) };
  }
}

/** Whether people wrote the file as Markdown, with marks for code. */
export function isWrittenAsMarkdown({ path, source, settings }: LintPage): boolean {
  if (source === undefined) return false;
  const format = formatOf(path, settings.format);
  return format === formats.markdown || format === formats.mdx;
}

/** Whether a file has a text without the backslash that shows it on purpose. */
export const isUnescaped = (source: string, text: string): boolean =>
  source.replaceAll(`\\${text}`, "").includes(text);

const mostFindings = 5;

/** Many findings of the same kind as one, at the first of them: a template has one in each line. */
export function* atMost(found: Iterable<Found>, many: string): Generator<Found> {
  const list: Found[] = [];
  let count = 0;
  for (const each of found) {
    count++;
    if (list.length < mostFindings) list.push(each);
  }
  if (count === list.length) return yield* list;
  yield { message: `${count} ${many}; this is the first`, span: list[0]?.span };
}

const longestShown = 60;
const longestSearched = 20 * longestShown;

/** A piece of the page for a message: on one line, and short. Nobody knows a secret that is cut. */
export function quoted(text: string): string {
  const start = text.slice(0, longestSearched).replace(/\s+/g, " ");
  let line = hideSecrets(start);
  // The last word may be such a piece, and near, where much in front of it was hidden.
  if (line !== start && text.length > longestSearched) line = `${line.replace(/[^\s…]+$/, "")}…`;
  line = line.trim();
  return line.length > longestShown ? `${line.slice(0, longestShown)}…` : line;
}
