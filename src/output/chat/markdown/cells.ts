import { link, styled, type Style, type Text } from "../../terminal/text.ts";
import { displayWidth, graphemesOf } from "../../terminal/width.ts";

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
    parts.push(wrap(text, style, url));
    at = end;
  }
  return parts;
}
