import { link, styled, type Style, type Text, erase } from "../../terminal/text.ts";
import { displayWidth, graphemesOf } from "../../terminal/width.ts";

/** Style flags of a cell, combined with `|`, together with one of `colours`. */
export const bits = { bold: 1, italic: 2, strikethrough: 4, underline: 8, dim: 16 } as const;
export const colours = {
  red: 1 << 5,
  green: 2 << 5,
  blue: 3 << 5,
  magenta: 4 << 5,
  cyan: 5 << 5,
} as const;
const colourMask = 7 << 5;
const colourNames = Object.keys(colours) as (keyof typeof colours)[];

/** One grapheme and its style. A newline is a break of the row. */
export interface Cell {
  text: string;
  /** Columns. */
  width: number;
  style: number;
  /** Target of a hyperlink: http, https or mailto. */
  url: string | undefined;
  /** Position after it in the source of its block; -1 for what the source does not contain. */
  end: number;
}

const widthCache = new Map<string, number>();
const maxCached = 4000;

/**
 * Maximum columns of one grapheme, cached because texts repeat them. Many terminals
 * draw the joined parts (joiner, flag, skin tone) side by side, and a row that is wider
 * than measured cannot be redrawn.
 */
function clusterWidth(text: string): number {
  if (text === "\n") return 0;
  const found = widthCache.get(text);
  if (found !== undefined) return found;
  if (widthCache.size >= maxCached) widthCache.clear();
  let separateWidth = 0;
  for (const character of text) separateWidth += displayWidth(character);
  const width = Math.max(displayWidth(text), separateWidth);
  widthCache.set(text, width);
  return width;
}

/** Cells of a text, one for each grapheme. */
export function cellsOf(text: string, style = 0): Cell[] {
  const isAscii = /^[\n -~]*$/.test(text);
  const parts = isAscii ? text.split("") : Array.from(graphemesOf(text), ({ segment }) => segment);
  return parts.map((part) => ({
    text: part,
    width: isAscii ? Number(part !== "\n") : clusterWidth(part),
    style,
    url: undefined,
    end: -1,
  }));
}

export function widthOf(cells: readonly Cell[]): number {
  let width = 0;
  for (const cell of cells) width += cell.width;
  return width;
}

export function textOf(cells: readonly Cell[]): string {
  return cells.map((cell) => cell.text).join("");
}

function sameCell(one: Cell, other: Cell): boolean {
  return one.text === other.text && one.style === other.style && one.url === other.url;
}

function wrap(text: string, style: number, url: string | undefined): Text {
  const names: Style[] = (Object.keys(bits) as (keyof typeof bits)[]).filter(
    (name) => (style & bits[name]) !== 0,
  );
  const colour = colourNames[((style & colourMask) >> 5) - 1];
  if (colour) names.push(colour);
  let node: Text = text;
  for (const name of names) node = styled(name, node);
  return url === undefined ? node : link(url, node);
}

/** Cells as text for output, one node for each run of the same style. */
function toText(cells: readonly Cell[]): Text[] {
  const parts: Text[] = [];
  let at = 0;
  while (at < cells.length) {
    const { style, url } = cells[at] as Cell;
    let end = at;
    let text = "";
    while (end < cells.length && cells[end]?.style === style && cells[end]?.url === url) {
      text += cells[end]?.text ?? "";
      end++;
    }
    parts.push(wrap(text, style, url));
    at = end;
  }
  return parts;
}

/** Properties of the terminal that rows need. */
interface Terminal {
  /** Current width. */
  columns(): number;
  /** The end of the current row can be erased; else only complete rows are written. */
  canRedraw: boolean;
}

/**
 * The rows of a terminal. Only the last row, which has no newline yet, may still change.
 * Finished rows are never redrawn, because the user may have read them.
 */
export interface Rows {
  readonly terminal: Terminal;
  /** Text to write. */
  out: Text[];
  /** Cells in the terminal's current row, after `out` is written. */
  shown: Cell[];
}

const maxColumns = 1000;

