import { erase, type Text } from "../../terminal/text.ts";
import { sameCell, toText, widthOf, type Cell } from "./cells.ts";

/** The terminal, as far as rows need to know it. */
export interface Terminal {
  /** Width now. */
  columns(): number;
  /** The end of the current row can be taken back; else only whole rows are written. */
  canRedraw: boolean;
}

/** What is to be written, and what of it stands in the terminal's current row. */
export interface Screen {
  out: Text[];
  shown: Cell[];
}

const widest = 1000;

/** Most cells of a row: those without any width would never fill one. */
export function mostCells(limit: number): number {
  return limit * 4 + 64;
}

/** Columns that a row may take: the last one stays free, terminals differ in how they treat it. */
export function limitOf(terminal: Terminal): number {
  return Math.max(1, Math.min(terminal.columns() - 1, widest));
}

function isSimple(cells: readonly Cell[]): boolean {
  return cells.every((cell) => /^[ -~]*$/.test(cell.text));
}

/** Brings the current row to `cells`. What stays the same is not written again, so nothing flickers. */
export function draw(screen: Screen, cells: readonly Cell[]): void {
  // Copies: cells change while their row is open.
  screen.shown = bring(screen, cells).map((cell) => ({ ...cell }));
}

function bring(screen: Screen, cells: readonly Cell[]): Cell[] {
  const target = cells.filter((cell) => cell.text !== "");
  const { shown, out } = screen;
  let same = 0;
  while (same < shown.length && same < target.length) {
    if (!sameCell(shown[same] as Cell, target[same] as Cell)) break;
    same++;
  }
  const gone = shown.slice(same);
  // How wide a terminal draws other characters is not known for certain.
  if (gone.length > 0 && !isSimple(gone)) {
    out.push(erase("row"));
    same = 0;
  } else if (gone.length > 0) out.push(erase(widthOf(gone)));
  out.push(...toText(target.slice(same)));
  return target;
}

/** Ends the current row as `cells`. */
export function finish(screen: Screen, cells: readonly Cell[]): void {
  bring(screen, cells);
  screen.out.push("\n");
  screen.shown = [];
}
