import { cellText } from "../formats/csv.ts";
import { neutraliseLine } from "./neutralise.ts";
import type { Output } from "./output.ts";
import type { Column } from "../formats/select.ts";
import { bold, dim } from "./text.ts";
import { displayWidth, fit, fitEnd } from "./width.ts";

/** What stands where a value is null. */
export const nothing = "—";

const gap = "  ";
/** A column is never cut to less, so that something of it can be read. */
const narrowest = 3;
/** Widths below which columns on the right rather give way: of the first text, and of the others. */
const readable = { first: 16, other: 10 };

function fitColumn(text: string, width: number, column: Column<never>): string {
  return column.cut === "start" ? fitEnd(text, width) : fit(text, width);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return nothing;
  return neutraliseLine(cellText(value, ", "));
}

/**
 * Takes from the widest flexible columns until a line fits, or nothing is left
 * to take: then lines wrap, for a number that is cut would be another number.
 */
export function fitWidths(
  widths: readonly number[],
  flexible: readonly boolean[],
  available: number,
  least: readonly number[] = widths.map(() => narrowest),
): number[] {
  const most = Math.max(available, narrowest);
  const fitted = widths.map((width, index) => (flexible[index] ? Math.min(width, most) : width));
  let excess = fitted.reduce((sum, width) => sum + width + gap.length, -gap.length) - available;
  while (excess > 0) {
    let widest = -1;
    for (const [index, width] of fitted.entries()) {
      const floor = least[index] ?? narrowest;
      if (flexible[index] && width > floor && width > (fitted[widest] ?? 0)) widest = index;
    }
    if (widest < 0) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
    excess--;
  }
  return fitted;
}

/**
 * Widths of the columns that have room on a terminal: those on the right are
 * left out where all would be too narrow to read. The first two always stay.
 */
export function layOutColumns(
  widths: readonly number[],
  flexible: readonly boolean[],
  available: number,
): number[] {
  const first = flexible.indexOf(true);
  const least = widths.map((width, index) => {
    if (!flexible[index]) return width;
    return Math.min(width, index === first ? readable.first : readable.other);
  });
  let count = widths.length;
  const needed = (): number =>
    least.slice(0, count).reduce((sum, width) => sum + width + gap.length, -gap.length);
  while (count > 2 && needed() > available) count--;
  const kept = widths.slice(0, count);
  return fitWidths(kept, flexible, available, needed() > available ? undefined : least);
}

function pad(text: string, width: number, column: Column<never>, last: boolean): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(text)));
  if (column.align === "right") return space + text;
  return last ? text : text + space;
}

export interface TableLines {
  header: string;
  lines: string[];
  /** Names of the columns that have no room. */
  hidden: string[];
}

/**
 * Rows under a header as lines, aligned by what is seen. On a terminal times are
 * relative and the widest columns are cut so that a line fits; off a terminal
 * nothing is cut.
 */
export function layOutTable<Row>(
  output: Pick<Output, "isTerminal" | "columns">,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): TableLines {
  const { isTerminal } = output;
  const cells = rows.map((row) =>
    columns.map((column) => {
      const value = column.value(row);
      const known = value !== null && value !== undefined;
      const text = cell(isTerminal && known && column.show ? column.show(value) : value);
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
    // A number that is cut is another number; a relative time is short and says nothing when cut.
    const flexible = columns.map(
      (column) => column.align !== "right" && (!column.show || column.cut !== undefined),
    );
    widths = layOutColumns(widths, flexible, output.columns());
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

/** What is said of columns that have no room. */
export function noRoomFor(hidden: readonly string[]): string {
  return `no room for: ${hidden.join(", ")} (a wider terminal or --fields shows them)`;
}

/** Writes the lines of a table; on stderr it names what has no room. No rows: nothing is written. */
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
