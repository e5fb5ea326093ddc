import { indentOf, isBlank, type Line } from "./rst-lines.ts";
import { addRow, within, type Block } from "./rst-reading.ts";

// Characters that are two columns wide (Unicode Standard Annex 11, classes W and F).
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g;

/** One character for each column. */
const padded = (text: string): string => text.replace(wide, "$&\0");
const unpadded = (text: string): string => text.replaceAll("\0", "");

type Columns = readonly (readonly [from: number, to: number])[];

/** The blocks in the lines of a cell. */
function readCell({ readInner }: Block, lines: readonly Line[]): void {
  let least = Number.POSITIVE_INFINITY;
  for (const line of lines) if (!isBlank(line)) least = Math.min(least, indentOf(line.text));
  readInner(
    lines.map(({ text, number }) => ({ text: unpadded(text.slice(least)).trimEnd(), number })),
  );
}

/** The columns of `==== ====`. */
function columnsOf(bar: string): [number, number][] {
  return [...bar.matchAll(/[=-]+/g)].map(({ index, 0: { length } }) => [index, index + length]);
}

/** A cell of a simple table: its first column, and in how many it stands. */
interface SimpleCell {
  column: number;
  columns: number;
  lines: Line[];
}

/** The cells of one line. A text across the gap between two columns stands in both. */
function splitLine({ text, number }: Line, columns: Columns): SimpleCell[] {
  const cells: SimpleCell[] = [];
  let first = 0;
  for (const index of columns.keys()) {
    const from = columns[first]?.[0] ?? 0;
    const end = columns[index + 1]?.[0] ?? text.length;
    const isJoined = /\S/.test(text.slice(Math.max(end - 1, from), end)) && end < text.length;
    if (isJoined) continue;
    const lines = [{ text: text.slice(first === 0 ? 0 : from, end).trimEnd(), number }];
    cells.push({ column: first, columns: index + 1 - first, lines });
    first = index + 1;
  }
  return cells;
}

/** The rows between two borders of a simple table. A blank first column continues the row. */
function simpleRows(lines: readonly Line[], columns: Columns): SimpleCell[][] {
  const rows: SimpleCell[][] = [];
  for (const { text, number } of lines) {
    if (/^-[- ]*$/.test(text)) continue;
    const cells = splitLine({ text: padded(text), number }, columns);
    const row = rows.at(-1);
    const isNext = (cells[0]?.lines[0]?.text ?? "").trim() !== "" || text[0] !== " ";
    if (text !== "" && (!row || isNext)) rows.push(cells);
    else if (row) {
      for (const cell of cells) {
        const above = row.findLast(({ column }) => column <= cell.column);
        above?.lines.push(...cell.lines);
      }
    }
  }
  return rows;
}

const simpleBar = /^=+(?: +=+)+$/;

/** A table with borders of `=`: the third border, or one before a blank line, ends it. */
export function readSimpleTable(block: Block, at: number): number {
  const { reading, lines } = block;
  const bar = lines[at]?.text ?? "";
  if (!bar.startsWith("=") || !simpleBar.test(bar)) return -1;
  const columns = columnsOf(bar);
  const parts: Line[][] = [];
  let start = at + 1;
  let end = -1;
  for (let next = start; next < lines.length && end === -1; next++) {
    const text = lines[next]?.text ?? "";
    if (!text.startsWith("=") || !/^=[= ]*$/.test(text)) continue;
    parts.push(lines.slice(start, next));
    start = next + 1;
    if (parts.length === 2 || isBlank(lines[next + 1])) end = next + 1;
  }
  if (end === -1) {
    // Without a border at the end, only the lines up to a blank line are the table.
    end = start;
    while (!isBlank(lines[end])) end++;
    parts.push(lines.slice(start, end));
  }
  within(reading, "<table>", "</table>", () => {
    for (const [index, part] of parts.entries()) {
      for (const cells of simpleRows(part, columns)) {
        const read = cells.map((cell) => ({
          columns: cell.columns,
          rows: 1,
          read: () => readCell(block, cell.lines),
        }));
        addRow(reading, read, index === 0 && parts.length > 1);
      }
    }
  });
  return end;
}

const gridBar = /^\+[-=+]+\+$/;

interface GridCell {
  columns: number;
  rows: number;
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

/** The cells that begin in the rows between two borders over the whole width. */
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
    const begun: GridCell[] = [];
    for (const [place, edge] of edges.slice(0, -1).entries()) {
      const next = edges[place + 1] ?? 0;
      const linesFrom = (first: number): Line[] =>
        texts.slice(first, to).map((text, offset) => ({
          text: text.slice(edge + 1, next).trimEnd(),
          number: lines[first + offset]?.number,
        }));
      const open = above.get(edge);
      const isBorder = /^[-=+]*$/.test((texts[from] ?? "").slice(edge + 1, next));
      if (isBorder || open?.end !== next) {
        const width = columns.indexOf(next) - columns.indexOf(edge);
        const cell = { columns: width, rows: 1, end: next, lines: linesFrom(from + 1) };
        row.set(edge, cell);
        begun.push(cell);
      } else {
        open.rows++;
        open.lines.push(...linesFrom(from));
        row.set(edge, open);
      }
    }
    above = row;
    return begun;
  });
}

function addGrid(block: Block, lines: readonly Line[]): void {
  const head = lines.findIndex(({ text }, at) => at > 0 && /^\+=[=+]*\+$/.test(text));
  const heads = head === -1 ? [] : gridRows(lines.slice(0, head + 1));
  const rows = gridRows(head === -1 ? lines : lines.slice(head));
  within(block.reading, "<table>", "</table>", () => {
    for (const [index, cells] of [...heads, ...rows].entries()) {
      const read = cells.map((cell) => ({ ...cell, read: () => readCell(block, cell.lines) }));
      addRow(block.reading, read, index < heads.length);
    }
  });
}

/** A table of `+---+` and `|`. */
export function readGridTable(block: Block, at: number): number {
  const { lines } = block;
  if (!gridBar.test(lines[at]?.text ?? "")) return -1;
  let end = at;
  while (/^[+|]/.test(lines[end]?.text ?? "")) end++;
  let last = at;
  for (let next = at + 1; next < end; next++) {
    if (gridBar.test(lines[next]?.text ?? "")) last = next;
  }
  if (last > at + 1) addGrid(block, lines.slice(at, last + 1));
  // Lines below the last border.
  if (last + 1 < end) block.readInner(lines.slice(last + 1, end));
  return end;
}
