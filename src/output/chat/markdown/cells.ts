import { displayWidth } from "../../terminal/width.ts";
import { link, styled, type Style, type Text } from "../../terminal/text.ts";

/** Style flags of a cell, combined with `|`, together with one of `colours`. */
export const bits = { bold: 1, italic: 2, strikethrough: 4, underline: 8, dim: 16 } as const;
export const colours = {
  red: 1 << 5,
  green: 2 << 5,
  yellow: 3 << 5,
  blue: 4 << 5,
  magenta: 5 << 5,
  cyan: 6 << 5,
} as const;
const colourMask = 7 << 5;
const colourNames = Object.keys(colours) as (keyof typeof colours)[];

/** One grapheme (a character with its combining ones) and its style. */
export interface Cell {
  text: string;
  /** Columns. */
  width: number;
  style: number;
  /** Target of a hyperlink: http, https or mailto. */
  url: string | undefined;
  /** A Markdown mark that may still be removed, for example an opening `*`. */
  isMark: boolean;
}

/** The cells of the current row or table cell; they may still change. */
export interface Line {
  cells: Cell[];
  /** Appends a cell; wraps to the next row if it does not fit. */
  add(cell: Cell): void;
  /** Call this after widths have changed. */
  refit(): void;
  /** Ends the row; the text continues in the next one. */
  break(): void;
}

/** A line of unlimited width, for table cells. */
export function createLine(): Line {
  const cells: Cell[] = [];
  const add = (cell: Cell): void => void cells.push(cell);
  return { cells, add, refit() {}, break: () => add(makeCell(" ", 0)) };
}

const widthCache = new Map<string, number>();
const maxCached = 4000;

/**
 * Maximum columns of one grapheme, cached because texts repeat them. Many terminals
 * draw the joined parts (joiner, flag, skin tone) side by side, and a row that is wider
 * than measured cannot be redrawn.
 */
function clusterWidth(text: string): number {
  const found = widthCache.get(text);
  if (found !== undefined) return found;
  if (widthCache.size >= maxCached) widthCache.clear();
  let separateWidth = 0;
  for (const character of text) separateWidth += displayWidth(character);
  const width = Math.max(displayWidth(text), separateWidth);
  widthCache.set(text, width);
  return width;
}

export function makeCell(text: string, style: number, url?: string): Cell {
  return { text, width: clusterWidth(text), style, url, isMark: false };
}

// Characters that may join the previous one; only these need the slow Intl.Segmenter.
const joining =
  /^[\p{Grapheme_Extend}\p{Mc}\p{Emoji_Modifier}\p{Regional_Indicator}\u200d\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]/u;
const segmenter = new Intl.Segmenter();

/** Limit of combining characters, because each one measures the grapheme again. */
const maxClusterLength = 32;

// These always join and have no width: most combining characters.
const extending = /^(?!\ufe0e|\ufe0f|\p{Emoji_Modifier})[\p{Grapheme_Extend}\u200d]/u;

function joins(before: string, character: string): boolean {
  if (before.length > maxClusterLength) return false;
  if (extending.test(character)) return true;
  if (!joining.test(character) && !before.endsWith("\u200d")) return false;
  const segments = segmenter.segment(before + character)[Symbol.iterator]();
  segments.next();
  return segments.next().done === true;
}

/** Appends one code point to a line, or joins it to the previous grapheme. */
export function put(line: Line, character: string, style: number, url?: string): void {
  const last = line.cells.at(-1);
  if (last && !last.isMark && joins(last.text, character)) {
    last.text += character;
    if (extending.test(character)) return;
    const width = clusterWidth(last.text);
    if (width === last.width) return;
    last.width = width;
    line.refit();
  } else line.add(makeCell(character, style, url));
}

/** Cells of a text, one for each grapheme. */
export function cellsOf(text: string, style = 0): Cell[] {
  const line = createLine();
  for (const character of text) put(line, character, style);
  return line.cells;
}

export function widthOf(cells: readonly Cell[]): number {
  let width = 0;
  for (const cell of cells) width += cell.width;
  return width;
}

export function textOf(cells: readonly Cell[]): string {
  return cells.map((cell) => cell.text).join("");
}

export function sameCell(one: Cell, other: Cell): boolean {
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
export function toText(cells: readonly Cell[]): Text[] {
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
    if (text !== "") parts.push(wrap(text, style, url));
    at = end;
  }
  return parts;
}
