import { CliError } from "../../../../errors.ts";
import type { UnknownTarget } from "../../reader.ts";
import { escapeLine, fenced, oneLine, type Block } from "../html/html-blocks.ts";
import { createAnchors, makeId, type AnchorOf } from "./inline/rst-anchors.ts";
import { numberFootnotes, type Footnotes } from "./blocks/rst-footnotes.ts";
import { renderInline } from "./inline/rst-inline.ts";
import { codeSpan } from "../../../markdown/code-span.ts";
import { isShortCode } from "./rst-markdown.ts";
import { markdownBlocks } from "./rst-markdown-blocks.ts";
import { pageOf } from "./inline/rst-pages.ts";
import { nameOf, type Piece, type Reading } from "./rst-reading.ts";
import { repeated, type Inline } from "./blocks/rst-scan.ts";

interface Page {
  inline: Inline;
  footnotes: Footnotes;
  anchorOf: AnchorOf;
  blocks: Block[];
  /** Lines of the file where the open ignore regions begin. */
  ignored: (number | undefined)[];
  /** Anchors of the targets before the next piece. */
  targets: string[];
  /** Names of the targets within running text. */
  names: Set<string>;
  unknown: UnknownTarget[];
}

type Kind<K extends Piece["kind"]> = Extract<Piece, { kind: K }>;

/** Of all rows: a list above or below a table is apart from it. */
const rows = 1;

const blanks = (count: number): string => " ".repeat(count);

/** Lines with the mark before the first and its width before the others. */
function indented(lines: readonly string[], indent: number, mark: string): string {
  const rest = blanks(indent + mark.length);
  return lines.map((line, index) => (index === 0 ? blanks(indent) + mark : rest) + line).join("\n");
}

