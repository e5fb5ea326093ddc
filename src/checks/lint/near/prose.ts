import { createLookup } from "../../../documents/markdown/code.ts";
import { scanStructure } from "../../../documents/markdown/structure.ts";

export interface Sentence {
  /** As written; a line break is a space. */
  text: string;
  /** Offsets in the body. */
  start: number;
  end: number;
}

const [shortest, longest] = [12, 300];
// Rows of tables, HTML, headings, definitions of links, directives, indented code.
const noProse = /^(?:[ \t]*(?:\||<|#{1,6}(?:[ \t]|$)|\[[^\]\n]*\]:|:::|!!!|\{|\.\.[ \t])| {4}|\t)/;
const underline = /^ {0,3}(?:=+|-+|\*+|_+)[ \t]*$/;
const listMark = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?/;
const beginsItem = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]/;
// An end mark, closing quotes or emphasis, then a space; no space in Chinese and Japanese.
const sentenceEnd = /[.!?][)\]"'”’*_]*(?=\s|$)|[。！？][」』）”]*/g;
const abbreviation =
  /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|ca|approx|resp|incl|max|min|no|nr|fig|mr|ms|dr|st|z\.b|d\.h|bzw|usw|p\.ej)\.$/i;

function* sentencesIn(text: string, offset: number): Generator<Sentence> {
  let from = 0;
  for (const { 0: mark, index } of text.matchAll(sentenceEnd)) {
    const end = index + mark.length;
    if (mark.startsWith(".") && abbreviation.test(text.slice(Math.max(from, end - 12), index + 1)))
      continue;
    const start = from + (/^\s*/.exec(text.slice(from, from + 100))?.[0].length ?? 0);
    if (end - start >= shortest && end - start <= longest) {
      yield { text: text.slice(start, end), start: offset + start, end: offset + end };
    }
    from = end;
  }
}

/** Lines that belong together, as pairs of start and end: paragraphs, and items of lists without their marks. */
function* blocksOf(body: string): Generator<[number, number]> {
  const isOpaque = createLookup(scanStructure(body).opaque);
  let open: [number, number] | undefined;
  for (let start = 0; start < body.length;) {
    const found = body.indexOf("\n", start);
    const end = found === -1 ? body.length : found;
    const from = start;
    start = end + 1;
    if (isOpaque(from)) {
      if (open) yield open;
      open = undefined;
      continue;
    }
    // Most lines begin with a letter. None of the patterns below can match them.
    const first = body.charCodeAt(from) | 0x20;
    if (first >= 0x61 && first <= 0x7a) {
      if (open) open[1] = end;
      else open = [from, end];
      continue;
    }
    const line = body.slice(from, Math.min(end, from + 200));
    const isProse = line.trim() !== "" && !underline.test(line);
    const isItem = beginsItem.test(line);
    if (open && isProse && !isItem && !/^[ \t]*(?:\||<|#)/.test(line)) {
      open[1] = end;
    } else {
      if (open) yield open;
      const mark = listMark.exec(line)?.[0].length ?? 0;
      open = isProse && (isItem || !noProse.test(line)) ? [from + mark, end] : undefined;
    }
  }
  if (open) yield open;
}

/**
 * The whole sentences of a Markdown body or a plain text: of paragraphs and items of lists. Not of
 * headings, tables, code and HTML. Linear in the length of the text.
 */
export function* proseSentences(body: string): Generator<Sentence> {
  if (!/\d/.test(body)) return;
  for (const [start, end] of blocksOf(body)) {
    const text = body.slice(start, end);
    if (/\d/.test(text)) yield* sentencesIn(text.replaceAll("\n", " "), start);
  }
}
