import { erase, type Text } from "../../terminal/text.ts";
import { sameCell, toText, widthOf, type Cell } from "./cells.ts";

/** Properties of the terminal that rows need. */
export interface Terminal {
  /** Current width. */
  columns(): number;
  /** The end of the current row can be erased; else only complete rows are written. */
  canRedraw: boolean;
}

export interface Screen {
  /** Text to write. */
  out: Text[];
  /** Cells in the terminal's current row, after `out` is written. */
  shown: Cell[];
}

const maxColumns = 1000;

/** Maximum cells of a row; needed because cells without width never fill a row. */
export function maxCells(limit: number): number {
  return limit * 4 + 64;
}

/** Maximum columns of a row. The last column stays free: terminals treat it differently. */
export function limitOf(terminal: Terminal): number {
  return Math.max(1, Math.min(terminal.columns() - 1, maxColumns));
}

function isSimple(cells: readonly Cell[]): boolean {
  return cells.every((cell) => /^[ -~]*$/.test(cell.text));
}

/** Redraws the current row as `cells`. Unchanged cells are not written again, to avoid flicker. */
export function draw(screen: Screen, cells: readonly Cell[]): void {
  // Copies, because cells change while their row is open.
  screen.shown = writeChanges(screen, cells).map((cell) => ({ ...cell }));
}

function writeChanges(screen: Screen, cells: readonly Cell[]): Cell[] {
  const target = cells.filter((cell) => cell.text !== "");
  const { shown, out } = screen;
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
  return target;
}

/** Redraws the current row as `cells` and ends it. */
export function finish(screen: Screen, cells: readonly Cell[]): void {
  writeChanges(screen, cells);
  screen.out.push("\n");
  screen.shown = [];
}
