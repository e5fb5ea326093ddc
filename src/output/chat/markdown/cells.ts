import { displayWidth } from "../../terminal/width.ts";
import { link, styled, type Style, type Text } from "../../terminal/text.ts";

/** Styles of a cell, to be or-ed; a colour is one of `colours`. */
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

/** One character as a reader sees it (with its combining ones), and how it is drawn. */
export interface Cell {
  text: string;
  /** Columns. */
  width: number;
  style: number;
  /** Where a click leads; only http, https and mailto. */
  url: string | undefined;
  /** A mark of Markdown that may yet vanish, as an opening `*`. */
  isMark: boolean;
}

/** Cells that may still change, of the row or the table cell that is being written. */
export interface Line {
  cells: Cell[];
  /** Appends; what no longer fits goes on in a row of its own. */
  add(cell: Cell): void;
  /** To be called when widths have changed. */
  refit(): void;
  /** Ends the row; the text goes on in the next one. */
  break(): void;
}

/** A line that takes everything: what a table cell is laid out in. */
export function createLine(): Line {
  const cells: Cell[] = [];
  const add = (cell: Cell): void => void cells.push(cell);
  return { cells, add, refit() {}, break: () => add(makeCell(" ", 0)) };
}

const simple = /^[ -~]$/;
/** Characters of one column that come often: displayWidth() takes much longer to say so. */
const narrow = /^[ -~\u2500-\u257f\u00c0-\u024f\u0400-\u045f]$/;

const known = new Map<string, number>();
const mostKnown = 4000;

/**
 * Columns that one character takes at most, remembered because texts repeat them:
 * many terminals draw what a joiner, a flag or a skin tone joins one beside the
 * other, and a row that is wider than it was taken for can't be redrawn.
 */
function clusterWidth(text: string): number {
  const found = known.get(text);
  if (found !== undefined) return found;
  if (known.size >= mostKnown) known.clear();
  let apart = 0;
  for (const character of text) apart += displayWidth(character);
  const width = Math.max(displayWidth(text), apart);
  known.set(text, width);
  return width;
}

export function makeCell(text: string, style: number, url?: string): Cell {
  const width = narrow.test(text) ? 1 : clusterWidth(text);
  return { text, width, style, url, isMark: false };
}

// What may join the character before it; only then is Intl.Segmenter asked, which is slow.
const joining =
  /^[\p{Grapheme_Extend}\p{Mc}\p{Emoji_Modifier}\p{Regional_Indicator}\u200d\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]/u;
const segmenter = new Intl.Segmenter();

/** A base with thousands of combining characters would be measured again at each of them. */
const longestCluster = 32;

// These always join, and take no room: most combining characters.
const extending = /^(?!\ufe0e|\ufe0f|\p{Emoji_Modifier})[\p{Grapheme_Extend}\u200d]/u;

function joins(before: string, character: string): boolean {
  if (before.length > longestCluster || simple.test(character)) return false;
  if (extending.test(character)) return true;
  if (!joining.test(character) && !before.endsWith("\u200d")) return false;
  const segments = segmenter.segment(before + character)[Symbol.iterator]();
  segments.next();
  return segments.next().done === true;
}

/** Appends one code point to a line; one that belongs to the character before it joins that. */
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

/** Cells of a text that stands by itself, one a character. */
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

/** Cells as text for the gate, one node for each run of the same look. */
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
