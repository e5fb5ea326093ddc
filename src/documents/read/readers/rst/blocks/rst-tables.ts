import { indentOf, isBlank, type Line } from "./rst-lines.ts";
import { addRow, piecesOf, type Block, type Piece } from "../rst-reading.ts";

// Characters that are two columns wide (Unicode Standard Annex 11, classes W and F).
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g;

/** One character for each column. */
const padded = (text: string): string => text.replace(wide, "$&\0");
const unpadded = (text: string): string => text.replaceAll("\0", "");

type Columns = readonly (readonly [from: number, to: number])[];

function readCell({ reading, readInner }: Block, lines: readonly Line[]): Piece[] {
  let least = Number.POSITIVE_INFINITY;
  for (const line of lines) if (!isBlank(line)) least = Math.min(least, indentOf(line.text));
  return piecesOf(reading, () =>
    readInner(
      lines.map(({ text, number }) => ({ text: unpadded(text.slice(least)).trimEnd(), number })),
    ),
  );
}

/** Adds a row: the text of each cell is read as blocks. */
function addCells(block: Block, cells: readonly Line[][]): void {
  const read = cells.map((lines) => readCell(block, lines));
  addRow(block.reading, read);
}

/** The columns of `==== ====`. */
function columnsOf(bar: string): [number, number][] {
  return [...bar.matchAll(/[=-]+/g)].map(({ index, 0: { length } }) => [index, index + length]);
}

/** The cells of one line. Text across the gap between two columns belongs to the first column. */
function splitLine(text: string, columns: Columns): string[] {
  const cells: string[] = [];
  let from = 0;
  for (const index of columns.keys()) {
    const end = columns[index + 1]?.[0] ?? text.length;
    const isJoined = /\S/.test(text.slice(Math.max(end - 1, from), end)) && end < text.length;
    cells.push(isJoined ? "" : text.slice(from, end));
    if (!isJoined) from = end;
  }
  return cells;
}

/** Lines between two borders of a simple table. A blank first column continues the row. */
function addSimpleRows(block: Block, lines: readonly Line[], columns: Columns): void {
  let row: Line[][] | undefined;
  let spans = columns;
  for (const { text, number } of lines) {
    if (/^-[- ]*$/.test(text)) {
      spans = columns;
      continue;
    }
    const cells = splitLine(padded(text), spans);
    if (text !== "" && (!row || (cells[0] ?? "").trim() !== "" || text[0] !== " ")) {
      if (row) addCells(block, row);
      row = columns.map(() => []);
    }
    for (const [index, cell] of cells.entries())
      row?.[index]?.push({ text: cell.trimEnd(), number });
  }
  if (row) addCells(block, row);
}

const simpleBar = /^=+(?: +=+)+$/;

/** A table with borders of `=`: the third border, or one before a blank line, ends it. */
export function readSimpleTable(block: Block, at: number): number {
  const { lines } = block;
  const bar = lines[at]?.text ?? "";
  if (!bar.startsWith("=") || !simpleBar.test(bar)) return -1;
  const columns = columnsOf(bar);
  let start = at + 1;
  for (let next = start, borders = 1; next < lines.length; next++) {
    const text = lines[next]?.text ?? "";
    if (!text.startsWith("=") || !/^=[= ]*$/.test(text)) continue;
    addSimpleRows(block, lines.slice(start, next), columns);
    start = next + 1;
    borders++;
    if (borders === 3 || isBlank(lines[next + 1])) return next + 1;
  }
  // Without a border at the end, only the lines up to a blank line are the table.
  let next = start;
  while (!isBlank(lines[next])) next++;
  addSimpleRows(block, lines.slice(start, next), columns);
  return next;
}

const gridBar = /^\+[-=+]+\+$/;

interface GridCell {
  end: number;
  lines: Line[];
}

/**
 * The lines with borders, and the columns where cells may begin. A border within a row joins edges
 * that began above; another one is text, for example a table in a cell.
 */
