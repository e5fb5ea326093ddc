import type { Surroundings } from "../../../reader.ts";
import { sectionOf } from "../starts.ts";
import { substitute, type Attributes } from "../source/attributes.ts";

// Each page is read for its title.
const mostPages = 100;
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
  return (page) => {
    const isPage = /\.(?:adoc|asciidoc|asc)$/.test(page);
    if (!isPage || titles.has(page) || titles.size >= mostPages) return titles.get(page);
    const found = includes.read(`/${page}`, [path]);
    const title = "text" in found ? titleIn(found.text) : undefined;
    const shown = title === undefined ? "" : substitute(attributes, title);
    titles.set(page, shown === "" || shown.length > longestTitle ? undefined : shown);
    return titles.get(page);
  };
}
