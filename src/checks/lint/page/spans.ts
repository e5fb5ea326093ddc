import type { LintPage, Span, Found } from "../rule.ts";
import { alignWords } from "./align.ts";
import { type Body, bodyOf, createProseTest } from "./body.ts";
import { formatOf, formats } from "../../../documents/formats/formats.ts";
import { hideSecrets } from "../secrets/find-secrets.ts";

/**
 * Finds the place in the file of a piece of the body; offsets must grow from call to call. `writings`
 * are what the file may have in place of the piece; by default the piece itself.
 */
export type FindSpan = (
  start: number,
  end: number,
  writings?: readonly string[],
) => Span | undefined;

const nowhere = (): undefined => undefined;
const beforeAddress = /[("'<=]/;
const inAddress = /[\p{L}\p{N}/._-]/u;

/** Finds a text that is not part of a longer one, best behind a mark of a link. */
function findWhole(source: string, text: string, from: number): number | undefined {
  let first: number | undefined;
  const [opens, closes] = [inAddress.test(text[0] ?? ""), inAddress.test(text.at(-1) ?? "")];
  for (let at = source.indexOf(text, from); at !== -1; at = source.indexOf(text, at + 1)) {
    const before = source[at - 1] ?? "";
    if (closes && inAddress.test(source[at + text.length] ?? "")) continue;
    if (beforeAddress.test(before)) return at;
    if (!opens || !inAddress.test(before)) first ??= at;
  }
  return first;
}

// A longer line than anybody types is not looked through for each of its findings.
const longestLine = 5000;

/** The line of a text around an offset. */
function lineAround(text: string, at: number): Span {
  const from = Math.max(0, at - longestLine);
  const start = text.slice(from, at).lastIndexOf("\n");
  const end = text.slice(at, at + longestLine).indexOf("\n");
  return {
    start: from + (start === -1 ? 0 : start + 1),
    end: end === -1 ? Math.min(text.length, at + longestLine) : at + end,
  };
}

const includeLine = /^.*\binclude::.*$/m;
// What stands far from any word of the file is searched in much of it.
const longestNear = 10_000;
const mostFarSearches = 50;

// Several rules may find something on a page.
const aligned = new WeakMap<LintPage, ReturnType<typeof alignWords>>();

/**
 * For bodies that a reader made of the file. A piece that is not there as it is has the place of its
 * line; one of an included file that of the include.
 */
function findAligned(page: LintPage, text: string): FindSpan {
  const { source = "", parsed } = page;
  const align = aligned.get(page) ?? alignWords(text, source, lineStart(source, parsed.bodyLine));
  aligned.set(page, align);
  let last: { written: string; end: number } | undefined;
  let farSearches = 0;
  return (start, end, writings = [text.slice(start, end)]) => {
    const { before, after, own } = align(start, end);
    const from = lineAround(source, before).start;
    const near = source.slice(from, lineAround(source, after).end);
    const isFar = near.length > longestNear && ++farSearches > mostFarSearches;
    for (const written of isFar ? [] : writings.filter((each) => each !== "")) {
      // An equal piece further on is not this one.
      const next = last?.written === written ? Math.max(0, last.end - from) : 0;
      const at = findWhole(near, written, next) ?? findWhole(near, written, 0);
      if (at === undefined) continue;
      last = { written, end: from + at + written.length };
      return { start: from + at, end: last.end };
    }
    const line = lineAround(text, start);
    const place = own ?? align(line.start, line.end).own;
    if (place !== undefined) return lineAround(source, place);
    const include = isFar ? undefined : includeLine.exec(near);
    return include ? lineAround(source, from + include.index) : undefined;
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
  return (start, to, writings) => {
    const body = bodyOf(page);
    // The line break of a heading is not part of it.
    const end = body.text[to - 1] === "\n" ? to - 1 : to;
    // Most rules find nothing: texts are compared for the first finding.
    find ??= findInTail(page, body) ?? findAligned(page, body.text);
    return find(start, end, writings);
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
  const { span, cause } = list[0] ?? {};
  yield { message: `${count} ${many}; this is the first`, span, cause };
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
