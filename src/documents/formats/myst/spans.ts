import { codeSpansOf, createLookup } from "../../text/structure.ts";

const mark = /[[\]\\]/g;
const attributes = /\{[ \t]*(?:[#.][^{}\n]*|[\w-]+=[^{}\n]*)\}/y;
const target = /\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)/y;

/**
 * Markdown without the attributes of its links, images and spans: `[text]{.class}` is its text, and
 * `![alt](a.png){width=50%}` an image. Pandoc, "Bracketed spans" and "Link attributes"; MyST,
 * "attrs_inline". The time is linear in the length of the text.
 */
export function withoutSpans(text: string): string {
  if (!/[)\]]\{/.test(text)) return text;
  const isCode = createLookup(codeSpansOf(text));
  const open: number[] = [];
  const cuts: [number, number][] = [];
  for (let found = ((mark.lastIndex = 0), mark.exec(text)); found; found = mark.exec(text)) {
    const { 0: char, index } = found;
    if (isCode(index)) continue;
    if (char === "\\") mark.lastIndex = index + 2;
    else if (char === "[") open.push(index);
    else {
      const start = open.pop();
      if (start === undefined) continue;
      target.lastIndex = index + 1;
      const isLink = target.test(text);
      attributes.lastIndex = isLink ? target.lastIndex : index + 1;
      const from = attributes.lastIndex;
      if (!attributes.test(text)) continue;
      cuts.push([from, attributes.lastIndex]);
      if (!isLink && text[start - 1] !== "!") cuts.push([start, start + 1], [index, index + 1]);
    }
  }
  let from = 0;
  const parts: string[] = [];
  for (const [start, end] of cuts.toSorted(([one], [other]) => one - other)) {
    parts.push(text.slice(from, start));
    from = end;
  }
  return parts.join("") + text.slice(from);
}
