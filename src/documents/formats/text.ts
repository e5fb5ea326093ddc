import type { Parsed } from "./format.ts";

/** Plain text: everything is body, without any syntax. */
export function readText(text: string): Parsed {
  return { frontMatter: undefined, body: text, bodyLine: 1, isMarkdown: false, warnings: [] };
}
