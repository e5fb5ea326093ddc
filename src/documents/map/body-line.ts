import { removeIgnored, type RemovedLines } from "../text/ignore-regions.ts";
import type { Parsed } from "../formats/format.ts";

/**
 * Returns a function that finds the line of the file (from 1) of an offset in the body without ignore
 * regions. The offset must grow from call to call.
 */
export function createBodyLine(
  { parsed, path }: { parsed: Parsed; path: string },
  body: string,
): (offset: number) => number {
  const ignored: RemovedLines[] = [];
  removeIgnored(parsed.body, path, parsed.bodyLine, ignored);
  const { removed: hidden = [] } = parsed;
  let line = parsed.bodyLine;
  let shift = 0;
  let at = -1;
  let [nextIgnored, nextHidden] = [0, 0];
  return (offset) => {
    for (let next = body.indexOf("\n", at + 1); next !== -1 && next < offset;) {
      line++;
      at = next;
      next = body.indexOf("\n", at + 1);
    }
    for (let each = ignored[nextIgnored]; each && each.at <= offset; each = ignored[nextIgnored]) {
      line += each.lines;
      shift += each.length;
      nextIgnored++;
    }
    for (let each = hidden[nextHidden]; each && each.at <= offset + shift;) {
      line += each.lines;
      each = hidden[++nextHidden];
    }
    return line;
  };
}
