import { readExplicit } from "./rst-explicit.ts";
import { readDefinition, readField, readLineBlock, readListItem, readOption } from "./rst-lists.ts";
import { indentOf, isBlank, takeIndented, textOf, type Line } from "./rst-lines.ts";
import {
  addIgnoreMark,
  addCode,
  addHeading,
  addText,
  isIgnoreMark,
  within,
  type Block,
  type ReadAt,
  type Reading,
} from "../rst-reading.ts";
import { readGridTable, readSimpleTable } from "./rst-tables.ts";

// Nobody types a longer line. Patterns would run out of memory on it.
const longestLine = 100_000;
// Each level copies its lines.
const deepest = 24;

function readQuote(block: Block, at: number): number {
  if (indentOf(block.lines[at]?.text ?? "") === 0) return -1;
  const { lines, next } = takeIndented(block.lines, at);
  within(block.reading, "<blockquote>", "</blockquote>", () => block.readInner(lines));
  return next;
}

function readDoctest({ reading, lines }: Block, at: number): number {
  if (!/^>>>(?: |$)/.test(lines[at]?.text ?? "")) return -1;
  let next = at;
  while (!isBlank(lines[next])) next++;
  addCode(reading, textOf(lines.slice(at, next)), "pycon");
  return next;
}

// A line of one repeated punctuation character (docutils, "reStructuredText Markup Specification",
// Sections).
function isAdornment(text: string): boolean {
  const first = text[0] ?? "";
  if (!/[!-/:-@[-`{-~]/.test(first)) return false;
  for (let at = 1; at < text.length; at++) if (text[at] !== first) return false;
  return true;
}

/** A bar that is shorter than the title and shorter than four characters is text. */
const fits = (bar: string, title: string): boolean => bar.length >= Math.min(4, title.length);

function addTitle({ reading, hasTitles }: Block, line: Line, style: string): void {
  const title = line.text.trim();
  if (hasTitles) addHeading(reading, title, style, line.number);
  else addText(reading, title);
}

/** A title between two bars, or a bar between paragraphs, which has no text. */
function readBar(block: Block, at: number): number {
  const bar = block.lines[at]?.text ?? "";
  if (!isAdornment(bar)) return -1;
  const title = block.lines[at + 1];
  if (title && !isBlank(title) && block.lines[at + 2]?.text === bar) {
    if (!fits(bar, title.text.trim()) || isAdornment(title.text)) return -1;
    addTitle(block, title, `${bar[0]}${bar[0]}`);
    return at + 3;
  }
  return bar.length >= 4 && isBlank(title) ? at + 1 : -1;
}

function readTitle(block: Block, at: number): number {
  const line = block.lines[at];
  const bar = block.lines[at + 1]?.text ?? "";
  if (!line || !isAdornment(bar) || !fits(bar, line.text)) return -1;
  addTitle(block, line, bar[0] ?? "");
  return at + 2;
}

/** The literal block after a paragraph that ends with `::`. */
function readLiteral({ reading, lines }: Block, at: number): number {
  let start = at;
  while (start < lines.length && isBlank(lines[start])) start++;
  const first = lines[start]?.text ?? "";
  if (first.startsWith(" ")) {
    const taken = takeIndented(lines, start);
    addCode(reading, textOf(taken.lines));
    return taken.next;
  }
  // Each line of a quoted literal block begins with the same character.
  let next = start;
  if (/^[!-/:-@[-`{-~]/.test(first)) while (lines[next]?.text[0] === first[0]) next++;
  addCode(reading, textOf(lines.slice(start, next)));
  return next;
}

function readParagraph(block: Block, at: number): number {
  const { reading, lines } = block;
  let next = at + 1;
  const [first] = lines.slice(at, next);
  if (first && addIgnoreMark(reading, first)) return next;
  const ends = (text: string): boolean => text === "" || text.startsWith(" ") || isIgnoreMark(text);
  while (next < lines.length && !ends(lines[next]?.text ?? "")) next++;
  const text = textOf(lines.slice(at, next));
  if (!/(?<!\\)::$/.test(text)) {
    addText(reading, text);
    return next;
  }
  addText(reading, /(?:^|\s)::$/.test(text) ? text.slice(0, -2).trimEnd() : text.slice(0, -1));
  return readLiteral(block, next);
}

const readers: readonly ReadAt[] = [
  readQuote,
  readListItem,
  readField,
  readOption,
  readDoctest,
  readLineBlock,
  readGridTable,
  readSimpleTable,
  readExplicit,
  readBar,
  readTitle,
  readDefinition,
  readParagraph,
];

function createBlock(
  reading: Reading,
  lines: readonly Line[],
  hasTitles: boolean,
  depth: number,
): Block {
  return {
    reading,
    lines,
    hasTitles,
    readInner(inner, canHaveTitles = false) {
      if (depth >= deepest) return addText(reading, textOf(inner));
      readAll(createBlock(reading, inner, hasTitles && canHaveTitles, depth + 1));
    },
  };
}

function readAll(block: Block): void {
  for (let at = 0; at < block.lines.length;) {
    if (isBlank(block.lines[at])) {
      at++;
      continue;
    }
    const start: number = at;
    const isLong = (block.lines[start]?.text.length ?? 0) > longestLine;
    for (const read of isLong ? [readParagraph] : readers) {
      at = read(block, start);
      if (at !== -1) break;
    }
  }
}

/** Reads lines as blocks (docutils, "reStructuredText Markup Specification", Body Elements). */
export function readBlocks(reading: Reading, lines: readonly Line[]): void {
  readAll(createBlock(reading, lines, true, 0));
}
