import type { LeftOut, Parsed, Surroundings } from "../../reader.ts";
import { removeHidden } from "../../../hidden/markdown.ts";
import { createLeftOutLog } from "../../left-out.ts";
import { splitFrontMatter, type SplitText } from "../../../front-matter/front-matter.ts";
import { createCodeTest } from "../../../markdown/code.ts";
import { toMarkdown } from "../mdx/mdx.ts";
import { readBlocks } from "./blocks.ts";
import { expandMarkdown } from "./expand.ts";
import { marksOf } from "./marks.ts";

// A search of the whole text would cost something on all pages. Imports stand at the top.
const headChars = 2000;
const importLine = /^import\s[^\n]*?\sfrom\s+["'][^"'\n]+["'];?[ \t]*$/gm;

/** Docusaurus reads its `.md` files as MDX: such a file begins with imports. */
function isMdx(body: string): boolean {
  const head = body.slice(0, headChars);
  // A line break is rare and found by memchr. A search for "import " stops at every "i".
  if (!head.startsWith("import ") && !head.includes("\nimpor")) return false;
  const isCode = createCodeTest(head);
  return [...head.matchAll(importLine)].some(({ index }) => !isCode(index));
}

/** The Markdown of a body, before hidden text is removed. */
function expand(
  { body, bodyLine }: SplitText,
  path: string,
  around: Surroundings,
): { text: string; leftOut: LeftOut[] } {
  const { expands, hasBlocks } = marksOf(body);
  if (!expands) return { text: hasBlocks ? readBlocks(body) : body, leftOut: [] };
  const { text, log } = expandMarkdown(body, bodyLine, path, around);
  // Included files can have other marks than the page.
  return { text: marksOf(text).hasBlocks ? readBlocks(text) : text, leftOut: log.entries };
}

/**
 * Markdown: front matter and body, with includes, shortcodes and admonitions of site generators as
 * plain Markdown, without what no reader of the page sees. Throws CliError `usage` with
 * `path:line:column`.
 */
export function readMarkdown(text: string, path: string, around: Surroundings): Parsed {
  const split = splitFrontMatter(text, path);
  const { frontMatter, body, bodyLine, warnings } = split;
  if (isMdx(body)) return toMarkdown(split, path, around);
  const { text: expanded, leftOut } = expand(split, path, around);
  const parsed: Parsed = { frontMatter, body: expanded, bodyLine, isMarkdown: true, warnings };
  if (!around.keepsHidden) {
    // The lines of a body that was expanded are not those of the file.
    const isAsWritten = expanded === body;
    const log = createLeftOutLog(expanded, isAsWritten ? bodyLine : undefined, leftOut);
    const visible = removeHidden(expanded, log);
    parsed.body = visible.text;
    if (isAsWritten && visible.removed.length > 0) parsed.removed = visible.removed;
  }
  if (leftOut.length > 0) parsed.leftOut = leftOut;
  return parsed;
}
