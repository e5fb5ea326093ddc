import type { LintPage, Span, Found } from "../rule.ts";
import { plainText } from "../../../documents/text/heading-text.ts";
import { removeIgnored, type RemovedLines } from "../../../documents/text/left-out.ts";
import {
  scanStructure,
  type Heading,
  type Structure,
  codeSpansOf,
  createLookup,
} from "../../../documents/text/structure.ts";
import { lineOfKey } from "../../../documents/front-matter/fields.ts";

/**
 * Returns a function that reads each page once. Rules look at one page after the other, and several
 * of them ask for the same of it: only the last page is kept.
 */
export function oncePerPage<Value>(read: (page: LintPage) => Value): (page: LintPage) => Value {
  let last: { page: LintPage; value: Value } | undefined;
  return (page) => {
    if (last?.page !== page) last = { page, value: read(page) };
    return last.value;
  };
}

/** The text from a heading of level 1 to 3 to the next one: `sections: headings` sends it as a section. */
interface PageSection {
  /** The headings above it and its own, top first; empty above the first heading. */
  path: readonly Heading[];
  /** Level of the next heading in the text; undefined at the end of the page. */
  nextLevel: number | undefined;
  /** Offset where the text begins, below the heading. */
  start: number;
  end: number;
}

/** The text of a page as an upload sends it, before it is split into sections. */
export interface Body {
  text: string;
  /** Undefined if the body is not Markdown. */
  structure: Structure | undefined;
  /** Of Markdown alone. */
  sections: readonly PageSection[];
  /** The ignore regions that are not in the text. */
  removed: readonly RemovedLines[];
}

const splitLevels = 3;
const none: Body = { text: "", structure: undefined, sections: [], removed: [] };

function sectionsOf(text: string, { headings }: Structure): PageSection[] {
  const cuts = headings.filter(({ level }) => level <= splitLevels);
  const end = cuts[0]?.start ?? text.length;
  const sections: PageSection[] = [{ path: [], nextLevel: cuts[0]?.level, start: 0, end }];
  let path: Heading[] = [];
  for (const [index, heading] of cuts.entries()) {
    const next = cuts[index + 1];
    path = [...path.filter(({ level }) => level < heading.level), heading];
    sections.push({
      path,
      nextLevel: next?.level,
      start: heading.end,
      end: next?.start ?? text.length,
    });
  }
  return sections;
}

function read({ document, parsed, path }: LintPage): Body {
  if (!document) return none;
  const { body, isMarkdown, bodyLine } = parsed;
  if (!isMarkdown) {
    const texts = document.sections.map(({ text = "" }) => text);
    return { ...none, text: texts.join("\n\n") };
  }
  const removed: RemovedLines[] = [];
  const text = removeIgnored(body, path, bodyLine, removed);
  // No getters: each object with its own keeps its page in memory until a full collection.
  const structure = scanStructure(text);
  return { text, structure, sections: sectionsOf(text, structure), removed };
}

/** The text of a page. A page that is skipped has none. */
export const bodyOf = oncePerPage(read);

