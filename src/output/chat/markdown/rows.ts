import { widthOf, type Cell, type Line } from "./cells.ts";
import { draw, finish, limitOf, maxCells, type Screen, type Terminal } from "./screen.ts";

/**
 * Rows of a terminal. Only the last row, which has no newline yet, may still change.
 * Finished rows are never redrawn, because the user may have read them.
 */
export interface Rows {
  /** The current row after its prefix. Wraps between words. */
  readonly line: Line;
  readonly screen: Screen;
  /** The current text has more than one row. */
  readonly isWrapped: boolean;
  /** Maximum columns of a row. */
  limit(): number;
  /** Starts a row with the prefix `first`; wrapped rows get the prefix `rest`. */
  open(first: readonly Cell[], rest: readonly Cell[]): void;
  /** Ends the current row, if one is open. */
  end(): void;
  /** Writes a complete row. */
  row(cells: readonly Cell[]): void;
  /** Sets temporary content of the current row, for a block without a final layout. */
  preview(cells: readonly Cell[]): void;
  /** Discards the open row, which must not be wrapped. */
  drop(): void;
  /** Leaves the row on the screen; the text continues in the next row. */
  leave(): void;
  /** Adapts to a changed width of the terminal. */
  adapt(): void;
  /** Draws the current row. */
  draw(): void;
}

/** Closing punctuation, which must not start a row. */
const closing = /^[、。,.!?:;)\]}，．！？：；）」』】]/;

/** Index after the last cell of a full row, and of the first cell of the next row. */
interface Break {
  end: number;
  next: number;
}

function breaksAt(cells: readonly Cell[], index: number): Break | undefined {
  const cell = cells[index] as Cell;
  if (index === 0) return undefined;
  if (cell.text === " ") return { end: index, next: index + 1 };
  const isWide = cell.width > 1 || (cells[index - 1] as Cell).width > 1;
  return isWide && !closing.test(cell.text) ? { end: index, next: index } : undefined;
}

function findBreak(cells: readonly Cell[], available: number): Break | undefined {
  let width = 0;
  let last: Break | undefined;
  for (const [index, cell] of cells.entries()) {
    width += cell.width;
    last = breaksAt(cells, index) ?? last;
    if (width > available && cell.width > 0) {
      // A space at the end need not fit.
      if (cell.text === " " && index === cells.length - 1) return undefined;
      const hard = Math.max(1, index);
      return last ?? { end: hard, next: hard };
    }
  }
  return undefined;
}

interface State {
  terminal: Terminal;
  screen: Screen;
  first: readonly Cell[];
  rest: readonly Cell[];
  cells: Cell[];
  preview: readonly Cell[];
  isOpen: boolean;
  isWrapped: boolean;
  /** leave() has moved to a new row, which is not written if it stays empty. */
  isLeft: boolean;
  width: number;
  limit: number;
}

// The next word may wrap: drawing the space first would make the cursor jump.
function withoutEndSpaces(cells: readonly Cell[]): readonly Cell[] {
  let end = cells.length;
  while (end > 0 && /^ ?$/.test((cells[end - 1] as Cell).text)) end--;
  return cells.slice(0, end);
}

function finishRow(state: State, cells: readonly Cell[]): void {
  finish(state.screen, withoutEndSpaces([...state.first, ...cells]));
  state.first = state.rest;
}

function refit(state: State): void {
  state.width = widthOf(state.cells);
  for (;;) {
    const available = Math.max(1, state.limit - widthOf(state.first));
    const at = state.width > available ? findBreak(state.cells, available) : undefined;
    if (!at) return;
    finishRow(state, state.cells.slice(0, at.end));
    state.isWrapped = true;
    state.cells.splice(0, at.next);
    while (state.cells[0]?.text === " ") state.cells.shift();
    state.width = widthOf(state.cells);
  }
}

function breakRow(state: State): void {
  finishRow(state, state.cells);
  state.isWrapped = true;
  state.cells.length = 0;
  state.width = 0;
}

function add(state: State, cell: Cell): void {
  if (cell.text === " " && state.cells.length === 0) return;
  if (state.cells.length > maxCells(state.limit)) breakRow(state);
  state.cells.push(cell);
  state.width += cell.width;
  if (state.width > state.limit - widthOf(state.first)) refit(state);
}

function close(state: State): void {
  state.cells.length = 0;
  state.width = 0;
  state.isOpen = false;
}

function leave(state: State): void {
  const { screen } = state;
  if (!state.isOpen) draw(screen, []);
  if (screen.shown.length === 0) return;
  // Count only text: marks may have been added or removed since the last draw.
  const isText = (cell: Cell): boolean => !cell.isMark && cell.text !== "";
  let count = screen.shown.filter(isText).length - state.first.filter(isText).length;
  let at = 0;
  for (; at < state.cells.length; at++) {
    if (count <= 0 && isText(state.cells[at] as Cell)) break;
    if (isText(state.cells[at] as Cell)) count--;
  }
  screen.out.push("\n");
  screen.shown = [];
  state.first = state.rest;
  state.isWrapped = true;
  state.isLeft = true;
  state.cells.splice(0, at);
  refit(state);
}

/** A narrowed terminal wraps a row that is too long; such a row can no longer be redrawn. */
function adapt(state: State): void {
  const limit = limitOf(state.terminal);
  if (limit === state.limit) return;
  state.limit = limit;
  if (widthOf(state.screen.shown) > limit) leave(state);
  else refit(state);
}

function drawRow(state: State): void {
  if (!state.terminal.canRedraw) return;
  const { first, cells, isOpen, preview, screen } = state;
  draw(screen, isOpen ? withoutEndSpaces([...first, ...cells]) : preview);
}

export function createRows(terminal: Terminal): Rows {
  const state: State = {
    terminal,
    screen: { out: [], shown: [] },
    first: [],
    rest: [],
    cells: [],
    preview: [],
    isOpen: false,
    isWrapped: false,
    isLeft: false,
    width: 0,
    limit: limitOf(terminal),
  };
  const end = (): void => {
    const isEmpty = state.isLeft && state.cells.length === 0;
    if (state.isOpen && !isEmpty) finishRow(state, state.cells);
    close(state);
  };
  return {
    line: {
      cells: state.cells,
      add: (cell) => add(state, cell),
      refit: () => refit(state),
      break: () => breakRow(state),
    },
    screen: state.screen,
    get isWrapped() {
      return state.isWrapped;
    },
    limit: () => state.limit,
    open(first, rest) {
      end();
      Object.assign(state, {
        first,
        rest,
        isOpen: true,
        isWrapped: false,
        isLeft: false,
        preview: [],
      });
    },
    end,
    row(cells) {
      end();
      state.preview = [];
      finish(state.screen, withoutEndSpaces(cells));
    },
    preview(cells) {
      state.preview = cells;
    },
    drop: () => close(state),
    leave: () => leave(state),
    adapt: () => adapt(state),
    draw: () => drawRow(state),
  };
}
