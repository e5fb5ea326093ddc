import type { Parsed } from "../../reader.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";

/** Markdown: front matter and body. Throws CliError `usage` with `path:line:column`. */
export function readMarkdown(text: string, path: string): Parsed {
  const { frontMatter, body, bodyLine, warnings } = splitFrontMatter(text, path);
  return { frontMatter, body, bodyLine, isMarkdown: true, warnings };
}
