import type { Piece } from "./hidden-pieces.ts";

/** The end of each code span of a paragraph by its start. */
export function paragraphCode(text: string, { start, end }: Piece): Map<number, number> {
  const spans = new Map<number, number>();
  const paragraph = text.slice(start, end);
  if (!paragraph.includes("`")) return spans;
  // The rows of a table are apart.
  const isTable = /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\||$)[ \t:|-]*$/m.test(paragraph);
  const last = new Map<number, number>();
  for (const { 0: run, index } of paragraph.matchAll(isTable ? /`+|\n/g : /`+/g)) {
    if (run === "\n") last.clear();
    else {
      const open = last.get(run.length);
      if (open !== undefined) spans.set(start + open, start + index + run.length);
      last.set(run.length, index);
    }
  }
  return spans;
}
