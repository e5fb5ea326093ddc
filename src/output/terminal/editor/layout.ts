import { neutralise } from "../neutralise.ts";
import { displayWidth } from "../width.ts";
import { graphemesOf } from "./graphemes.ts";

/** A text broken into rows of a terminal, and where its cursor stands. */
export interface Layout {
  /** What is shown; none is wider than asked for. */
  rows: string[];
  cursorRow: number;
  /** Columns before the cursor in its row. */
  cursorColumn: number;
}

const plain = /^[\u0020-\u007e]*$/;

/** A character as it is shown: a tab as two spaces, what would steer the terminal as text. */
function shown(character: string): string {
  return character === "\t" ? "  " : neutralise(character);
}

/** Measuring takes far longer than looking up, and a text has few different characters. */
const known = new Map<string, { text: string; width: number }>();
const mostKnown = 5000;

function measure(character: string): { text: string; width: number } {
  let found = known.get(character);
  if (!found) {
    const text = shown(character);
    found = { text, width: displayWidth(text) };
    if (known.size >= mostKnown) known.clear();
    known.set(character, found);
  }
  return found;
}

interface Piece {
  /** Index of its first code unit in the line. */
  start: number;
  text: string;
}

/** The rows of one line, with the index at which each begins. */
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

/** Index of the row that holds `column` code units of its line. */
function rowOf(rows: readonly Piece[], column: number): number {
  const next = rows.findIndex(({ start }) => start > column);
  return next < 0 ? rows.length - 1 : next - 1;
}

function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += measure(segment).width;
  return width;
}

/** Remembers the rows of lines: of a long text only the edited line is laid out again. */
export function createLayouter(): (text: string, cursor: number, width: number) => Layout {
  let laid = new Map<string, Piece[]>();
  let laidWidth = 0;
  return (text, cursor, width) => {
    const last = width === laidWidth ? laid : new Map<string, Piece[]>();
    laid = new Map();
    laidWidth = width;
    const layout: Layout = { rows: [], cursorRow: 0, cursorColumn: 0 };
    let start = 0;
    for (const line of text.split("\n")) {
      const pieces = last.get(line) ?? laid.get(line) ?? wrapLine(line, width);
      laid.set(line, pieces);
      const column = cursor - start;
      if (column >= 0 && column <= line.length) {
        const at = rowOf(pieces, column);
        layout.cursorRow = layout.rows.length + at;
        layout.cursorColumn = widthOf(line.slice(pieces[at]!.start, column));
      }
      for (const piece of pieces) layout.rows.push(piece.text);
      start += line.length + 1;
    }
    // Behind a full row the cursor stands at the beginning of the next.
    if (layout.cursorColumn >= width) {
      layout.cursorRow++;
      layout.cursorColumn = 0;
      layout.rows.splice(layout.cursorRow, 0, "");
    }
    return layout;
  };
}
