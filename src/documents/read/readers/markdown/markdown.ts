import type { Parsed, Surroundings } from "../../reader.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
import { readBlocks } from "./blocks.ts";
import { expandMarkdown } from "./expand.ts";
import { marksOf } from "./marks.ts";

/**
 * Markdown: front matter and body, with includes, shortcodes and admonitions of site generators as
 * plain Markdown. Throws CliError `usage` with `path:line:column`.
 */
export function readMarkdown(text: string, path: string, around: Surroundings): Parsed {
  const { frontMatter, body, bodyLine, warnings } = splitFrontMatter(text, path);
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
