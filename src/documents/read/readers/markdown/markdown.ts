import type { Parsed, Surroundings } from "../../reader.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
import { readBlocks } from "./blocks.ts";
import { expandable, expandMarkdown } from "./expand.ts";

/**
 * Markdown: front matter and body, with includes, shortcodes and admonitions of site generators as
 * plain Markdown. Throws CliError `usage` with `path:line:column`.
 */
export function readMarkdown(text: string, path: string, around: Surroundings): Parsed {
  const { frontMatter, body, bodyLine, warnings } = splitFrontMatter(text, path);
  // Most pages have nothing of this: a search costs nearly nothing.
  if (!expandable.some((mark) => body.includes(mark))) {
    return { frontMatter, body: readBlocks(body), bodyLine, isMarkdown: true, warnings };
  }
  const { text: expanded, log } = expandMarkdown(body, bodyLine, path, around);
  const leftOut = log.entries;
  return { frontMatter, body: readBlocks(expanded), bodyLine, isMarkdown: true, warnings, leftOut };
}
