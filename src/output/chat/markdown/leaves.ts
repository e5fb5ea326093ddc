import { bits, cellsOf, colours, put, widthOf, type Cell } from "./cells.ts";
import { openCodeRow } from "./code-row.ts";
import { createInline } from "./inline/inline.ts";
import type { Leaf } from "./lead.ts";
import { prefixOf, restOf } from "./prefix.ts";
import type { Reader } from "./reader.ts";
import { limitOf } from "./screen.ts";

/** What stands in front of the rows of a block that begins here; the gap before it is written. */
export function beginBlock(reader: Reader): { first: Cell[]; rest: Cell[] } {
  const { rows, blocks } = reader;
  if (reader.gap !== undefined && reader.isBegun) {
    const around = blocks.slice(0, Math.min(reader.gap, reader.kept));
    rows.row(restOf(around, rows.limit()));
  }
  reader.gap = undefined;
  reader.isBegun = true;
  return prefixOf(blocks, rows.limit());
}

const headings = [
  0,
  bits.bold | bits.underline | colours.magenta,
  bits.bold | colours.magenta,
  bits.bold,
];

export function headingLook(level: number): number {
  return headings[Math.min(level, headings.length - 1)] ?? bits.bold;
}

/** Begins a paragraph, or with `level` a heading. `box`: that of a task. */
export function openText(reader: Reader, level = 0, box = ""): void {
  const { rows, look } = reader;
  const marked = reader.blocks.filter((block) => !block.isShown);
  const { first, rest } = beginBlock(reader);
  const boxed = [...first, ...boxCells(box)];
  // In a narrow window the box is text, which wraps: a row that is too long cannot be redrawn.
  const isTight = widthOf(boxed) > Math.floor(rows.limit() / 2);
  rows.open(isTight ? first : boxed, rest);
  if (isTight) for (const cell of boxCells(box)) rows.line.add(cell);
  const style = headingLook(level);
  const inline = createInline(rows.line, look, level === 0 ? 0 : style);
  if (level > 0 && !look.hasColour) {
    for (const character of `${"#".repeat(level)} `) put(rows.line, character, 0);
  }
  const isHeading = level > 0;
  reader.text = { inline, isHeading, marked, source: box, lines: 0, keepsLines: false };
}

function boxCells(box: string): Cell[] {
  return cellsOf(box, /x/i.test(box) ? colours.green : 0);
}

/** Ends an open paragraph or heading. */
export function finishText(reader: Reader): void {
  const { text, rows } = reader;
  if (!text) return;
  reader.text = undefined;
  text.inline.end();
  const { cells } = rows.line;
  // A heading may be closed by the same marks that open it.
  if (text.isHeading) {
    let end = cells.length;
    while (end > 0 && /^[# ]$/.test(cells[end - 1]?.text ?? "")) end--;
    if (end > 0 && cells[end]?.text === " ") cells.length = end;
  }
  rows.end();
}

/** Makes a paragraph of one row the heading that a line of `=` or `-` below it makes of it. */
export function underline(reader: Reader, level: number, source: string): void {
  const { rows, look } = reader;
  if (look.hasColour) for (const cell of rows.line.cells) cell.style |= headingLook(level);
  finishText(reader);
  if (!look.hasColour) rows.row(cellsOf(source));
}

const widestRule = 80;

export function writeRule(reader: Reader): void {
  const { first } = beginBlock(reader);
  const width = Math.min(reader.rows.limit(), widestRule);
  reader.rows.row([...first, ...cellsOf("─".repeat(Math.max(1, width - first.length)), bits.dim)]);
}

/** Begins code, whose rows have nothing in front of them: the marker of an item gets a row of its own. */
export function writeMarker(reader: Reader): void {
  const isMarked = reader.blocks.some((block) => !block.isShown);
  const { first } = beginBlock(reader);
  if (isMarked) reader.rows.row(first);
}

const longestInfo = 40;

/** Begins a block of code. Its rows have nothing in front of them: what a reader copies is the code. */
export function openFence(reader: Reader, leaf: Extract<Leaf, { kind: "fence" }>): void {
  const isMarked = reader.blocks.some((block) => !block.isShown);
  const { first } = beginBlock(reader);
  const language = /^[^\s{,:]*/.exec(reader.info.trim())?.[0].slice(0, longestInfo) ?? "";
  const border = cellsOf(`╭─ ${language}`.trimEnd(), bits.dim);
  reader.rows.row([...(isMarked ? first : []), ...border]);
  const { mark, length, indent } = leaf;
  const plain = (): undefined => undefined;
  const paint = (reader.look.hasColour ? reader.painters(language) : undefined) ?? plain;
  reader.fence = { mark, length, indent, paint };
  reader.info = "";
  reader.mode = "code-lead";
}

export function closeFence(reader: Reader): void {
  if (!reader.fence) return;
  endCodeRow(reader);
  reader.fence = undefined;
  reader.rows.row(cellsOf("╰─", bits.dim));
}

/** Text of the current line of code. */
export function addCode(reader: Reader, text: string): void {
  reader.codeRow ??= openCodeRow(reader.rows.screen, () => limitOf(reader.terminal));
  reader.codeRow.add(text);
}

export function endCodeRow(reader: Reader): void {
  reader.codeRow?.end((line) => reader.fence?.paint(line));
  reader.codeRow = undefined;
}
