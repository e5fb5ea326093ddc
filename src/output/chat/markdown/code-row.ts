import { makeCell, put, toText, widthOf, type Cell, type Line } from "./cells.ts";
import type { Painter } from "./code.ts";
import { draw, finish, maxCells, type Screen } from "./screen.ts";

/** The current row of code. Never wrapped, so that users can copy the code unchanged. */
export interface CodeRow {
  add(text: string): void;
  /** Ends the row; applies the style of `paint` unless the row is wider than the terminal. */
  end(paint: Painter): void;
  /** Draws the current content. */
  draw(): void;
  /** Number of buffered cells and characters. */
  readonly held: number;
  /** Leaves the row on the screen; the code continues in the next row. */
  leave(): void;
}

const tabStop = 8;
const plain = 0;
/** A longer line is not coloured. */
const maxPaintedLength = 4000;

/**
 * Starts a row. A row that is wider than the terminal stays plain and is only appended
 * to: the terminal has wrapped it, so its start cannot be redrawn. The result does not
 * depend on where the stream is cut.
 */
export function openCodeRow(screen: Screen, limit: () => number): CodeRow {
  const cells: Cell[] = [];
  let width = 0;
  /** The row is wider than the terminal. */
  let isOver = false;
  let source = "";
  /** leave() has written the whole row so far: without further text, end() writes nothing. */
  let isLeft = false;
  const line: Line = {
    cells,
    add(cell) {
      if (cell.text === "\t") cell.width = tabStop - (width % tabStop);
      cells.push(cell);
      width += cell.width;
    },
    refit: () => void (width = widthOf(cells)),
    break() {},
  };
  const append = (text: string): void => {
    if (text === "") return;
    isLeft = false;
    screen.out.push(...toText([makeCell(text, plain)]));
  };
  const runOver = (): void => {
    if (!isOver) draw(screen, cells);
    isOver = true;
    cells.length = 0;
  };
  const paintRow = (): void => {
    if (isOver) return;
    if (width > limit()) runOver();
    else draw(screen, cells);
  };
  return {
    add(text) {
      if (source.length <= maxPaintedLength) source += text.slice(0, maxPaintedLength + 1);
      let at = 0;
      for (const character of isOver ? "" : text) {
        put(line, character, plain);
        at += character.length;
        if (width > limit() || cells.length > maxCells(limit())) {
          runOver();
          break;
        }
      }
      append(text.slice(at));
    },
    end(paint) {
      if (width > limit() && !isOver) runOver();
      // Always, even if the result is unused: the parser needs every line.
      const painted = source.length <= maxPaintedLength ? paint(source) : undefined;
      if (isOver && !isLeft) screen.out.push("\n");
      else if (!isOver) finish(screen, painted ?? cells);
      screen.shown = [];
    },
    draw: paintRow,
    get held() {
      return cells.length + source.length;
    },
    leave() {
      if (screen.shown.length === 0) return;
      runOver();
      screen.out.push("\n");
      screen.shown = [];
      isLeft = true;
    },
  };
}
