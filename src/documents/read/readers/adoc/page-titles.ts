import { CliError } from "../../../../errors.ts";
import type { Surroundings } from "../../reader.ts";

// Each page is read for its title, and counts as included: less than real includes may take.
const mostPages = 100;
const mostChars = 4 * 1024 * 1024;
const mostLines = 200;
const longestTitle = 300;

/** The document title: only comments and attributes stand above it. */
function titleIn(text: string): string | undefined {
  for (const line of text.split("\n", mostLines)) {
    const [, marks, title] = /^(={1,6}|#{1,6})[ \t]+(\S.*)$/.exec(line.trimEnd()) ?? [];
    if (marks !== undefined) return marks.length === 1 ? title : undefined;
  }
  return undefined;
}

/** The text of another page; undefined if it cannot be read: that fails the other page alone. */
function textOf({ includes }: Surroundings, page: string, path: string): string | undefined {
  try {
    const found = includes.read(`/${page}`, [path]);
    return "text" in found ? found.text : undefined;
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** Reads the titles of other pages, as a reference without a text shows them. */
export function createTitles(
  path: string,
  around: Surroundings,
): (page: string) => string | undefined {
  const titles = new Map<string, string | undefined>();
  let chars = 0;
  return (page) => {
    const isPage = /\.(?:adoc|asciidoc|asc)$/.test(page);
    const isEnough = titles.size >= mostPages || chars >= mostChars;
    if (!isPage || titles.has(page) || isEnough) return titles.get(page);
    const text = textOf(around, page, path) ?? "";
    chars += text.length;
    const title = titleIn(text);
    titles.set(page, title === undefined || title.length > longestTitle ? undefined : title);
    return titles.get(page);
  };
}
