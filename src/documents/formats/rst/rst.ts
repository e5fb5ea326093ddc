import { lacksVisible, refuseOpenRegion } from "../../text/left-out.ts";
import type { Parsed, Surroundings } from "../format.ts";
import { textOf as valueText } from "../../front-matter/values.ts";
import { splitFrontMatter } from "../../front-matter/front-matter.ts";
import { pageFromHtml } from "../../page/page.ts";
import {
  countLines,
  mostLines,
  toLines,
  indentOf,
  isBlank,
  type Line,
  takeBody,
  takeIndented,
  textOf,
  withFirst,
} from "./rst-lines.ts";
import {
  createReading,
  type Reading,
  nameOf,
  addCode,
  addHeading,
  addHtml,
  addIgnoreMark,
  addText,
  type Block,
  isIgnoreMark,
  leaveOut,
  type ReadAt,
  within,
} from "./rst-reading.ts";
import { fits, isAdornment } from "./rst-labels.ts";
import { renderPieces } from "./rst-render.ts";
import { readDefinition, readField, readLineBlock, readListItem, readOption } from "./rst-lists.ts";
import { readGridTable, readSimpleTable } from "./rst-tables.ts";
import { readDirective, readSubstitution } from "./rst-directives.ts";
import { escapeHtml } from "../../page/tree.ts";