function shownMark({ footnotes }: Page, mark: string): string {
  return mark.replace(/\[#(\d+)\]/, (_, index: string) => `[${footnotes.ofNote(Number(index))}]`);
}

function addText(page: Page, piece: Kind<"text"> | Kind<"made">): void {
  const { kind, indent, mark, isTight } = piece;
  const text = kind === "text" ? renderInline(page.inline, piece.text) : piece.text;
  const lines = text
    .split("\n")
    .map((line) => escapeLine(line.trim()))
    .filter((line) => line !== "");
  if (lines.length === 0) return;
  page.blocks.push({ text: indented(lines, indent, shownMark(page, mark)), isTight });
}

// Deeper fences are code by indentation in Markdown.
const deepestFence = 3;

/** Code as the page shows it. */
const shownCode = ({ inline }: Page, piece: Kind<"code">): Kind<"code"> =>
  piece.isParsed
    ? { ...piece, isParsed: false, text: renderInline(inline, piece.text, true) }
    : piece;

function addCode(page: Page, { text, info, indent, mark }: Kind<"code">): void {
  const label = shownMark(page, mark).trim();
  if (label !== "" && !label.endsWith("-")) {
    page.blocks.push({ text: `${blanks(indent)}${label}`, isTight: true });
  }
  const lines = fenced(text).replace(/^`+/, `$&${info}`).split("\n");
  const before = blanks(Math.min(indent + mark.length, deepestFence));
  page.blocks.push({
    text: lines.map((line) => (line === "" ? "" : before + line)).join("\n"),
    isTight: false,
  });
}

function addMarkdown(page: Page, { text, indent, mark }: Kind<"markdown">): void {
  const label = shownMark(page, mark).trimEnd();
  if (label !== "") page.blocks.push({ text: blanks(indent) + label, isTight: true });
  for (const block of markdownBlocks(text, indent + mark.length, page.anchorOf)) {
    page.blocks.push(block);
  }
}

/** Returns whether the piece begins or ends an ignore region. */
function takeIgnoreMark({ ignored }: Page, piece: Piece): boolean {
  if (piece.kind !== "ignore") return false;
  if (piece.isOpen) ignored.push(piece.line);
  else ignored.pop();
  return true;
}

/** The text of the pieces in a cell. Puts its long code in `codes`. */
function cellText(page: Page, pieces: readonly Piece[], codes: Kind<"code">[]): string {
  const texts = pieces.map((piece) => {
    if (takeIgnoreMark(page, piece) || page.ignored.length > 0) return "";
    if (piece.kind === "code") {
      const code = shownCode(page, piece);
      if (isShortCode(code.text)) return codeSpan(oneLine(code.text));
      codes.push(code);
    }
    if (piece.kind === "row")
      return piece.cells.map((cell) => cellText(page, cell, codes)).join(" | ");
    if (piece.kind === "made" || piece.kind === "markdown") return piece.text;
    if (piece.kind === "again")
      return cellText({ ...page, inline: repeated(page.inline) }, piece.pieces, []);
    return piece.kind === "text"
      ? shownMark(page, piece.mark) + renderInline(page.inline, piece.text)
      : "";
  });
  return oneLine(texts.join(" "));
}

function addRow(page: Page, { cells, indent, mark }: Kind<"row">): void {
  const codes: Kind<"code">[] = [];
  const text = cells.map((cell) => cellText(page, cell, codes)).join(" | ");
  if (text.replace(/[|\s]+/g, "") !== "") {
    const line = indented([escapeLine(text.trim())], indent, shownMark(page, mark));
    page.blocks.push({ text: line, isTight: true, group: rows });
  }
  for (const code of codes) addCode(page, { ...code, indent, mark: "" });
}

function addHeading(page: Page, { level, text }: Kind<"heading">): void {
  const title = oneLine(renderInline(page.inline, text)).replaceAll("<!--", "<\\!--");
  const plain = oneLine(renderInline(repeated(page.inline), text, true));
  if (plain === "") return;
  // The anchor is made before substitutions and references get their texts.
  const bare = { ...repeated(page.inline), substitutions: new Map(), titles: new Map() };
  const name = nameOf(oneLine(renderInline(bare, text, true)));
  const own = page.anchorOf(name);
  const id = makeId(name);
  // A target with the name of the title has its anchor already.
  const anchor = page.targets.includes(id) ? id : own;
  page.blocks.push({
    text: `${"#".repeat(level)} ${title}`,
    isTight: false,
    heading: { text: plain, anchor },
  });
}

function addPiece(page: Page, piece: Piece): void {
  if (piece.kind === "target") {
    const anchor = page.anchorOf(piece.name);
    if (piece.isPlace) page.targets.push(anchor);
    return;
  }
  if (piece.kind === "heading") addHeading(page, piece);
  else if (piece.kind === "code") addCode(page, shownCode(page, piece));
  else if (piece.kind === "row") addRow(page, piece);
  else if (piece.kind === "markdown") addMarkdown(page, piece);
  else if (piece.kind !== "ignore" && piece.kind !== "again") addText(page, piece);
  page.targets = [];
}

/** Titles by the names of the targets before them. */
function titlesOf(pieces: readonly Piece[], inline: Inline): Map<string, string> {
  const titles = new Map<string, string>();
  let names: string[] = [];
  for (const piece of pieces) {
    if (piece.kind === "target") {
      if (piece.isPlace) names.push(piece.name);
      continue;
    }
    if (piece.kind === "heading" && names.length > 0) {
      const title = oneLine(renderInline(repeated(inline), piece.text, true));
      for (const name of names) titles.set(name, title);
    }
    names = [];
  }
  return titles;
}

const mostUnknown = 1000;

function createPage(reading: Reading): Page {
  const { substitutions, targets, rawRoles, anonymous, footnotes } = reading;
  const anchorOf = createAnchors();
  const notes = numberFootnotes(footnotes);
  const names = new Set<string>();
  const unknown: UnknownTarget[] = [];
  let next = 0;
  const inline: Inline = {
    substitutions,
    targets,
    titles: new Map(),
    rawRoles,
    pageOf: (name) => pageOf(reading, name),
    nextAnonymous: () => anonymous[next++],
    footnoteText(label) {
      anchorOf("");
      return `[${notes.ofReference(label)}]`;
    },
    noteTarget(name, address) {
      anchorOf(name);
      names.add(name);
      if (address !== "" && !targets.has(name)) targets.set(name, address);
    },
    noteUnknown(name, written) {
      if (unknown.length < mostUnknown) unknown.push({ name: nameOf(name), written });
    },
    room: 1024 * 1024,
  };
  return {
    inline,
    footnotes: notes,
    anchorOf,
    blocks: [],
    ignored: [],
    targets: [],
    names,
    unknown,
  };
}

/** The references to names that nothing in the document has: targets may also follow below. */
function unknownIn({ unknown, names, blocks }: Page, reading: Reading): UnknownTarget[] {
  if (unknown.length === 0) return unknown;
  const titles = new Set(blocks.map(({ heading }) => nameOf(heading?.text ?? "")));
  const notes = new Set(reading.footnotes.map((label) => nameOf(label.replace(/^#/, ""))));
  const known = [reading.targets, reading.names, names, titles, notes];
  return unknown.filter(({ name }) => !known.some((each) => each.has(name)));
}

/**
 * Renders what was read as Markdown, without its ignore regions. Throws CliError `usage` for an
 * ignore region that is never closed.
 */
export function renderPieces(reading: Reading): {
  blocks: Block[];
  unknown: UnknownTarget[];
} {
  const page = createPage(reading);
  page.inline.titles = titlesOf(reading.pieces, page.inline);
  for (const piece of reading.pieces) {
    if (!takeIgnoreMark(page, piece) && page.ignored.length === 0) addPiece(page, piece);
  }
  if (page.ignored.length === 0) {
    return { blocks: page.blocks, unknown: unknownIn(page, reading) };
  }
  const [path = ""] = reading.chain;
  const [line] = page.ignored;
  const place = line === undefined ? path : `${path}:${line}:1`;
  throw new CliError("usage", `${place}: the knowctl:ignore region is never closed`, {
    hints: ["close it with <!-- /knowctl:ignore -->"],
  });
}
