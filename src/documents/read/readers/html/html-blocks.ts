import { codeSpansOf, createLookup } from "../../../markdown/code.ts";
import type { GivenHeading } from "../../reader.ts";

/** A piece of the text, and how it is separated from the previous piece. */
export interface Block {
  text: string;
  /** For rows and list items: no blank line between them. */
  isTight: boolean;
  /** The table or list that it belongs to: others are apart from it. */
  group?: number;
  heading?: GivenHeading;
}

// Line beginnings that structure.ts does not read as a paragraph.
const looksLikeHeading = /^(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$|<)/;
const looksLikeFence = /^((?:(?:[-*+]|\d{1,9}[.)])[ \t]+){0,100})(?=`{3,}[^`]*$|~~~)/;

/** Escapes `<!--`, so that it begins no comment. In code it begins none. */
function escapeComments(line: string): string {
  if (!line.includes("<!--")) return line;
  const isCode = createLookup(codeSpansOf(line));
  return line.replace(/<!--/g, (mark, at: number) => (isCode(at) ? mark : "<\\!--"));
}

/** Escapes the Markdown syntax of a line, and `<!--`. */
export function escapeLine(line: string): string {
  const text = escapeComments(line);
  return looksLikeHeading.test(text) ? `\\${text}` : text.replace(looksLikeFence, "$1\\");
}

/** Text of a page as one line, for headings. */
export function oneLine(text: string): string {
  return text
    .replace(/[\s\u00ad]+/g, (blank) => (/^\u00ad+$/.test(blank) ? "" : " "))
    .replace(/\s*\u00b6$/, "")
    .trim();
}

/** Wraps preformatted text in a fence that is longer than any fence in it. */
export function fenced(text: string): string {
  const content = text.replace(/^\n/, "").trimEnd();
  if (content.trim() === "") return "";
  let longest = 2;
  for (const run of content.matchAll(/`{3,}/g)) longest = Math.max(longest, run[0].length);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${content}\n${fence}`;
}

/** Joins blocks to the text of a document. Also returns its headings in order. */
export function joinBlocks(blocks: readonly Block[]): { body: string; headings: GivenHeading[] } {
  const parts: string[] = [];
  const headings: GivenHeading[] = [];
  for (const [index, { text, isTight, group, heading }] of blocks.entries()) {
    const before = blocks[index - 1];
    const isNext = isTight && before?.isTight && before.group === group;
    if (before) parts.push(isNext ? "\n" : "\n\n");
    parts.push(text);
    if (heading) headings.push(heading);
  }
  if (parts.length > 0) parts.push("\n");
  return { body: parts.join(""), headings };
}