function bordersOf(texts: readonly string[]): { bars: number[]; columns: number[] } {
  const columns = new Set<number>();
  const bars: number[] = [];
  for (const [row, text] of texts.entries()) {
    const isOuter = row === 0 || row === texts.length - 1;
    let isBar = isOuter;
    if (!isOuter && !text.includes("+-")) continue;
    for (const { index, 0: bar } of text.matchAll(/\+(?:[-=]+\+)+/g)) {
      const isKnown = columns.has(index) && columns.has(index + bar.length - 1);
      if (!isOuter && !isKnown) continue;
      for (const corner of bar.matchAll(/\+/g)) columns.add(index + corner.index);
      isBar = true;
    }
    if (isBar) bars.push(row);
  }
  return { bars, columns: [...columns].toSorted((one, other) => one - other) };
}

/** The rows between two borders over the whole width. A cell that spans rows is in each of them. */
function gridRows(lines: readonly Line[]): GridCell[][] {
  const texts = lines.map(({ text }) => padded(text));
  const { bars, columns } = bordersOf(texts);
  let above = new Map<number, GridCell>();
  return bars.slice(1).map((to, index) => {
    const from = bars[index] ?? 0;
    const within = texts.slice(from + 1, to);
    // A text cannot have edges beyond its end: rows of a few characters must not cost all columns.
    const end = columns.findIndex((column) => column >= (within[0]?.length ?? 0));
    const edges = columns
      .slice(0, end === -1 ? columns.length : end)
      .filter((column) => within.every((text) => text[column] === "|" || text[column] === "+"));
    const row = new Map<number, GridCell>();
    for (const [place, edge] of edges.slice(0, -1).entries()) {
      const next = edges[place + 1] ?? 0;
      const linesFrom = (first: number): Line[] =>
        texts.slice(first, to).map((text, offset) => ({
          text: text.slice(edge + 1, next).trimEnd(),
          number: lines[first + offset]?.number,
        }));
      const open = above.get(edge);
      const isBorder = /^[-=+]*$/.test((texts[from] ?? "").slice(edge + 1, next));
      if (isBorder || open?.end !== next) row.set(edge, { end: next, lines: linesFrom(from + 1) });
      else {
        open.lines.push(...linesFrom(from));
        row.set(edge, open);
      }
    }
    above = row;
    return [...row.values()];
  });
}

// A value is short. A longer text stands in its first row only, and repeated texts make a table at
// most so many times as long.
const [mostRepeated, mostTimes] = [200, 10];

function addGridRows(block: Block, lines: readonly Line[]): void {
  const known = new Map<GridCell, { pieces: Piece[]; length: number }>();
  let left = lines.reduce((sum, { text }) => sum + text.length, 0) * mostTimes;
  for (const cells of gridRows(lines)) {
    const row = cells.map((cell): Piece[] => {
      const read = known.get(cell);
      if (!read) {
        const pieces = readCell(block, cell.lines);
        const length = cell.lines.reduce((sum, { text }) => sum + text.trim().length, 0);
        known.set(cell, { pieces, length });
        return pieces;
      }
      left -= read.length;
      const isShort = read.length <= mostRepeated && left > 0;
      return isShort ? [{ kind: "again", pieces: read.pieces }] : [];
    });
    addRow(block.reading, row);
  }
}

/** A table of `+---+` and `|`. */
export function readGridTable(block: Block, at: number): number {
  const { lines } = block;
  if (!gridBar.test(lines[at]?.text ?? "")) return -1;
  let end = at;
  while (/^[+|]/.test(lines[end]?.text ?? "")) end++;
  let from = at;
  for (let next = at + 1; next < end; next++) {
    const bar = lines[next]?.text ?? "";
    if (!gridBar.test(bar)) continue;
    if (next > from + 1) addGridRows(block, lines.slice(from, next + 1));
    from = next;
  }
  // Lines below the last border.
  if (from + 1 < end) block.readInner(lines.slice(from + 1, end));
  return end;
}
