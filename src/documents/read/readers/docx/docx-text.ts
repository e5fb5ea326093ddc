import { cleanText } from "../properties.ts";

/** One paragraph, list item or table of a text document. */
export interface Block {
  text: string;
  isItem: boolean;
  /** Of a heading, its text without the mark. */
  heading?: string;
}

// Line beginnings that Markdown would read as syntax: headings, their underlines and rules, fences,
// lists, quotations, HTML. Ignore regions keep their meaning: an author who writes one in an office
// program wants it.
const structure =
  /^([ \t]*)(?=(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$|`{3}|~{3}|[-*+][ \t]|>|<(?!!--[ \t]*\/?knowctl:ignore)[A-Za-z!?/]))/gm;
const numbered = /^([ \t]*\d{1,9})([.)][ \t])/gm;

function escapeLines(text: string): string {
  return text.replace(structure, "$1\\").replace(numbered, "$1\\$2");
}

/** Removes spaces at line ends, and blank lines. */
function tidy(text: string): string {
  return cleanText(text)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n")
    .trim();
}

/** A heading of Markdown; undefined without text. Levels beyond 6 become 6. */
export function headingBlock(text: string, level: number): Block | undefined {
  const line = cleanText(text).replace(/\s+/g, " ").trim();
  // Markdown would remove `#` at the end as closing marks.
  const kept = line.replace(/(^| )(#+)$/, "$1\\$2");
  return line === ""
    ? undefined
    : { text: `${"#".repeat(Math.min(6, level))} ${kept}`, isItem: false, heading: line };
}

/** A paragraph with its Markdown syntax escaped; undefined without text. */
export function paragraphBlock(text: string): Block | undefined {
  const lines = escapeLines(tidy(text));
  return lines === "" ? undefined : { text: lines, isItem: false };
}

/** A list item, `depth` (from 0) levels deep, after its mark; undefined without text. */
export function itemBlock(text: string, depth: number, mark = "-"): Block | undefined {
  const lines = escapeLines(tidy(text));
  const indent = "  ".repeat(Math.min(8, depth));
  const rest = indent + " ".repeat(mark.length + 1);
  return lines === ""
    ? undefined
    : { text: `${indent}${mark} ${lines.replaceAll("\n", `\n${rest}`)}`, isItem: true };
}

/** A table: one line per row, cells separated by ` | `; undefined without text. */
export function tableBlock(rows: readonly string[][]): Block | undefined {
  const lines = rows.map((cells) =>
    cells.map((cell) => cleanText(cell).replace(/\s+/g, " ").trim().replaceAll("|", "\\|")),
  );
  const kept = lines.filter((cells) => cells.some((cell) => cell !== ""));
  const text = kept.map((cells) => escapeLines(cells.join(" | ").trim())).join("\n");
  return text === "" ? undefined : { text, isItem: false };
}

/** Joins blocks with a blank line between them, but without one between items of a list. */
export function joinBlocks(blocks: readonly Block[]): string {
  const parts: string[] = [];
  for (const [index, block] of blocks.entries()) {
    if (index > 0) parts.push(block.isItem && blocks[index - 1]?.isItem ? "\n" : "\n\n");
    parts.push(block.text);
  }
  return parts.length === 0 ? "" : `${parts.join("")}\n`;
}
