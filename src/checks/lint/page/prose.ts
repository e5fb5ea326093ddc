import { codeSpansOf, createLookup } from "../../../documents/markdown/code.ts";
import type { Body } from "./body.ts";
import { createLineOf } from "./lines.ts";

type Range = readonly [number, number];

const codeTag = /<(\/?)(?:code|pre|kbd|samp|script|style|svg|math)\b/gi;

/** The elements of a paragraph that hold code, as pairs of start and end. */
function codeElements(paragraph: string): Range[] {
  const ranges: [number, number][] = [];
  if (!paragraph.includes("<")) return ranges;
  let open = -1;
  for (const { 1: slash, index } of paragraph.matchAll(codeTag)) {
    if (slash === "" && open === -1) open = index;
    else if (slash === "/" && open !== -1) {
      ranges.push([open, index]);
      open = -1;
    }
  }
  if (open !== -1) ranges.push([open, paragraph.length]);
  return ranges;
}

/** Code spans of each line: a row of a table or an item of a list is a block of its own. */
function spansOfLines(paragraph: string): Range[] {
  const ranges: Range[] = [];
  let start = 0;
  for (const line of paragraph.split("\n")) {
    for (const [from, to] of codeSpansOf(line)) ranges.push([start + from, start + to]);
    start += line.length + 1;
  }
  return ranges;
}

/** The ranges of a paragraph that are code by one reading or another. */
function codeOf(paragraph: string): Range[][] {
  const ranges = [codeElements(paragraph)];
  if (paragraph.includes("`")) ranges.push([...codeSpansOf(paragraph)], spansOfLines(paragraph));
  return ranges;
}

const indentedCode = /^(?: {4}|\t)/;

/**
 * Returns a function that says whether an offset of the body is in prose. Code is a fence, a code
 * span, an indented line, and elements such as `<code>`. In doubt a place counts as code, so that
 * no rule takes an example for text of the page. The offset must grow from call to call.
 */
export function createProseTest({ text, structure }: Body): (offset: number) => boolean {
  // Plain text has no code marks, but indented examples.
  const isOpaque = createLookup(structure?.opaque ?? []);
  const lineOf = createLineOf(text);
  let start = 0;
  let end = -1;
  let tests: ((offset: number) => boolean)[] = [];
  return (offset) => {
    if (isOpaque(offset)) return false;
    if (offset >= end) {
      const before = text.lastIndexOf("\n\n", offset);
      const after = text.indexOf("\n\n", offset);
      start = before === -1 ? 0 : before + 2;
      end = after === -1 ? text.length : after;
      const paragraph = structure ? text.slice(start, end) : "";
      tests = codeOf(paragraph).map((ranges) => createLookup(ranges));
    }
    const [lineStart] = lineOf(offset);
    // Every test must see the offset: it only looks forward.
    const isCode = tests.map((test) => test(offset - start)).includes(true);
    return !isCode && !indentedCode.test(text.slice(lineStart, lineStart + 4));
  };
}
