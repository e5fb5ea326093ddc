import { put, type Line } from "../cells.ts";
import { openStyle, type Marks } from "./marks.ts";
import type { Target } from "./target.ts";

/** Options for drawing inline text. */
export interface InlineLook {
  /** The terminal supports hyperlinks; else the address follows the text. */
  hasLinks: boolean;
  /** Shorten citation markers `[[1]](…)` to `[1]`: the list of sources has the address. */
  shortensMarkers: boolean;
  /** Without colour, marks stay visible, because they are the only structure. */
  hasColour: boolean;
}

export type Mode =
  | "text"
  | "run"
  | "code"
  | "escape"
  | "entity"
  | "angle"
  | "address"
  | "bracket"
  | "target";

/** Parser state of an inline text at the current position. */
export interface Scanner {
  marks: Marks;
  line: Line;
  look: InlineLook;
  base: number;
  mode: Mode;
  /** Buffered characters whose meaning depends on the next ones. */
  held: string;
  /** The previous character. */
  before: string;
  /** Number of spaces at the end of the text read so far. */
  spaces: number;
  target: Target;
}

/** Appends text in the style of the open marks; collapses spaces. */
export function putText(scanner: Scanner, text: string, style = 0, url?: string): void {
  const all = scanner.base | openStyle(scanner.marks) | style;
  for (const character of text) {
    const isSpace = character === " " && scanner.mode !== "code" && style === 0;
    if (isSpace && scanner.before === " ") continue;
    put(scanner.line, character, all, url);
    scanner.before = character;
  }
}

/** Writes the buffered characters as text. */
export function flush(scanner: Scanner, more = ""): void {
  const { held } = scanner;
  scanner.held = "";
  scanner.mode = "text";
  putText(scanner, held + more);
}
