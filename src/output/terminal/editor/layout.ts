import { neutralise } from "../neutralise.ts";
import { displayWidth } from "../width.ts";
import { graphemesOf } from "./graphemes.ts";

/** A text wrapped to rows of a terminal, and the position of its cursor. */
export interface Layout {
  /** Displayed rows, none wider than requested. */
  rows: string[];
  cursorRow: number;
  /** Columns before the cursor in its row. */
  cursorColumn: number;
}

const plain = /^[\u0020-\u007e]*$/;

/** A character as displayed: a tab as two spaces, control characters as visible text. */
function shown(character: string): string {
  return character === "\t" ? "  " : neutralise(character);
}

/** Cache: measuring is slow, and a text has few different characters. */
const measured = new Map<string, { text: string; width: number }>();
const maxMeasured = 5000;

function measure(character: string): { text: string; width: number } {
  let found = measured.get(character);
  if (!found) {
    const text = shown(character);
    found = { text, width: displayWidth(text) };
    if (measured.size >= maxMeasured) measured.clear();
    measured.set(character, found);
  }
  return found;
}

interface Piece {
  /** Index of its first code unit in the line. */
  start: number;
  text: string;
}

/** The rows of one line, each with its start index. */
function wrapLine(line: string, width: number): Piece[] {
  const rows: Piece[] = [];
  if (plain.test(line)) {
    for (let at = 0; at < line.length || at === 0; at += width) {
      rows.push({ start: at, text: line.slice(at, at + width) });
    }
    return rows;
  }
  let row: Piece = { start: 0, text: "" };
  let used = 0;
  for (const { segment, index } of graphemesOf(line)) {
    const { text, width: wide } = measure(segment);
    if (used + wide > width && used > 0) {
      rows.push(row);
      row = { start: index, text: "" };
      used = 0;
    }
    row.text += text;
    used += wide;
  }
  return [...rows, row];
}

/** Index of the row that contains the code unit `column` of the line. */
function rowOf(rows: readonly Piece[], column: number): number {
  const next = rows.findIndex(({ start }) => start > column);
  return next < 0 ? rows.length - 1 : next - 1;
}

function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += measure(segment).width;
  return width;
}

/** Caches the rows of each line, so that only the edited line of a long text is wrapped again. */
export function createLayouter(): (text: string, cursor: number, width: number) => Layout {
  let cache = new Map<string, Piece[]>();
  let cachedWidth = 0;
  return (text, cursor, width) => {
    const last = width === cachedWidth ? cache : new Map<string, Piece[]>();
    cache = new Map();
    cachedWidth = width;
    const layout: Layout = { rows: [], cursorRow: 0, cursorColumn: 0 };
    let start = 0;
    for (const line of text.split("\n")) {
      const pieces = last.get(line) ?? cache.get(line) ?? wrapLine(line, width);
      cache.set(line, pieces);
      const column = cursor - start;
      if (column >= 0 && column <= line.length) {
        const at = rowOf(pieces, column);
        layout.cursorRow = layout.rows.length + at;
        layout.cursorColumn = widthOf(line.slice(pieces[at]!.start, column));
      }
      for (const piece of pieces) layout.rows.push(piece.text);
      start += line.length + 1;
    }
    // After a full row, the cursor is at the start of the next row.
    if (layout.cursorColumn >= width) {
      layout.cursorRow++;
      layout.cursorColumn = 0;
      layout.rows.splice(layout.cursorRow, 0, "");
    }
    return layout;
  };
}
