import { bits, makeCell, type Cell, type Line } from "../cells.ts";

/** An opening mark that is not paired yet. It may turn out to be text. */
export interface Mark {
  kind: "*" | "_" | "~" | "`" | "[";
  /** Number of characters. */
  count: number;
  /** The style that it starts; 0 for a bracket. */
  style: number;
  /** Not shown while its pair is expected; shown again if the text ends without it. */
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
 * Maximum open marks, more than real text has; beyond it the oldest mark becomes text.
 * Bounds the work on text that consists only of marks.
 */
const maxOpen = 16;

export interface Marks {
  line: Line;
  open: Mark[];
  /** Style of a code span. */
  codeStyle: number;
  /** Keep paired marks in the text. */
  keeps: boolean;
}

function isShown({ line }: Marks, mark: Mark): boolean {
  return line.cells.lastIndexOf(mark.cell) >= 0;
}

/** The combined style of the hidden open marks. */
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

/** Turns a mark into text. Finished rows stay unchanged. */
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
  if (marks.open.length >= maxOpen && oldest) settle(marks, oldest);
  const cell = makeCell(isHidden ? "" : kind.repeat(count), style);
  cell.isMark = true;
  const own = kind === "`" ? marks.codeStyle : styles[kind](count);
  const mark = { kind, count, style: own, isHidden, cell };
  marks.open.push(mark);
  marks.line.add(cell);
  return mark;
}

/** Removes the cell of a mark from the row. */
export function removeCell({ line }: Marks, cell: Cell): void {
  const at = line.cells.lastIndexOf(cell);
  if (at < 0) return;
  line.cells.splice(at, 1);
  line.refit();
}

/** Ends `mark` and the marks opened inside it. False if a finished row already shows it as text. */
export function closeMark(marks: Marks, mark: Mark): boolean {
  if (!mark.isHidden && !marks.keeps && !isShown(marks, mark)) {
    settle(marks, mark);
    return false;
  }
  for (const inner of marks.open.slice(marks.open.indexOf(mark) + 1).toReversed()) {
    // A bracket may still become a link that contains this mark.
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
