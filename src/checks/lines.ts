import { countBefore } from "../documents/text/count-before.ts";

/** A position in a text; both count from 1, columns in UTF-16 units. */
export interface Position {
  line: number;
  column: number;
}

/** The lines of a text. */
export interface Lines {
  /** The position of an offset; an offset beyond the text counts as its end. */
  at(offset: number): Position;
}

/** Indexes the lines of a text in one pass. */
export function createLines(text: string): Lines {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return {
    at(offset) {
      const within = Math.max(0, Math.min(offset, text.length));
      const line = countBefore(starts.length, (at) => (starts[at] ?? 0) <= within);
      return { line, column: within - (starts[line - 1] ?? 0) + 1 };
    },
  };
}
