import { readMarkdown } from "./readers/markdown.ts";
import { readText } from "./readers/text.ts";
import type { FrontMatter } from "./front-matter.ts";

/** What a reader makes of the text of one file. */
export interface Parsed {
  frontMatter: FrontMatter | undefined;
  body: string;
  /** Line of the file (from 1) on which the body begins. */
  bodyLine: number;
  /** Whether headings, fences and ignore regions in the body mean something. */
  isMarkdown: boolean;
  warnings: readonly string[];
}

/** `path` is for messages. Throws CliError `usage` with `path:line:column`. */
export type Reader = (text: string, path: string) => Parsed;

/** By extension, lower case. A new format is one file in readers/ and one line here. */
const readers: Readonly<Record<string, Reader>> = {
  md: readMarkdown,
  markdown: readMarkdown,
  txt: readText,
};

const readersByExtension = new Map(Object.entries(readers));

/** For messages: the extension with its dot, or that there is none. */
export function formatOf(path: string): string {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") + 1 ? path.slice(dot) : "no extension";
}

/** The reader for a path by its extension, without regard to case. */
export function readerFor(path: string): Reader | undefined {
  const dot = path.lastIndexOf(".");
  if (dot <= path.lastIndexOf("/") + 1) return undefined;
  const extension = path.slice(dot + 1);
  return readersByExtension.get(extension) ?? readersByExtension.get(extension.toLowerCase());
}
