import type { Parsed, Surroundings } from "../../reader.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
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

/**
 * Markdown: front matter and body, with includes, shortcodes and admonitions of site generators as
 * plain Markdown. Throws CliError `usage` with `path:line:column`.
 */
export function readMarkdown(text: string, path: string, around: Surroundings): Parsed {
  const split = splitFrontMatter(text, path);
  const { frontMatter, body, bodyLine, warnings } = split;
  if (isMdx(body)) return toMarkdown(split, path, around);
  const { expands, hasBlocks } = marksOf(body);
  if (!expands) {
    const plain = hasBlocks ? readBlocks(body) : body;
    return { frontMatter, body: plain, bodyLine, isMarkdown: true, warnings };
  }
  const { text: expanded, log } = expandMarkdown(body, bodyLine, path, around);
  // Included files can have other marks than the page.
  const plain = marksOf(expanded).hasBlocks ? readBlocks(expanded) : expanded;
  return { frontMatter, body: plain, bodyLine, isMarkdown: true, warnings, leftOut: log.entries };
}
