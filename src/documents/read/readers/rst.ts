import type { Parsed } from "../reader.ts";
import { splitFrontMatter } from "../../front-matter/front-matter.ts";

// A line of one repeated punctuation character (docutils, "reStructuredText Markup Specification",
// Sections). A line shorter than three is a warning there, and text here.
const adornment = /^([!-/:-@[-`{-~])\1{2,}$/;

/** Title as plain text: without literals, roles and substitution marks. */
function plain(title: string): string {
  return title
    .replace(/:[\w.+:-]+:`/g, "`")
    .replace(/`([^`<]*?)\s*<[^`>]*>`_{0,2}/g, "$1")
    .replace(/`+_{0,2}|\*{2}/g, "")
    .replace(/\\(.)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}

/** The first line that is underlined, with or without a line above it. */
function firstTitle(text: string): string | undefined {
  let before = "";
  let line = "";
  for (let start = 0; start < text.length;) {
    const next = text.indexOf("\n", start);
    const end = next === -1 ? text.length : next;
    // Nobody types a longer adornment: such a line is not checked.
    const bar = end - start > 1000 ? "" : text.slice(start, end).trimEnd();
    if (adornment.test(bar)) {
      const isOverlined = adornment.test(before) && before === bar;
      const isTitle = line.trim() !== "" && !adornment.test(line) && !/^\.\.(?:\s|$)/.test(line);
      // Without a line above, an indented line is a quotation or belongs to a list.
      const isFlush = !/^\s/.test(line) && (before === "" || isOverlined);
      const isLong = bar.length >= Math.min(4, line.trim().length);
      if (isTitle && isLong && (isOverlined || isFlush)) return plain(line);
    }
    before = line;
    line = bar;
    start = end + 1;
  }
  return undefined;
}

/**
 * Reads reStructuredText as text. The first section title becomes the title. Throws CliError
 * `usage` with `path:line:column` for broken front matter.
 */
export function readRst(text: string, path: string): Parsed {
  const split = splitFrontMatter(text, path);
  const title = firstTitle(split.body);
  return { ...split, isMarkdown: false, ...(title ? { title } : {}) };
}
