import { bits, makeCell, type Cell, type Line } from "../cells.ts";

/** A mark whose partner has not come yet. It may turn out to be text. */
export interface Mark {
  kind: "*" | "_" | "~" | "`" | "[";
  /** Length of its run. */
  count: number;
  /** The style that it begins; 0 for a bracket. */
  style: number;
  /** Taken for a mark, and not shown, until the text ends without its partner. */
  isHidden: boolean;
  cell: Cell;
}

const styles: Record<Mark["kind"], (count: number) => number> = {
  "*": (count) => (count === 1 ? bits.italic : bits.bold),
  _: (count) => (count === 1 ? bits.italic : bits.bold),
  "~": () => bits.strikethrough,
  "`": () => 0,
  "[": () => 0,
};

/**
 * More open marks than any text means; the oldest one is text then. Bounds the
 * work on a text that is nothing but marks.
 */
const mostOpen = 16;

export interface Marks {
  line: Line;
  open: Mark[];
  /** What a code span looks like, and whether marks vanish at all. */
  codeStyle: number;
  keeps: boolean;
}

function isShown({ line }: Marks, mark: Mark): boolean {
  return line.cells.lastIndexOf(mark.cell) >= 0;
}

/** The styles of the open marks that are taken for marks already. */
export function openStyle({ open }: Marks): number {
  let style = 0;
  for (const mark of open) if (mark.isHidden) style |= mark.style;
  return style;
}

function restyle(marks: Marks, from: Cell, change: (cell: Cell) => void): void {
  const { cells } = marks.line;
  const at = cells.lastIndexOf(from);
  for (const cell of at < 0 ? [] : cells.slice(at + 1)) change(cell);
}

/** Makes a mark the text that it was. What stands above the current row stays as it is. */
export function settle(marks: Marks, mark: Mark): void {
  marks.open.splice(marks.open.indexOf(mark), 1);
  if (!mark.isHidden) return;
  restyle(marks, mark.cell, (cell) => {
    cell.style &= ~mark.style;
  });
  mark.cell.text = mark.kind.repeat(mark.count);
  mark.cell.width = mark.count;
  marks.line.refit();
}

export function openMark(
  marks: Marks,
  kind: Mark["kind"],
  count: number,
  isHidden: boolean,
  style: number,
): Mark {
  const oldest = marks.open[0];
  if (marks.open.length >= mostOpen && oldest) settle(marks, oldest);
  const cell = makeCell(isHidden ? "" : kind.repeat(count), style);
  cell.isMark = true;
  const own = kind === "`" ? marks.codeStyle : styles[kind](count);
  const mark = { kind, count, style: own, isHidden, cell };
  marks.open.push(mark);
  marks.line.add(cell);
  return mark;
}

/** Takes the cell of a mark out of the row. */
export function removeCell({ line }: Marks, cell: Cell): void {
  const at = line.cells.lastIndexOf(cell);
  if (at < 0) return;
  line.cells.splice(at, 1);
  line.refit();
}

/** Ends `mark` and everything that was opened inside it. False where its row is complete and shows it as text. */
export function closeMark(marks: Marks, mark: Mark): boolean {
  if (!mark.isHidden && !marks.keeps && !isShown(marks, mark)) {
    settle(marks, mark);
    return false;
  }
  for (const inner of marks.open.slice(marks.open.indexOf(mark) + 1).toReversed()) {
    // A bracket may still become a link around what ends here.
    if (inner.kind !== "[") settle(marks, inner);
  }
  marks.open.splice(marks.open.indexOf(mark), 1);
  if (marks.keeps) return true;
  restyle(marks, mark.cell, (cell) => {
    cell.style |= mark.style;
  });
  removeCell(marks, mark.cell);
  return true;
}

/** The innermost open mark of this kind and length. */
export function findMark({ open }: Marks, kind: Mark["kind"], count?: number): Mark | undefined {
  return open.findLast(
    (mark) => mark.kind === kind && (count === undefined || mark.count === count),
  );
}
