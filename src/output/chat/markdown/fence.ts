import {
  bits,
  cellsOf,
  textOf,
  widthOf,
  type Cell,
  drawRow,
  finishRow,
  limitOf,
  type Rows,
} from "./rows.ts";
import type { Painter } from "./code.ts";

/** A row of code. Never wrapped, so that users can copy the code unchanged. */
export interface CodeRow {
  add(text: string): void;
  /** Draws the current content. */
  draw(): void;
  /** Ends the row; applies the style of `paint` unless the row is wider than the terminal. */
  end(paint?: Painter): void;
  /** Leaves the row on the screen; the code continues in the next row. */
  leave(): void;
}

const tabStop = 8;
/** A longer line is not coloured. */
const maxPaintedLength = 4000;

/** A tab reaches to its stop: its width depends on what stands before it. */
function withTabStops(cells: Cell[]): Cell[] {
  let width = 0;
  for (const cell of cells) {
    if (cell.text === "\t") cell.width = tabStop - (width % tabStop);
    width += cell.width;
  }
  return cells;
}

/**
 * Starts a row. A row that is wider than the terminal stays plain and is only appended
 * to: the terminal has wrapped it, so its start cannot be redrawn.
 */
export function openCodeRow(rows: Rows): CodeRow {
  let source = "";
  /** The row is wider than the terminal, and this much of it is written. */
  let written: number | undefined;
  /** leave() has written the whole row so far: without further text, end() writes nothing. */
  let isLeft = false;
  let isLong = false;
  const append = (): void => {
    if (written === undefined || written === source.length) return;
    rows.out.push(source.slice(written));
    isLeft = false;
    isLong ||= source.length > maxPaintedLength;
    if (isLong) source = "";
    written = source.length;
  };
  const draw = (): void => {
    if (written === undefined) {
      const cells = withTabStops(cellsOf(source));
      if (widthOf(cells) <= limitOf(rows)) return drawRow(rows, cells);
      // What is drawn so far is the start of the source.
      written = textOf(rows.shown).length;
      rows.shown = cells;
    }
    append();
  };
  return {
    add: (text) => void (source += text),
    draw,
    end(paint) {
      draw();
      // Always, even if the result is unused: the parser needs every line.
      const painted = isLong ? undefined : paint?.(source);
      if (written === undefined) {
        finishRow(rows, withTabStops([...(painted ?? cellsOf(source))]));
      } else if (!isLeft) rows.out.push("\n");
      rows.shown = [];
    },
    leave() {
      draw();
      if (source === "" && !isLong) return;
      written ??= source.length;
      rows.out.push("\n");
      rows.shown = [];
      isLeft = true;
    },
  };
}

/** An open fence of code. */
export interface Fence {
  /**
   * Reads a part of a line; `isComplete`: the line ends with it. Returns the start of the line
   * that is no code, if the quote around the fence has ended, and "" at the end of the fence.
   */
  read(part: string, isComplete: boolean): string | undefined;
  /** Draws the line that is not complete. */
  draw(): void;
  /** Leaves the row on the screen; the code continues in the next row. */
  leave(): void;
  /** Ends the code. */
  end(): void;
  /** The start of a line that may not be code. */
  readonly held: string;
}

const maxLanguageLength = 40;
/** The start of a line that may close the fence. */
const undecided = /^[ >\x60~]{0,240}$/;

/**
 * Opens the fence whose first line is `line`, within `quotes` quotes, and writes its first row
 * after the cells of `prefix`. `painters` returns the painter of a language.
 */
export function openFence(
  rows: Rows,
  line: string,
  quotes: number,
  prefix: readonly Cell[],
  painters: (language: string) => Painter | undefined,
): Fence {
  const [, lead = "", marks = "", info = ""] = /^(.*?)(\x60{3,}|~{3,})(.*)$/.exec(line) ?? [];
  const indent = /[^>]*$/.exec(lead)![0].length - (quotes > 0 ? 1 : 0);
  const language = /^[^\s{,:]*/.exec(info.trim())![0].slice(0, maxLanguageLength);
  const paint = painters(language);
  finishRow(rows, [...prefix, ...cellsOf(`╭─ ${language}`.trimEnd(), bits.dim)]);
  let held = "";
  let row: CodeRow | undefined;
  const endRow = (): void => {
    row?.end(paint);
    row = undefined;
  };
  const end = (): void => {
    endRow();
    finishRow(rows, cellsOf("╰─", bits.dim));
  };
  /** The code in a line, without the marks of quotes and the indent of the fence. */
  const codeIn = (source: string): string | undefined => {
    let code = source;
    for (let quote = 0; quote < quotes; quote++) {
      if (!/^ *>/.test(code)) return undefined;
      code = code.replace(/^ *> ?/, "");
    }
    // Code indented less than its list item is still code: many answers contain that.
    return code.slice(Math.min(indent, code.search(/[^ ]|$/)));
  };
  return {
    read(part, isComplete) {
      if (row) row.add(part);
      else {
        held += part;
        if (!isComplete && undecided.test(held)) return undefined;
        const line = held;
        const code = codeIn(line);
        held = "";
        const closing = code?.trim() ?? "";
        const isClosing = closing.startsWith(marks) && closing === marks[0]!.repeat(closing.length);
        if (code === undefined || (isComplete && isClosing && /^ {0,3}\S/.test(code))) {
          end();
          return code === undefined ? line : "";
        }
        row = openCodeRow(rows);
        row.add(code);
      }
      if (isComplete) endRow();
      return undefined;
    },
    draw: () => row?.draw(),
    leave: () => row?.leave(),
    end,
    get held() {
      return held;
    },
  };
}
