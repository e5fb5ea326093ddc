import { CliError } from "../../errors.ts";
import { createCodeTest } from "./code.ts";

/** Pattern of the marks of a region; its group is the slash of the end. */
export const ignoreMarker = String.raw`<!--[ \t]*(\/?)knowctl:ignore[ \t]*-->`;
const marker = new RegExp(ignoreMarker, "g");

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/** The text removed at an offset of the remaining text. */
export interface RemovedLines {
  at: number;
  lines: number;
  /** In characters. */
  length: number;
}

/**
 * Returns the text without its `<!-- knowctl:ignore -->…<!-- /knowctl:ignore -->` regions, which
 * may be nested. Markers in code are text. A region that is never closed is an error, because both
 * guesses are bad: lost text, or visible text that was meant to be hidden. Adds an entry to
 * `removed` for each region. Throws CliError `usage`.
 */
export function removeIgnored(
  text: string,
  path: string,
  firstLine: number,
  removed: RemovedLines[] = [],
): string {
  // Few texts contain a comment. A search for a letter would stop at each occurrence of it.
  if (!text.includes("<!--") || !text.includes("knowctl:ignore")) return text;
  // A line that begins with the marker is a separate HTML block of one line.
  const isCode = createCodeTest(text);
  let kept = "";
  let from = 0;
  let start = 0;
  const open: number[] = [];
  for (const found of text.matchAll(marker)) {
    if (isCode(found.index)) continue;
    if (found[1] === "") {
      if (open.length === 0) {
        start = found.index;
        kept += text.slice(from, start);
      }
      open.push(found.index);
    } else if (open.pop() !== undefined && open.length === 0) {
      from = found.index + found[0].length;
      const lines = lineAt(text.slice(start, from), from) - 1;
      removed.push({ at: kept.length, lines, length: from - start });
    }
  }
  const unclosed = open[0];
  if (unclosed === undefined) return kept + text.slice(from);
  const line = firstLine + lineAt(text, unclosed) - 1;
  throw new CliError("usage", `${path}:${line}:1: the knowctl:ignore region is never closed`, {
    hints: ["close it with <!-- /knowctl:ignore -->"],
  });
}
