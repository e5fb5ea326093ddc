import { neutraliseLine } from "./neutralise.ts";
import type { Output } from "./output.ts";
import { cellText, valueOf, type Column } from "../formats/select.ts";
import { bold, dim } from "./text.ts";
import { displayWidth, fit, fitEnd } from "./width.ts";

/** Placeholder for a null value. */
export const nothing = "—";

const gap = "  ";
/** Minimum width of a cut column. */
const minWidth = 3;
/**
 * Minimum readable widths, of the first text column, of the columns to keep and of the others.
 * Below, columns are hidden. A kept column that is wider than this is cut too: its text is foreign.
 */
const readableWidth = { first: 16, kept: 24, other: 10 };

function fitColumn(text: string, width: number, column: Column<never>): string {
  return column.cut === "start" ? fitEnd(text, width) : fit(text, width);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return nothing;
  return neutraliseLine(cellText(value, ", "));
}

/**
 * Shrinks the widest flexible columns until a line fits or all have their minimum.
 * A line that still does not fit wraps, because a cut number would be a wrong number.
 */
export function fitWidths(
  widths: readonly number[],
  flexible: readonly boolean[],
  available: number,
  minimums: readonly number[] = widths.map(() => minWidth),
): number[] {
  const maximum = Math.max(available, minWidth);
  const fitted = widths.map((width, index) => (flexible[index] ? Math.min(width, maximum) : width));
  let excess = fitted.reduce((sum, width) => sum + width + gap.length, -gap.length) - available;
  while (excess > 0) {
    let widest = -1;
    for (const [index, width] of fitted.entries()) {
      const minimum = minimums[index] ?? minWidth;
      if (flexible[index] && width > minimum && width > (fitted[widest] ?? 0)) widest = index;
    }
    if (widest < 0) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
    excess--;
  }
  return fitted;
}

/**
 * Widths of the columns that fit on a terminal. Drops columns on the right while
 * the others would be too narrow to read. The first two always stay. `kept` marks the columns
 * that are shown whole before a column to their right is shown.
 */
export function layOutColumns(
  widths: readonly number[],
  flexible: readonly boolean[],
  available: number,
  kept: readonly boolean[] = [],
): number[] {
  const first = flexible.indexOf(true);
  const minimums = widths.map((width, index) => {
    if (!flexible[index]) return width;
    const readable = kept[index] === true ? readableWidth.kept : readableWidth.other;
    return Math.min(width, index === first ? readableWidth.first : readable);
  });
  let count = widths.length;
  const needed = (): number =>
    minimums.slice(0, count).reduce((sum, width) => sum + width + gap.length, -gap.length);
  while (count > 2 && needed() > available) count--;
  const shown = widths.slice(0, count);
  return fitWidths(shown, flexible, available, needed() > available ? undefined : minimums);
}

function pad(text: string, width: number, column: Column<never>, last: boolean): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  if (column.align === "right") return space + text;
  return last ? text : text + space;
}

export interface TableLines {
  header: string;
  lines: string[];
  /** Names of the columns that do not fit. */
  hidden: string[];
}

/**
 * Header and rows as lines, aligned by display width. On a terminal, times are
 * relative and the widest columns are cut until a line fits; elsewhere nothing is
 * cut.
 */
export function layOutTable<Row>(
  output: Pick<Output, "isTerminal" | "columns" | "now">,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): TableLines {
  const { isTerminal } = output;
  const cells = rows.map((row) =>
    columns.map((column) => {
      const value = valueOf(column, row);
      const known = value !== null && value !== undefined;
      const text = cell(
        isTerminal && known && column.show ? column.show(value, output.now()) : value,
      );
      return isTerminal && column.align !== "right"
        ? fitColumn(text, output.columns(), column as Column<never>)
        : text;
    }),
  );
  const header = columns.map((column) => neutraliseLine(column.name));
  let widths = header.map(displayWidth);
  for (const line of cells) {
    for (const [index, text] of line.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, displayWidth(text));
    }
  }
  if (isTerminal) {
    // Not cut: a number (it would be wrong) and a relative time (it would be meaningless).
    const flexible = columns.map(
      (column) => column.align !== "right" && (!column.show || column.cut !== undefined),
    );
    const kept = columns.map((column) => column.isKept === true);
    widths = layOutColumns(widths, flexible, output.columns(), kept);
  }
  const layOut = (texts: readonly string[]): string =>
    widths
      .map((width, index) => {
        const text = texts[index] ?? "";
        const column = columns[index] as Column<never>;
        const shown = isTerminal ? fitColumn(text, width, column) : text;
        return pad(shown, width, column, index === widths.length - 1);
      })
      .join(gap);
  return { header: layOut(header), lines: cells.map(layOut), hidden: header.slice(widths.length) };
}

/** Note about columns that do not fit. */
export function noRoomFor(hidden: readonly string[]): string {
  return `columns that do not fit: ${hidden.join(", ")} (use a wider terminal, or --fields)`;
}

/** Writes a table, and on stderr the names of hidden columns. Without rows, writes nothing. */
export async function writeTable<Row>(
  output: Output,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const { header, lines, hidden } = layOutTable(output, columns, rows);
  await output.line(bold(header));
  for (const line of lines) await output.line(line);
  if (hidden.length > 0) await output.note(dim(noRoomFor(hidden)));
}
