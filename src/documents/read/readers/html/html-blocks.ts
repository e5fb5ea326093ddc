import type { GivenHeading } from "../../reader.ts";

/** A piece of the text with what parts it from the piece before. */
export interface Block {
  text: string;
  /** Rows and list items stand line below line. */
  isTight: boolean;
  heading?: GivenHeading;
}

// What begins a line of Markdown that is no paragraph, as structure.ts sees it.
const looksLikeHeading = /^(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$|<)/;
const looksLikeFence = /^((?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?=```|~~~)/;

/** A line of text that means nothing as Markdown; `<!--` neither begins nor hides anything. */
export function escapeLine(line: string): string {
  const text = line.includes("<!--") ? line.replaceAll("<!--", "<\\!--") : line;
  if (looksLikeHeading.test(text)) return `\\${text}`;
  return text.includes("```") || text.includes("~~~") ? text.replace(looksLikeFence, "$1\\") : text;
}

/** Text of a page as one line, for headings. */
export function oneLine(text: string): string {
  return text
    .replace(/[\s\u00ad]+/g, (blank) => (/^\u00ad+$/.test(blank) ? "" : " "))
    .replace(/\s*\u00b6$/, "")
    .trim();
}

/** Lines of running text: white space collapsed, empty ones left out, each escaped. */
export function linesOf(text: string, indent: string, mark: string): string {
  const lines = text
    .split("\n")
    .map((line) => oneLine(line))
    // A row of empty cells.
    .filter((line) => line.replace(/[|\s]+/g, "") !== "")
    .map((line) => escapeLine(line));
  const rest = indent + " ".repeat(mark.length);
  return lines.map((line, index) => (index === 0 ? indent + mark : rest) + line).join("\n");
}

/** Preformatted text as a fence that is longer than any in it. */
export function fenced(text: string): string {
  const content = text.replace(/^\n/, "").trimEnd();
  if (content.trim() === "") return "";
  let longest = 2;
  for (const run of content.matchAll(/`{3,}/g)) longest = Math.max(longest, run[0].length);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${content}\n${fence}`;
}

type Range = readonly [from: number, to: number];

const sizeOf = (blocks: readonly Block[]): number =>
  blocks.reduce((sum, { text }) => sum + text.length, 0);

/** The blocks of the text proper, by where `<main>` and `<article>` begin and end among them. */
export function chooseBlocks(
  blocks: readonly Block[],
  mains: readonly Range[],
  articles: readonly Range[],
): readonly Block[] {
  const within = (ranges: readonly Range[]): Block[] =>
    ranges.flatMap(([from, to]) => blocks.slice(from, to));
  const main = within(mains);
  if (main.length > 0) return main;
  // Articles may also be no more than teasers beside the text.
  const article = within(articles);
  return article.length > 0 && sizeOf(article) * 2 >= sizeOf(blocks) ? article : blocks;
}

/** Blocks as the text of a document, with its headings in order. */
export function joinBlocks(blocks: readonly Block[]): { body: string; headings: GivenHeading[] } {
  const parts: string[] = [];
  const headings: GivenHeading[] = [];
  for (const [index, { text, isTight, heading }] of blocks.entries()) {
    if (index > 0) parts.push(isTight && blocks[index - 1]?.isTight ? "\n" : "\n\n");
    parts.push(text);
    if (heading) headings.push(heading);
  }
  if (parts.length > 0) parts.push("\n");
  return { body: parts.join(""), headings };
}
