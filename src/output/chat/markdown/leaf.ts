import { displayWidth } from "../../terminal/width.ts";
import {
  bits,
  cellsOf,
  textOf,
  widthOf,
  type Cell,
  fillRows,
  finishRow,
  limitOf,
  type Prefix,
  type Rows,
  colours,
  drawRow,
} from "./rows.ts";
import { inlineCells, type InlineLook } from "./inline.ts";
import { prefixOf, type Leaf } from "./blocks.ts";
import { openCodeRow } from "./fence.ts";

type Align = "left" | "right" | "center";

interface Table {
  header: string;
  aligns: Align[];
  /** Source lines that are not written yet. */
  lines: string[];
  /** Column widths, set when the first rows are written; later rows cannot change them. */
  widths: number[] | undefined;
}

const maxColumns = 64;
const maxCellLength = 4000;

/** Cells of a source line, split at bars; `\|` is a bar in a cell. */
function splitCells(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "");
  const cells = inner
    .split(/(?<!\\)\|/)
    .slice(0, maxColumns + 1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
  if (cells.length > 1 && cells.at(-1) === "") cells.pop();
  return cells.slice(0, maxColumns);
}

function createTable(header: string, delimiters: string): Table {
  const aligns = splitCells(delimiters).map((cell): Align => {
    if (!cell.endsWith(":")) return "left";
    return cell.startsWith(":") ? "center" : "right";
  });
  return { header, aligns, lines: [], widths: undefined };
}

/** The cells of a table cell. The Markdown of a very long one is not drawn. */
function drawCell(text: string, look: InlineLook, style = 0): Cell[] {
  if (text.length > maxCellLength) return cellsOf(text.replaceAll("\t", " "), style);
  return inlineCells(text, look, { style }).filter(({ text: each }) => each !== "\n");
}

const gap = 3;

// Width in terminals that join graphemes. An error is harmless: these rows are never redrawn.
const seenWidth = (cells: readonly Cell[]): number => displayWidth(textOf(cells));
const separator = cellsOf(" │ ", bits.dim);

/** Widths of the columns; undefined if they do not fit into `limit`. */
function fitTable(rows: readonly Cell[][][], limit: number): number[] | undefined {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cells] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 1, seenWidth(cells));
    }
  }
  const total = widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));
  return total <= limit ? widths : undefined;
}

function pad(cells: readonly Cell[], width: number, align: Align): Cell[] {
  const free = Math.max(0, width - seenWidth(cells));
  const before = { left: 0, right: free, center: Math.floor(free / 2) }[align];
  return [...cellsOf(" ".repeat(before)), ...cells, ...cellsOf(" ".repeat(free - before))];
}

/** One row of a table with known column widths. */
function tableRow(row: readonly Cell[][], widths: readonly number[], aligns: readonly Align[]) {
  return widths.flatMap((width, column) => [
    ...(column === 0 ? [] : separator),
    ...pad(row[column] ?? [], width, aligns[column] ?? "left"),
  ]);
}

/** Writes a row as a list of `header: value`, for terminals too narrow for the table. */
function writeEntries(
  rows: Rows,
  prefix: Prefix,
  headers: readonly Cell[][],
  row: readonly Cell[][],
): void {
  // As in prefixOf(): the prefix takes at most half of the row.
  const room = Math.max(0, Math.floor(limitOf(rows) / 2) - widthOf(prefix.rest));
  const rest = [...prefix.rest, ...cellsOf(" ".repeat(Math.min(4, room)))];
  let bullet = "• ";
  for (const [column, cells] of row.entries()) {
    if (cells.length === 0) continue;
    const header = headers[column] ?? [];
    const colon = header.length > 0 ? cellsOf(": ", bits.bold) : [];
    const own = { first: [...prefix.first, ...cellsOf(bullet.slice(0, room))], rest };
    const last = fillRows(rows, own, [...header, ...colon, ...cells]);
    finishRow(rows, [...own.first, ...last]);
    prefix.first = prefix.rest;
    bullet = "  ";
  }
}

/** Writes the collected lines of a table; keeps the column widths for later ones. */
function writeTable(rows: Rows, table: Table, prefix: Prefix, look: InlineLook): void {
  const { aligns, lines } = table;
  const headers = splitCells(table.header).map((text) => drawCell(text, look, bits.bold));
  // Extra cells are kept: models often forget to escape a bar in a cell.
  const body = lines.map((line) => splitCells(line).map((text) => drawCell(text, look)));
  const isFirst = table.widths === undefined;
  const room = limitOf(rows) - widthOf(prefix.first);
  table.widths ??= fitTable([headers, ...body], room) ?? [];
  table.lines = [];
  const { widths } = table;
  const write = (cells: Cell[]): void => {
    finishRow(rows, [...prefix.first, ...cells]);
    prefix.first = prefix.rest;
  };
  if (isFirst && widths.length > 0) {
    write(tableRow(headers, widths, aligns));
    write(cellsOf(widths.map((width) => "─".repeat(width)).join("─┼─"), bits.dim));
  }
  // In a list, headers precede their cells; a header of an empty column would be lost.
  const isLost = headers.some((_, column) => body.every((row) => !row[column]?.length));
  if (isFirst && widths.length === 0 && isLost) writeEntries(rows, prefix, [], headers);
  for (const row of body) {
    const fits = row.every((cells, column) => seenWidth(cells) <= (widths[column] ?? -1));
    if (fits && widths.length > 0) write(tableRow(row, widths, aligns));
    else writeEntries(rows, prefix, headers, row);
  }
}

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
  if (first.some(({ style }) => style === colours.magenta)) finishRow(rows, first);
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