/** Maximum columns of a row. The last column stays free: terminals treat it differently. */
export function limitOf({ terminal }: Pick<Rows, "terminal">): number {
  return Math.max(1, Math.min(terminal.columns() - 1, maxColumns));
}

/** Maximum cells of a row; needed because cells without width never fill a row. */
function maxCells(limit: number): number {
  return limit * 4 + 64;
}

const isSimple = (cells: readonly Cell[]): boolean =>
  cells.every((cell) => /^[ -~]*$/.test(cell.text));

// The next word may wrap: drawing the space first would make the cursor jump.
function withoutEndSpaces(cells: readonly Cell[]): Cell[] {
  const end = cells.findLastIndex(({ text }) => text !== " " && text !== "\n") + 1;
  return cells.slice(0, end);
}

/** Redraws the current row as `cells`. Unchanged cells are not written again, to avoid flicker. */
function change(rows: Rows, cells: readonly Cell[]): void {
  const target = withoutEndSpaces(cells);
  const { shown, out } = rows;
  let same = 0;
  while (same < shown.length && same < target.length) {
    if (!sameCell(shown[same] as Cell, target[same] as Cell)) break;
    same++;
  }
  const gone = shown.slice(same);
  // The width of other characters differs between terminals, so the whole row is erased.
  if (gone.length > 0 && !isSimple(gone)) {
    out.push(erase("row"));
    same = 0;
  } else if (gone.length > 0) out.push(erase(widthOf(gone)));
  out.push(...toText(target.slice(same)));
  rows.shown = target;
}

/** Shows the unfinished last row. */
export function drawRow(rows: Rows, cells: readonly Cell[]): void {
  if (rows.terminal.canRedraw) change(rows, cells);
}

/** Redraws the current row as `cells` and ends it. */
export function finishRow(rows: Rows, cells: readonly Cell[]): void {
  change(rows, cells);
  rows.out.push("\n");
  rows.shown = [];
}

/** Closing punctuation, which must not start a row. */
const closing = /^[、。,.!?:;)\]}，．！？：；）」』】]/;

/** Index after the last cell of a full row, and of the first cell of the next row. */
interface Break {
  end: number;
  next: number;
}

/** A character of two columns, not one with a vowel sign beside it. */
function isWide({ text, width }: Cell): boolean {
  return width > 1 && clusterWidth(String.fromCodePoint(text.codePointAt(0)!)) > 1;
}

function breakBefore(cells: readonly Cell[], index: number): Break | undefined {
  const { text } = cells[index] as Cell;
  if (index === 0) return undefined;
  if (text === " ") return { end: index, next: index + 1 };
  const canBreak = isWide(cells[index] as Cell) || isWide(cells[index - 1] as Cell);
  return canBreak && !closing.test(text) ? { end: index, next: index } : undefined;
}

/** Where a row of `available` columns ends; undefined if all cells fit into it. */
function findBreak(cells: readonly Cell[], available: number): Break | undefined {
  let width = 0;
  let last: Break | undefined;
  for (const [index, cell] of cells.entries()) {
    if (cell.text === "\n") return { end: index, next: index + 1 };
    width += cell.width;
    last = breakBefore(cells, index) ?? last;
    if ((width > available && cell.width > 0) || index >= maxCells(available)) {
      // A space at the end need not fit.
      if (cell.text === " " && index === cells.length - 1) return undefined;
      const hard = Math.max(1, index);
      return last ?? { end: hard, next: hard };
    }
  }
  return undefined;
}

/** What stands before the text of a block: in its next row, and in the rows after that. */
export interface Prefix {
  first: Cell[];
  rest: Cell[];
}

/** Finishes the rows that `cells` fill, and returns the cells of the last row. */
export function fillRows(rows: Rows, prefix: Prefix, cells: Cell[]): Cell[] {
  let left = cells;
  for (;;) {
    const found = findBreak(left, Math.max(1, limitOf(rows) - widthOf(prefix.first)));
    if (!found) return left;
    finishRow(rows, [...prefix.first, ...left.slice(0, found.end)]);
    prefix.first = prefix.rest;
    left = left.slice(found.next);
    while (left[0]?.text === " ") left.shift();
  }
}
