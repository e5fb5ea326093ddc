import { displayWidth } from "../../terminal/width.ts";
import { bits, cellsOf, createLine, textOf, type Cell } from "./cells.ts";
import { createInline } from "./inline/inline.ts";
import type { InlineLook } from "./inline/scanner.ts";

export type Align = "left" | "right" | "center";

export interface Table {
  /** Source lines, the header first. */
  lines: string[];
  aligns: Align[] | undefined;
  /** Number of characters in `lines`. */
  size: number;
  /** Column widths, set when the first rows are written; later rows cannot change them. */
  widths: number[] | undefined;
  /** The current source line. */
  line: string;
}

const maxColumns = 64;
const maxCellLength = 4000;

/** Cells of a source line, split at bars; `\|` is a bar in a cell. */
export function splitCells(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "");
  const cells = inner
    .split(/(?<!\\)\|/)
    .slice(0, maxColumns + 1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
  if (cells.length > 1 && cells.at(-1) === "") cells.pop();
  return cells.slice(0, maxColumns);
}

/** Alignments of a delimiter row; undefined if `line` is not one. */
export function parseAligns(line: string): Align[] | undefined {
  if (!/^[\s|:-]+$/.test(line) || !line.includes("-")) return undefined;
  const cells = splitCells(line);
  if (!cells.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  return cells.map((cell) => {
    if (!cell.endsWith(":")) return "left";
    return cell.startsWith(":") ? "center" : "right";
  });
}

/** The cells of a table cell. The Markdown of a very long one is not drawn. */
export function drawCell(text: string, look: InlineLook, style = 0): Cell[] {
  if (text.length > maxCellLength) return cellsOf(text, style);
  const line = createLine();
  const inline = createInline(line, look, style);
  inline.feed(text);
  inline.end();
  return line.cells;
}

const gap = 3;

// Width in terminals that join graphemes. An error is harmless: these rows are never redrawn.
const widthOf = (cells: readonly Cell[]): number => displayWidth(textOf(cells));
const separator = cellsOf(" │ ", bits.dim);

/** Widths of the columns; undefined if they do not fit into `limit`. */
export function fitTable(rows: readonly Cell[][][], limit: number): number[] | undefined {
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
export function tableRow(
  row: readonly Cell[][],
  widths: readonly number[],
  aligns: readonly Align[],
): Cell[] {
  return widths.flatMap((width, column) => [
    ...(column === 0 ? [] : separator),
    ...pad(row[column] ?? [], width, aligns[column] ?? "left"),
  ]);
}

export function ruleRow(widths: readonly number[]): Cell[] {
  return cellsOf(widths.map((width) => "─".repeat(width)).join("─┼─"), bits.dim);
}
