import { scanStructure } from "./structure.ts";

/** Code spans of one line as pairs of start and end, in order (CommonMark 0.31, section 6.1). */
function codeSpansOf(line: string): [number, number][] {
  const runs = [...line.matchAll(/`+/g)].map((run) => ({ at: run.index, length: run[0].length }));
  // For each run the next one of the same length closes it; found from the end in one pass.
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

/** Whether an offset lies in one of the ranges; the offsets asked for must grow. */
function createLookup(ranges: readonly (readonly [number, number])[]): (offset: number) => boolean {
  let next = 0;
  return (offset) => {
    for (let range = ranges[next]; range && range[1] <= offset; range = ranges[next]) next++;
    return (ranges[next]?.[0] ?? Infinity) <= offset;
  };
}

/**
 * Tells whether an offset of Markdown text lies in code or an HTML block, where
 * marks mean nothing: fences, comments, `<pre>`, and code spans that close on
 * their line. The offsets asked for must grow: a text is passed over once.
 */
export function createCodeTest(text: string): (offset: number) => boolean {
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
      isInSpan = createLookup(codeSpansOf(text.slice(start, end)));
    }
    return isInSpan(offset - start);
  };
}
