import { put } from "../cells.ts";
import { readFlanks } from "./flanking.ts";
import { closeMark, findMark, openMark, openStyle, removeCell } from "./marks.ts";
import { putText, type Scanner } from "./scanner.ts";

const maxRunLength = 64;

function openRun(scanner: Scanner, kind: "*" | "_" | "~", count: number, after: string): void {
  const { marks, look } = scanner;
  const atStart = /^[\s("'“‘«]?$/.test(scanner.before) && scanner.line.cells.length === 0;
  const sizes = count === 3 ? [1, 2] : [count];
  for (const size of sizes) {
    // A single star is often text (`*.md`, `*args`), so it is shown until it is paired.
    const isLikelyMark = size === 2 || atStart || count === 3;
    const isHidden = look.hasColour && isLikelyMark && !/^[./\\*_]/.test(after);
    openMark(marks, kind, size, isHidden, scanner.base | openStyle(marks));
  }
}

function closeRun(scanner: Scanner, kind: "*" | "_" | "~", count: number): number {
  const { marks, look } = scanner;
  let left = count;
  while (left > 0) {
    const mark = findMark(marks, kind, left === 3 ? undefined : left);
    if (!mark) return left;
    const style = scanner.base | openStyle(marks);
    if (!closeMark(marks, mark)) continue;
    if (!look.hasColour) for (const each of kind.repeat(mark.count)) put(scanner.line, each, style);
    left -= mark.count;
  }
  return 0;
}

function openCode(scanner: Scanner, count: number, after: string): void {
  if (after === "" || (count === 1 && after === " ")) return putText(scanner, "`".repeat(count));
  const { marks, look } = scanner;
  openMark(marks, "`", count, look.hasColour, scanner.base | openStyle(marks));
  scanner.mode = "code";
}

/** Processes a complete run of marks. `after`: the next character, empty at the end. */
export function finishRun(scanner: Scanner, after: string): void {
  const run = scanner.held;
  const kind = run[0] as "*" | "_" | "~" | "`";
  scanner.held = "";
  scanner.mode = "text";
  if (kind === "`") return openCode(scanner, run.length, after);
  const maximum = kind === "~" ? 2 : 3;
  const minimum = kind === "~" ? 2 : 1;
  if (run.length > maximum || run.length < minimum) return putText(scanner, run);
  const { opens, closes } = readFlanks(kind, scanner.before, after);
  const left = closes ? closeRun(scanner, kind, run.length) : run.length;
  if (left === run.length && opens) openRun(scanner, kind, left, after);
  else putText(scanner, kind.repeat(left));
  scanner.before = kind;
}

/** Reads a code span. */
export function stepCode(scanner: Scanner, character: string): boolean {
  // A run longer than any opening run cannot close a code span.
  if (character === "`" && scanner.held.length < maxRunLength) {
    scanner.held += character;
    return true;
  }
  const mark = findMark(scanner.marks, "`");
  if (scanner.held !== "") {
    const ticks = scanner.held;
    scanner.held = "";
    if (mark?.count === ticks.length) {
      closeCode(scanner);
      return false;
    }
    putText(scanner, ticks);
    return false;
  }
  const isEdge = character === " " && scanner.line.cells.at(-1) === mark?.cell;
  // With longer marks, one space at either end belongs to the marks.
  if (!isEdge || mark?.count === 1) putText(scanner, character);
  return true;
}

export function closeCode(scanner: Scanner): void {
  const { marks, line, look } = scanner;
  const mark = findMark(marks, "`");
  scanner.mode = "text";
  if (!mark) return;
  const last = line.cells.at(-1);
  if (mark.count > 1 && last?.text === " ") removeCell(marks, last);
  closeMark(marks, mark);
  if (!look.hasColour) putText(scanner, "`".repeat(mark.count));
  scanner.before = "`";
}

/** Reads a run of identical marks. */
export function stepRun(scanner: Scanner, character: string): boolean {
  if (character === scanner.held[0] && scanner.held.length < maxRunLength) {
    scanner.held += character;
    return true;
  }
  finishRun(scanner, character);
  return false;
}
