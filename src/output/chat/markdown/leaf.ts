import { prefixOf, type Leaf } from "./blocks.ts";
import {
  bits,
  cellsOf,
  colours,
  widthOf,
  drawRow,
  fillRows,
  finishRow,
  limitOf,
  type Prefix,
  type Rows,
} from "./rows.ts";
import { openCodeRow } from "./fence.ts";
import { inlineCells, type InlineLook } from "./inline.ts";
import { createTable, writeTable, type Table } from "./table.ts";

/** What is on the terminal of the last leaf. */
export interface Drawn {
  /** The gap before it is written. */
  isBegun: boolean;
  /** A row of it is finished: the next one shows no marker. */
  hasRow: boolean;
  /** Position in its text up to which the rows are finished. */
  done: number;
  table: Table | undefined;
}

export const nothingDrawn = (): Drawn => ({
  isBegun: false,
  hasRow: false,
  done: 0,
  table: undefined,
});

/** Where leaves are drawn, and how. */
interface Canvas {
  readonly rows: Rows;
  readonly look: InlineLook;
  readonly drawn: Drawn;
}

const headingStyles = [
  bits.bold | bits.underline | colours.magenta,
  bits.bold | colours.magenta,
  bits.bold,
];

/** Shows the start of a source line that may become a table, or belongs to one. */
function preview(rows: Rows, line: string): void {
  let left = limitOf(rows);
  // Tabs become spaces, because their width depends on the terminal.
  const cells = cellsOf(line.slice(0, left).replaceAll("\t", " "), bits.dim);
  drawRow(
    rows,
    cells.filter(({ width }) => (left -= width) >= 0),
  );
}

type TextLeaf = Leaf & { token: { type: "paragraph" | "text" | "heading" } };
const isMarkdown = (leaf: Leaf): leaf is TextLeaf =>
  ["paragraph", "text", "heading"].includes(leaf.token.type);

/** The source of a leaf. */
export function sourceOf(leaf: Leaf): string {
  const { token, box } = leaf;
  const source = isMarkdown(leaf) ? leaf.token.text.replaceAll(/^ +/gm, "") : token.raw.trimEnd();
  return source.startsWith(box) ? source : box + source;
}

/** Draws a text: finishes its full rows, and with `isOpen` leaves the last one open. */
function drawText({ rows, look, drawn }: Canvas, leaf: Leaf, prefix: Prefix, isOpen: boolean) {
  const { token } = leaf;
  const source = sourceOf(leaf);
  const isBarred = source.startsWith("|");
  if (isOpen && isBarred && !source.includes("\n")) return preview(rows, source);
  const depth = token.type === "heading" ? token.depth : 0;
  if (depth > 0 && !look.hasColour && !drawn.hasRow) {
    prefix.first.push(...cellsOf(`${"#".repeat(depth)} `));
  }
  const cells = inlineCells(source, look, {
    isOpen,
    style: depth > 0 ? headingStyles[Math.min(depth, 3) - 1]! : 0,
    done: drawn.done,
    keepsLines: isBarred || !isMarkdown(leaf),
  });
  while (drawn.hasRow && cells[0]?.text === " ") cells.shift();
  const left = fillRows(rows, prefix, cells);
  if (left.length < cells.length) {
    drawn.hasRow = true;
    drawn.done = cells[cells.length - left.length - 1]!.end;
  }
  const row = [...prefix.first, ...left];
  if (isOpen) drawRow(rows, row);
  else if (left.length > 0 || !drawn.hasRow || rows.shown.length > 0) finishRow(rows, row);
}

const maxTableSize = 64 * 1024;
const maxTableRows = 400;

/**
 * Collects the lines of a table, and writes them when the table is complete or large. `partial`:
 * the last line, which is not complete.
 */
function drawTable(canvas: Canvas, leaf: Leaf, prefix: Prefix, isOpen: boolean, partial: string) {
  const { rows, drawn, look } = canvas;
  const [header = "", delimiters = "", ...lines] = sourceOf(leaf).split("\n");
  drawn.table ??= createTable(header, delimiters);
  const { table } = drawn;
  if (isOpen && partial !== "") lines.pop();
  table.lines.push(...lines);
  const size = table.lines.reduce((sum, line) => sum + line.length, 0);
  if (!isOpen || size > maxTableSize || table.lines.length > maxTableRows) {
    drawRow(rows, []);
    writeTable(rows, table, prefix, look);
    drawn.hasRow = true;
  }
  if (isOpen) preview(rows, partial || (table.lines.at(-1) ?? delimiters));
}

/** Whether a line without a bar at its start is too long to wait for the table that it may begin. */
function isProse({ rows, drawn }: Canvas, leaf: Leaf): boolean {
  const header = sourceOf(leaf).split("\n", 1)[0]!;
  return drawn.hasRow || (!header.startsWith("|") && widthOf(cellsOf(header)) > limitOf(rows));
}

/** Writes code without a prefix, so that users can copy it unchanged. */
function drawIndented({ rows, drawn }: Canvas, code: string, { first }: Prefix): void {
  if (first.some(({ style }) => style === colours.yellow)) finishRow(rows, first);
  for (const line of code.split("\n")) {
    const row = openCodeRow(rows);
    row.add(`    ${line}`);
    row.end();
  }
  drawn.hasRow = true;
}

const maxRuleWidth = 80;

/** Draws a leaf that is no fence. `index`: its index among all leaves; `partial`: as above. */
export function drawLeaf(
  canvas: Canvas,
  leaf: Leaf,
  index: number,
  isOpen: boolean,
  partial: string,
): void {
  const { rows, drawn } = canvas;
  const { token, containers } = leaf;
  const prefix = prefixOf(containers, limitOf(rows), drawn.hasRow ? undefined : index);
  if (token.type === "hr") {
    if (drawn.hasRow) return;
    drawn.hasRow = true;
    const width = Math.min(limitOf(rows), maxRuleWidth) - widthOf(prefix.first);
    finishRow(rows, [...prefix.first, ...cellsOf("─".repeat(Math.max(1, width)), bits.dim)]);
  } else if (token.type === "code") drawIndented(canvas, token.text, prefix);
  else if (token.type === "table" && (drawn.table || !isProse(canvas, leaf))) {
    drawTable(canvas, leaf, prefix, isOpen, partial);
  } else drawText(canvas, leaf, prefix, isOpen);
}
