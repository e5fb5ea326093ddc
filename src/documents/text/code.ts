import { scanStructure } from "./structure.ts";

/** Code spans of a line or paragraph as pairs of start and end, in order (CommonMark 0.31, section 6.1). */
export function codeSpansOf(line: string): [number, number][] {
  const runs = [...line.matchAll(/`+/g)].map((run) => ({ at: run.index, length: run[0].length }));
  // The next run of the same length closes a run. One pass from the end finds it.
  const nextOfLength = new Map<number, number>();
  const closing = new Map<number, number>();
  for (const { at, length } of runs.toReversed()) {
    const next = nextOfLength.get(length);
    if (next !== undefined) closing.set(at, next + length);
    nextOfLength.set(length, at);
  }
  const spans: [number, number][] = [];
  let from = 0;
  for (const { at } of runs) {
    const end = closing.get(at);
    if (at < from || end === undefined) continue;
    spans.push([at, end]);
    from = end;
  }
  return spans;
}

/** Whether an offset lies in one of the ranges. The offset must grow from call to call. */
export function createLookup(
  ranges: readonly (readonly [number, number])[],
): (offset: number) => boolean {
  let next = 0;
  return (offset) => {
    for (let range = ranges[next]; range && range[1] <= offset; range = ranges[next]) next++;
    return (ranges[next]?.[0] ?? Infinity) <= offset;
  };
}

/** HTML comments of a line that close in it, as pairs of start and end, in order. */
function commentsOf(line: string): [number, number][] {
  const comments: [number, number][] = [];
  for (let at = line.indexOf("<!--"); at !== -1; at = line.indexOf("<!--", at)) {
    const close = line.indexOf("-->", at + 4);
    if (close === -1) break;
    comments.push([at, close + 3]);
    at = close + 3;
  }
  return comments;
}

/** Code spans and comments of a line, in order. A comment in a code span is code. */
function unreadSpansOf(line: string): [number, number][] {
  const spans = codeSpansOf(line);
  if (!line.includes("<!--")) return spans;
  const isCode = createLookup(spans);
  const comments = commentsOf(line).filter(([start]) => !isCode(start));
  return [...spans, ...comments].toSorted(([one], [other]) => one - other);
}

function createTest(
  text: string,
  spansOf: (line: string) => [number, number][],
): (offset: number) => boolean {
  const isOpaque = createLookup(scanStructure(text).opaque);
  let start = 0;
  let end = -1;
  let isInSpan: (offset: number) => boolean = () => false;
  return (offset) => {
    if (isOpaque(offset)) return true;
    if (offset >= end) {
      start = text.lastIndexOf("\n", offset) + 1;
      const next = text.indexOf("\n", offset);
      end = next === -1 ? text.length : next;
      isInSpan = createLookup(spansOf(text.slice(start, end)));
    }
    return isInSpan(offset - start);
  };
}

/**
 * Returns a function that checks whether an offset of Markdown text lies in code or an HTML block,
 * where Markdown marks have no meaning: fences, comments over several lines, `<pre>`, and code
 * spans that close on their line. The offset must grow from call to call, so that the text is
 * scanned once.
 */
export const createCodeTest = (text: string): ((offset: number) => boolean) =>
  createTest(text, codeSpansOf);

/** Like createCodeTest(), but also for comments on one line: no link and no image is in one. */
export const createUnreadTest = (text: string): ((offset: number) => boolean) =>
  createTest(text, unreadSpansOf);
