import { indentOf, isBlank, type Line } from "./rst-lines.ts";
import { addRow, piecesOf, type Block } from "./rst-reading.ts";

// Characters that are two columns wide (Unicode Standard Annex 11, classes W and F).
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/g;

/** One character for each column. */
const padded = (text: string): string => text.replace(wide, "$&\0");
const unpadded = (text: string): string => text.replaceAll("\0", "");

type Columns = readonly (readonly [from: number, to: number])[];

/** Adds a row: the text of each cell is read as blocks. */
function addCells({ reading, readInner }: Block, cells: readonly Line[][]): void {
  const read = cells.map((lines) => {
    let least = Number.POSITIVE_INFINITY;
    for (const line of lines) if (!isBlank(line)) least = Math.min(least, indentOf(line.text));
    return piecesOf(reading, () =>
      readInner(
        lines.map(({ text, number }) => ({ text: unpadded(text.slice(least)).trimEnd(), number })),
      ),
    );
  });
  addRow(reading, read);
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

/** Adds one row of a grid: the lines between two borders over the whole width. */
function addGridRow(block: Block, lines: readonly Line[], bars: readonly string[]): void {
  const texts = lines.map(({ text }) => padded(text));
  const isEdge = (column: number): boolean =>
    bars.some((bar) => bar[column] === "+") &&
    texts.every((text) => text[column] === "|" || text[column] === "+");
  const width = Math.max(...bars.map((bar) => bar.length));
  const edges = Array.from({ length: width }, (_, column) => column).filter(isEdge);
  const cells = edges.slice(0, -1).map((edge, index) =>
    lines.flatMap(({ number }, row) => {
      const text = (texts[row] ?? "").slice(edge + 1, edges[index + 1]);
      // A border within the cells of a row.
      return /^\+?[-=+]+\+?$/.test(text) ? [] : [{ text: text.trimEnd(), number }];
    }),
  );
  addCells(block, cells);
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
    const rows = lines.slice(from + 1, next);
    if (rows.length > 0) addGridRow(block, rows, [lines[from]?.text ?? "", bar]);
    from = next;
  }
  // Lines below the last border.
  if (from + 1 < end) block.readInner(lines.slice(from + 1, end));
  return end;
}
