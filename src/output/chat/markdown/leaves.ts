import { bits, cellsOf, colours, put, widthOf, type Cell } from "./cells.ts";
import { openCodeRow } from "./code-row.ts";
import { createInline } from "./inline/inline.ts";
import type { Leaf } from "./lead.ts";
import { prefixOf } from "./prefix.ts";
import type { Reader } from "./reader.ts";
import { limitOf } from "./screen.ts";

/** Starts a block: writes the gap before it and returns the prefix of its rows. */
export function beginBlock(reader: Reader): { first: Cell[]; rest: Cell[] } {
  const { rows, blocks } = reader;
  if (reader.gap !== undefined && reader.isStarted) {
    const around = blocks.slice(0, Math.min(reader.gap, reader.kept));
    rows.row(prefixOf(around, rows.limit()).rest);
  }
  reader.gap = undefined;
  reader.isStarted = true;
  const prefix = prefixOf(blocks, rows.limit());
  for (const block of blocks) block.isShown = true;
  return prefix;
}

const headingStyles = [
  0,
  bits.bold | bits.underline | colours.magenta,
  bits.bold | colours.magenta,
  bits.bold,
];

function headingStyle(level: number): number {
  return headingStyles[Math.min(level, headingStyles.length - 1)] ?? bits.bold;
}

/** Starts a paragraph, or with `level` a heading. `box`: the box of a task. */
export function openText(reader: Reader, level = 0, box = ""): void {
  const { rows, look } = reader;
  const marked = reader.blocks.filter((block) => !block.isShown);
  const { first, rest } = beginBlock(reader);
  const boxed = [...first, ...boxCells(box)];
  // In a narrow terminal the box becomes wrapped text: a row that is too long cannot be redrawn.
  const isTight = widthOf(boxed) > Math.floor(rows.limit() / 2);
  rows.open(isTight ? first : boxed, rest);
  if (isTight) for (const cell of boxCells(box)) rows.line.add(cell);
  const style = headingStyle(level);
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
  // A heading may end with the marks that start it.
  if (text.isHeading) {
    let end = cells.length;
    while (end > 0 && /^[# ]$/.test(cells[end - 1]?.text ?? "")) end--;
    if (end > 0 && cells[end]?.text === " ") cells.length = end;
  }
  rows.end();
}

/** Turns a paragraph of one row into a heading, because a line of `=` or `-` follows. */
export function underline(reader: Reader, level: number, source: string): void {
  const { rows, look } = reader;
  if (look.hasColour) for (const cell of rows.line.cells) cell.style |= headingStyle(level);
  finishText(reader);
  if (!look.hasColour) rows.row(cellsOf(source));
}

const maxRuleWidth = 80;

export function writeRule(reader: Reader): void {
  const { first } = beginBlock(reader);
  const width = Math.min(reader.rows.limit(), maxRuleWidth);
  reader.rows.row([...first, ...cellsOf("─".repeat(Math.max(1, width - first.length)), bits.dim)]);
}

/** Starts code. Its rows have no prefix, so a list marker is written in a separate row. */
export function writeMarker(reader: Reader): void {
  const isMarked = reader.blocks.some((block) => !block.isShown);
  const { first } = beginBlock(reader);
  if (isMarked) reader.rows.row(first);
}

const maxLanguageLength = 40;

/** Starts a block of code. Its rows have no prefix, so that users can copy the code unchanged. */
export function openFence(reader: Reader, leaf: Extract<Leaf, { kind: "fence" }>): void {
  const isMarked = reader.blocks.some((block) => !block.isShown);
  const { first } = beginBlock(reader);
  const language = /^[^\s{,:]*/.exec(reader.info.trim())?.[0].slice(0, maxLanguageLength) ?? "";
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

/** Adds text to the current line of code. */
export function addCode(reader: Reader, text: string): void {
  reader.codeRow ??= openCodeRow(reader.rows.screen, () => limitOf(reader.terminal));
  reader.codeRow.add(text);
}

export function endCodeRow(reader: Reader): void {
  reader.codeRow?.end((line) => reader.fence?.paint(line));
  reader.codeRow = undefined;
}
