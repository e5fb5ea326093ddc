import { makeCell, put, toText, widthOf, type Cell, type Line } from "./cells.ts";
import { draw, finish, mostCells, type Screen } from "./screen.ts";

/** A row of code that is being written. Never wrapped: what a reader copies is the code. */
export interface CodeRow {
  add(text: string): void;
  /** Ends it, in the look that `paint` gives it where the row has not run over the edge. */
  end(paint: (text: string) => readonly Cell[] | undefined): void;
  /** Shows what there is. */
  draw(): void;
  /** Cells that are kept. */
  readonly held: number;
  /** Leaves the row as it is on the screen; what follows stands in the next one. */
  leave(): void;
}

const tabStop = 8;
const plain = 0;
/** A longer line is not worth a look of its own. */
const longestPainted = 4000;

/**
 * Begins a row. One that runs over the edge is only ever appended to and keeps
 * the plain look, wherever the stream is cut: the terminal has broken it, so
 * its beginning cannot be drawn again.
 */
export function openCodeRow(screen: Screen, limit: () => number): CodeRow {
  const cells: Cell[] = [];
  let width = 0;
  let isOver = false;
  let source = "";
  // All that was in the row was left above; its end has no row of its own.
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
  const run = (text: string): void => {
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
      if (source.length <= longestPainted) source += text.slice(0, longestPainted + 1);
      let at = 0;
      for (const character of isOver ? "" : text) {
        put(line, character, plain);
        at += character.length;
        if (width > limit() || cells.length > mostCells(limit())) {
          runOver();
          break;
        }
      }
      run(text.slice(at));
    },
    end(paint) {
      if (width > limit() && !isOver) runOver();
      // Also where it does not show: the lines below depend on it.
      const painted = source.length <= longestPainted ? paint(source) : undefined;
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
