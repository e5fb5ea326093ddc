import { CliError } from "../../errors.ts";
import { createCodeTest } from "./code.ts";

const marker = /<!--[ \t]*(\/?)knowctl:ignore[ \t]*-->/g;

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

/** So many line ends are gone at an offset of what is left. */
export interface RemovedLines {
  at: number;
  lines: number;
}

/**
 * The text without its `<!-- knowctl:ignore -->…<!-- /knowctl:ignore -->`
 * regions; they nest. Markers in code are text. A region that is never closed
 * is an error, because both guesses are bad: text lost, or text shown that was
 * to be hidden. `removed` is told what is gone. Throws CliError `usage`.
 */
export function removeIgnored(
  text: string,
  path: string,
  firstLine: number,
  removed: RemovedLines[] = [],
): string {
  // Few texts hold a comment at all; a search that begins with a letter stops at each of them.
  if (!text.includes("<!--") || !text.includes("knowctl:ignore")) return text;
  // A line that begins with the marker is an HTML block of its own, of one line.
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
      removed.push({ at: kept.length, lines: lineAt(text.slice(start, from), from) - 1 });
    }
  }
  const unclosed = open[0];
  if (unclosed === undefined) return kept + text.slice(from);
  const line = firstLine + lineAt(text, unclosed) - 1;
  throw new CliError("usage", `${path}:${line}:1: the knowctl:ignore region is never closed`, {
    hints: ["close it with <!-- /knowctl:ignore -->"],
  });
}