const footnote = /^\[(\d+|#[\p{L}\p{N}._-]*|\*|[\p{L}\p{N}][\p{L}\p{N}._:+-]*)\](?: +|$)/u;
const target = /^_(?:`((?:[^`\\]|\\.)+)` ?|((?:[^:\\]|\\.|:(?! |$))+)):(?: +|$)/;
const substitution = /^\|([^|]+)\|(?: +(?=\S)|$)/;

type Explicit = (block: Block, lines: Line[], rest: string) => boolean;

const readFootnote: Explicit = (block, lines, rest) => {
  const [marker, label = ""] = footnote.exec(rest) ?? [];
  if (marker === undefined) return false;
  const { reading } = block;
  const isNote = /^(?:\d+$|[#*])/.test(label);
  if (isNote) reading.footnotes.push(label);
  reading.pieces.push({ kind: "target", name: label.replace(/^#/, ""), isPlace: false });
  const body = withFirst(lines, rest.slice(marker.length));
  const [first] = body;
  within(reading, "<div>", "</div>", () => {
    if (isNote) reading.pieces.push({ kind: "note", index: reading.footnotes.length - 1 });
    else addHtml(reading, `[${escapeHtml(label)}] `);
    block.readInner(first && isBlank(first) ? body.slice(1) : body);
  });
  return true;
};

const readTarget: Explicit = ({ reading }, lines, rest) => {
  if (/^__:(?: |$)/.test(rest)) {
    reading.anonymous.push(textOf(withFirst(lines, rest.slice(3))).replace(/\s+/g, ""));
    reading.pieces.push({ kind: "target", name: "", isPlace: false });
    return true;
  }
  const [marker, quoted, plain = ""] = target.exec(rest) ?? [];
  if (marker === undefined) return false;
  const name = nameOf(quoted ?? plain);
  const address = textOf(withFirst(lines, rest.slice(marker.length))).replace(/\s+/g, "");
  reading.targets.set(name, address);
  reading.pieces.push({ kind: "target", name, isPlace: address === "" });
  return true;
};

/** The lines of a directive of their own: the ones after the first without their indentation. */
const ofDirective = ([first, ...rest]: readonly Line[]): Line[] =>
  first ? [first, ...takeIndented(rest, 0).lines] : [];

const readSubstitutionDefinition: Explicit = ({ reading }, lines, rest) => {
  const [marker, name = ""] = substitution.exec(rest) ?? [];
  if (marker === undefined) return false;
  const body = withFirst(lines, rest.slice(marker.length));
  // Its directive may stand on the next line.
  const [first] = body;
  const value = readSubstitution(first && isBlank(first) ? ofDirective(body.slice(1)) : body, name);
  if (!value) return false;
  reading.substitutions.set(nameOf(name), value);
  return true;
};

const readComment: Explicit = ({ reading }, lines, rest) => {
  const [line] = lines;
  const isMark = lines.length === 1 && line && addIgnoreMark(reading, { ...line, text: rest });
  if (!isMark && lines.some(({ text }) => text.trim() !== ""))
    leaveOut(reading, "comment", "", line?.number);
  return true;
};

const kinds: readonly Explicit[] = [
  readFootnote,
  readTarget,
  readSubstitutionDefinition,
  readDirective,
  readComment,
];

/** What begins with `..`: targets, footnotes, substitutions, directives; else it is a comment. */
function readExplicit(block: Block, at: number): number {
  const { lines, reading } = block;
  const text = lines[at]?.text ?? "";
  const anonymous = /^__ +(\S.*)$/.exec(text)?.[1];
  if (anonymous !== undefined) {
    reading.anonymous.push(anonymous.replace(/\s+/g, ""));
    return at + 1;
  }
  if (text !== ".." && !text.startsWith(".. ")) return -1;
  // An empty comment does not take the indented block after a blank line.
  if (text === ".." && isBlank(lines[at + 1])) return at + 1;
  const taken = takeBody(lines, at, 2);
  const rest = taken.lines[0]?.text ?? "";
  for (const read of kinds) if (read(block, taken.lines, rest)) break;
  return taken.next;
}

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
function readBlocks(reading: Reading, lines: readonly Line[]): void {
  readAll(createBlock(reading, lines, true, 0));
}

const reference = /\|([^|\s](?:[^|\n]{0,60}[^|\s])?)\|/g;

/** Whether a template language or Sphinx's configuration may add targets to the page. */
function mayGetTargets({ source, around, chain }: Reading): boolean {
  const { site, includes } = around;
  if (/\{[{%]/.test(source)) return true;
  if (site?.generator !== "sphinx") return false;
  const program = includes.read(`/${site.prefix}conf.py`, chain);
  return "text" in program && /rst_(?:prolog|epilog)|source-read/.test(program.text);
}

/**
 * Adds the substitutions and targets that Sphinx's configuration gives to every page. Reads it only
 * if the page refers to a substitution that it does not define.
 */
function addConfiguration(reading: Reading, text: string): void {
  const { substitutions, targets, rawRoles } = reading;
  const { site } = reading.around;
  let isComplete = true;
  for (const [, name = ""] of text.matchAll(reference)) {
    isComplete &&= substitutions.has(nameOf(name));
  }
  if (isComplete || site?.generator !== "sphinx") return;
  const shared = createReading(reading.chain[0] ?? "", reading.around);
  for (const name of ["rst_prolog", "rst_epilog"]) {
    const lines = valueText(site.value(name));
    if (lines !== undefined) readBlocks(shared, toLines(lines, undefined));
  }
  for (const name of ["version", "release"]) {
    const value = valueText(site.value(name));
    if (value !== undefined) shared.substitutions.set(name, { kind: "text", text: value });
  }
  for (const [name, each] of shared.substitutions) {
    if (!substitutions.has(name)) substitutions.set(name, each);
  }
  for (const [name, each] of shared.targets) if (!targets.has(name)) targets.set(name, each);
  for (const role of shared.rawRoles) rawRoles.add(role);
}

const longestHeader = 10_000;

/** The title in the header of a Python enhancement proposal, which has no heading for it. */
function proposalTitle(source: string): string | undefined {
  const [header = ""] = source
    .slice(0, longestHeader)
    .trimStart()
    .split(/\n[ \t]*\n/, 1);
  const number = /^PEP:[ \t]*(\d+)[ \t]*\n/.exec(header)?.[1];
  const title = /\nTitle:[ \t]*(\S.*(?:\n[ \t]+.*)*)/.exec(header)?.[1];
  if (number === undefined || title === undefined) return undefined;
  return `PEP ${number} – ${title.replace(/`+/g, "").replace(/\s+/g, " ").trim()}`;
}

/**
 * Reads reStructuredText as Markdown: headings with the anchors of docutils, directives of docutils
 * and Sphinx, included files, roles, links and substitutions. Broken markup stays text. Throws
 * CliError `usage` with `path:line:column` for broken front matter and for an ignore region that is
 * never closed.
 */
export function readRst(text: string, path: string, around: Surroundings): Parsed {
  const { frontMatter, body: source, bodyLine, warnings } = splitFrontMatter(text, path);
  const reading = createReading(path, around, source);
  reading.lineCount = countLines(source);
  if (reading.lineCount > mostLines) {
    warnings.push(`${path}: more than ${mostLines} lines: read as plain text`);
    return { frontMatter, body: source, bodyLine, isMarkdown: true, warnings };
  }
  readBlocks(reading, toLines(source, bodyLine));
  addConfiguration(reading, source);
  if (reading.ignored.length > 0) refuseOpenRegion(path, reading.ignored[0]);
  const { html, unknown, references } = renderPieces(reading);
  const { body, headings } = pageFromHtml(html, { path });
  const isKnown = !lacksVisible(reading.leftOut) && unknown.length > 0 && !mayGetTargets(reading);
  const title = proposalTitle(source) ?? headings[0]?.text;
  return {
    frontMatter,
    body,
    bodyLine,
    isMarkdown: true,
    headings,
    references,
    warnings,
    ...(isKnown ? { unknownTargets: unknown } : {}),
    ...(reading.leftOut.length > 0 ? { leftOut: reading.leftOut } : {}),
    ...(title === undefined ? {} : { title }),
  };
}
