import type { Surroundings } from "../../../reader.ts";
import { sectionOf } from "../starts.ts";
import { substitute, type Attributes } from "../source/attributes.ts";

// Each page is read for its title, and counts as included: less than real includes may take.
const mostPages = 100;
const mostChars = 4 * 1024 * 1024;
const mostLines = 200;
const longestTitle = 300;

/** The document title: only comments and attributes stand above it. */
function titleIn(text: string): string | undefined {
  for (const line of text.split("\n", mostLines)) {
    const found = sectionOf(line.trimEnd());
    if (found) return found.level === 1 ? found.text : undefined;
  }
  return undefined;
}

/** Reads the titles of other pages, as a reference without a text shows them. */
export function createTitles(
  path: string,
  { includes }: Surroundings,
  attributes: Attributes,
): (page: string) => string | undefined {
  const titles = new Map<string, string | undefined>();
  let chars = 0;
  return (page) => {
    const isPage = /\.(?:adoc|asciidoc|asc)$/.test(page);
    const isEnough = titles.size >= mostPages || chars >= mostChars;
    if (!isPage || titles.has(page) || isEnough) return titles.get(page);
    const found = includes.read(`/${page}`, [path]);
    if ("text" in found) chars += found.text.length;
    const title = "text" in found ? titleIn(found.text) : undefined;
    const shown = title === undefined ? "" : substitute(attributes, title);
    titles.set(page, shown === "" || shown.length > longestTitle ? undefined : shown);
    return titles.get(page);
  };
}