// python-markdown.github.io, "Attribute Lists", and those of Pandoc.
const attributes = /[ \t]+\{(?=[^{}\n]*[\s.#=:-])[^{}\n]{0,300}\}$/;

/** The plain texts of the headings of a section, top first, without their attributes. */
export const titlesOf = ({ path }: PageSection): string[] =>
  path.map(({ text }) => plainText(text.trimEnd().replace(attributes, "")));

/** The line of a key of the front matter. Undefined in files without text, and in rows. */
export function spanOfKey({ source, parsed }: LintPage, key: string): Span | undefined {
  const { frontMatter } = parsed;
  // Properties of a file have no lines.
  if (source === undefined || !frontMatter || frontMatter.block === "") return undefined;
  const line = lineOfKey(frontMatter, key);
  let start = 0;
  for (let count = 1; count < line; count++) {
    const next = source.indexOf("\n", start);
    if (next === -1) return undefined;
    start = next + 1;
  }
  const end = source.indexOf("\n", start);
  const text = source.slice(start, end === -1 ? source.length : end);
  if (!text.includes(key)) return undefined;
  const indent = text.length - text.trimStart().length;
  return { start: start + indent, end: start + text.trimEnd().length };
}

/** The first of the keys that the front matter has. */
export function keyOf({ parsed }: LintPage, keys: readonly string[]): string | undefined {
  const data = parsed.frontMatter?.data;
  return data && keys.find((key) => Object.hasOwn(data, key));
}

/**
 * Findings in the title and the metadata of a page, each at the line of its key. `problemIn` returns
 * what is wrong with a text.
 */
export function* findInFields(
  page: LintPage,
  problemIn: (text: string) => string | undefined,
): Generator<Found> {
  const { document, settings } = page;
  if (!document) return;
  const { title, semanticIdentifier } = settings.keys;
  const titleKey = keyOf(page, [...title, ...semanticIdentifier]);
  const fields = Object.entries(document.metadata);
  // A title from a heading is part of the body.
  if (titleKey !== undefined) {
    fields.push([titleKey, [document.title ?? "", document.semantic_identifier]]);
  }
  for (const [name, value] of fields) {
    const problem = problemIn(typeof value === "string" ? value : value.join("\n"));
    if (problem === undefined) continue;
    const key = keyOf(page, [name, name.split(".", 1)[0] ?? ""]);
    yield {
      message: `in ${name}: ${problem}`,
      span: key === undefined ? undefined : spanOfKey(page, key),
    };
  }
}

/** Scripts whose words are not separated by spaces. */
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const markup: readonly (readonly [mark: string, pattern: RegExp])[] = [
  ["<!--", /<!--[^]*?(?:-->|$)/g],
  // An address in angle brackets is no tag.
  ["<", /<(?!https?:)[^<>]*>/g],
  ["]:", /^\[[^\]\n]+\]:.*$/gm],
  ["](", /\]\([^()]*\)/g],
  ["&", /&[a-z]+;/gi],
];
const address = /\bhttps?:\/\/\S+/g;
const longestWord = 12;
// Their words are not separated either, and a letter is less than a syllable.
const unspaced = /^[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const lengthOf = (word: string): number => (unspaced.test(word) ? 4 : longestWord);

function withoutMarkup(text: string): string {
  let plain = text;
  for (const [mark, pattern] of markup) {
    if (plain.includes(mark)) plain = plain.replace(pattern, " ");
  }
  return plain;
}

/** Whether a text of Markdown has a word or an address. */
export function hasWords(text: string): boolean {
  // Most pages begin with words.
  if (/^[^<[&!]*[\p{L}\p{N}]/u.test(text.slice(0, 200))) return true;
  return /[\p{L}\p{N}]/u.test(withoutMarkup(text));
}

/** Counts until there are `enough`. */
function count(text: string, enough: number): number {
  let words = 0;
  const plain = withoutMarkup(text).replace(address, " ");
  for (const [word] of plain.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (words >= enough) break;
    words += ideographs.test(word) ? word.length / 2 : Math.ceil(word.length / lengthOf(word));
  }
  return Math.ceil(words);
}

/**
 * Number of words in a text of Markdown, without markup and addresses; any number from `enough` on
 * if the text has so many. A longer word than usual counts more than once, and two Chinese, Japanese
 * or Korean characters are one word.
 */
export function countWords(text: string, enough: number): number {
  // The start of a page nearly always decides. Markup that is cut off there counts as words.
  const start = count(text.slice(0, 60 * enough), 3 * enough);
  return start >= 3 * enough ? start : count(text, enough);
}

/** Start and end of the line of an offset. The offset must grow from call to call. */
type LineOf = (offset: number) => readonly [start: number, end: number];

/** Looks at each character once, however often it is asked about a line. */
export function createLineOf(text: string): LineOf {
  let line: readonly [number, number] = [0, -1];
  return (offset) => {
    if (offset > line[1]) {
      const start = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
      const end = text.indexOf("\n", offset);
      line = [start, end === -1 ? text.length : end];
    }
    return line;
  };
}

type Range = readonly [number, number];

const codeTag = /<(\/?)(?:code|pre|kbd|samp|script|style|svg|math)\b/gi;

/** The elements of a paragraph that hold code, as pairs of start and end. */
function codeElements(paragraph: string): Range[] {
  const ranges: [number, number][] = [];
  if (!paragraph.includes("<")) return ranges;
  let open = -1;
  for (const { 1: slash, index } of paragraph.matchAll(codeTag)) {
    if (slash === "" && open === -1) open = index;
    else if (slash === "/" && open !== -1) {
      ranges.push([open, index]);
      open = -1;
    }
  }
  if (open !== -1) ranges.push([open, paragraph.length]);
  return ranges;
}

/** Code spans of each line: a row of a table or an item of a list is a block of its own. */
function spansOfLines(paragraph: string): Range[] {
  const ranges: Range[] = [];
  let start = 0;
  for (const line of paragraph.split("\n")) {
    for (const [from, to] of codeSpansOf(line)) ranges.push([start + from, start + to]);
    start += line.length + 1;
  }
  return ranges;
}

/** The ranges of a paragraph that are code by one reading or another. */
function codeOf(paragraph: string): Range[][] {
  const ranges = [codeElements(paragraph)];
  if (paragraph.includes("`")) ranges.push([...codeSpansOf(paragraph)], spansOfLines(paragraph));
  return ranges;
}

const indentedCode = /^(?: {4}|\t)/;

/**
 * Returns a function that says whether an offset of the body is in prose. Code is a fence, a code
 * span, an indented line, and elements such as `<code>`. In doubt a place counts as code, so that
 * no rule takes an example for text of the page. The offset must grow from call to call.
 */
export function createProseTest({ text, structure }: Body): (offset: number) => boolean {
  // Plain text has no code marks, but indented examples.
  const isOpaque = createLookup(structure?.opaque ?? []);
  const lineOf = createLineOf(text);
  let start = 0;
  let end = -1;
  let tests: ((offset: number) => boolean)[] = [];
  return (offset) => {
    if (isOpaque(offset)) return false;
    if (offset >= end) {
      const before = text.lastIndexOf("\n\n", offset);
      const after = text.indexOf("\n\n", offset);
      start = before === -1 ? 0 : before + 2;
      end = after === -1 ? text.length : after;
      const paragraph = structure ? text.slice(start, end) : "";
      tests = codeOf(paragraph).map((ranges) => createLookup(ranges));
    }
    const [lineStart] = lineOf(offset);
    // Every test must see the offset: it only looks forward.
    const isCode = tests.map((test) => test(offset - start)).includes(true);
    return !isCode && !indentedCode.test(text.slice(lineStart, lineStart + 4));
  };
}

/** The pieces of a text that stand before, between and behind ranges of it, such as its code. */
export function piecesOutside(text: string, ranges: Structure["opaque"] = []): string[] {
  const ends = [0, ...ranges.map(([, end]) => end)];
  return ends.map((end, at) => text.slice(end, ranges[at]?.[0]));
}
