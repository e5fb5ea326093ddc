import { plainOf, type Part } from "./html-links.ts";

/** Where a cell begins, and in how many rows and columns it stands. */
export interface Cell {
  column: number;
  rows: number;
  columns: number;
  /** Index in the running text of its row. */
  from: number;
}

/** The open table: its place in a row, and the cells that go on below. */
export interface Table {
  /** The table around it. */
  outer: Table | undefined;
  /** Number of rows so far, with the open one. */
  row: number;
  /** The next free column of the open row, from 0. */
  column: number;
  cell: Cell | undefined;
  /** By column: the text of a cell that also stands in the rows up to `last`. */
  below: Map<number, { last: number; columns: number; parts: readonly Part[] }>;
  /** Characters that the page has repeated. */
  repeated: number;
}

export const createTable = (outer?: Table): Table => ({
  outer,
  row: 0,
  column: 0,
  cell: undefined,
  below: new Map(),
  repeated: outer?.repeated ?? 0,
});

// A value is short; of a longer text, and of texts beyond `mostRepeated`, only the place is kept.
// With these numbers no page can make gigabytes of a few lines.
const [mostCharacters, mostRepeated, mostWithPlaces] = [200, 200_000, 400_000];

/** Ends the open cell; keeps its text for the rows below, if it goes on there. */
export function endCell(table: Table, inline: readonly Part[]): void {
  const { cell } = table;
  table.cell = undefined;
  if (!cell || cell.rows < 2 || cell.from > inline.length) return;
  const parts = inline.slice(cell.from);
  const { column, rows, columns } = cell;
  const isLong = plainOf(parts).length > mostCharacters;
  const last = table.row + rows - 1;
  table.below.set(column, { last, columns, parts: isLong ? [] : parts });
}

/** The texts that stand at the next columns from rows above. A reader sees them in this row, too. */
export function* fromAbove(table: Table): Generator<readonly Part[]> {
  for (;;) {
    const above = table.below.get(table.column);
    if (!above || above.last < table.row) return;
    const { length } = plainOf(above.parts);
    const hasRoom = table.repeated + length < mostRepeated;
    table.repeated += (hasRoom ? length : 0) + 1;
    if (table.repeated > mostWithPlaces) return table.below.clear();
    table.column += above.columns;
    yield hasRoom ? above.parts : [];
  }
}
