import { put, type Line } from "../cells.ts";
import { openStyle, type Marks } from "./marks.ts";
import type { Target } from "./target.ts";

/** Look of inline text. */
export interface InlineLook {
  /** The terminal shows hyperlinks; else the address stands behind the text. */
  hasLinks: boolean;
  /** Citation markers `[[1]](…)` are shown as `[1]` without an address: the sources have it. */
  shortensMarkers: boolean;
  /** Without colour the marks stay: they are the only structure left. */
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

/** What is known of an inline text at the place that has been read. */
export interface Scanner {
  marks: Marks;
  line: Line;
  look: InlineLook;
  base: number;
  mode: Mode;
  /** The beginning of something that the next characters decide. */
  held: string;
  before: string;
  spaces: number;
  target: Target;
}

/** Appends text in the look of the open marks; runs of spaces count as one. */
export function putText(scanner: Scanner, text: string, style = 0, url?: string): void {
  const all = scanner.base | openStyle(scanner.marks) | style;
  for (const character of text) {
    const isSpace = character === " " && scanner.mode !== "code" && style === 0;
    if (isSpace && scanner.before === " ") continue;
    put(scanner.line, character, all, url);
    scanner.before = character;
  }
}

/** What was held is text after all. */
export function flush(scanner: Scanner, more = ""): void {
  const { held } = scanner;
  scanner.held = "";
  scanner.mode = "text";
  putText(scanner, held + more);
}
