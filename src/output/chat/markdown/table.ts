import { displayWidth } from "../../terminal/width.ts";
import {
  bits,
  cellsOf,
  textOf,
  widthOf as columnsOf,
  type Cell,
  fillRows,
  finishRow,
  limitOf,
  type Prefix,
  type Rows,
} from "./rows.ts";
import { inlineCells, type InlineLook } from "./inline.ts";

type Align = "left" | "right" | "center";

export interface Table {
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

export function createTable(header: string, delimiters: string): Table {
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
const widthOf = (cells: readonly Cell[]): number => displayWidth(textOf(cells));
const separator = cellsOf(" │ ", bits.dim);

/** Widths of the columns; undefined if they do not fit into `limit`. */
function fitTable(rows: readonly Cell[][][], limit: number): number[] | undefined {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cells] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 1, widthOf(cells));
    }
  }
  const total = widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));
  return total <= limit ? widths : undefined;
}

function pad(cells: readonly Cell[], width: number, align: Align): Cell[] {
  const free = Math.max(0, width - widthOf(cells));
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
  const room = Math.max(0, Math.floor(limitOf(rows) / 2) - columnsOf(prefix.rest));
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
export function writeTable(rows: Rows, table: Table, prefix: Prefix, look: InlineLook): void {
  const { aligns, lines } = table;
  const headers = splitCells(table.header).map((text) => drawCell(text, look, bits.bold));
  // Extra cells are kept: models often forget to escape a bar in a cell.
  const body = lines.map((line) => splitCells(line).map((text) => drawCell(text, look)));
  const isFirst = table.widths === undefined;
  const room = limitOf(rows) - columnsOf(prefix.first);
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
    const fits = row.every((cells, column) => widthOf(cells) <= (widths[column] ?? -1));
    if (fits && widths.length > 0) write(tableRow(row, widths, aligns));
    else writeEntries(rows, prefix, headers, row);
  }
}
