// Reads the pages of a built site: where a generator ran, its pages are what readers see.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readPages } from "./readers.js";

/** Base of the links of documents, so that relative ones count. */
export const siteBase = "https://site.invalid/";

const linkOf = ({ sections }) => {
  const link = sections.find((section) => section.link?.startsWith(siteBase))?.link;
  return link === undefined ? undefined : decodeURIComponent(new URL(link).pathname);
};

/** The file of the page that a document's link leads to; undefined for none. */
function pageOf(site, document) {
  const path = linkOf(document);
  if (path === undefined) return undefined;
  const places = [path, join(path, "index.html"), `${path.replace(/\/$/, "")}.html`];
  return places
    .map((each) => join(site, each))
    .find((each) => existsSync(each) && statSync(each).isFile());
}

/** A reader of documents by the page of each; it decides alone. `main` names the element of the text, e.g. `article`. */
export const siteReader = (site, main) => ({
  name: "site",
  decides: true,
  formats: ["md", "mdx", "rst", "adoc", "html", "ipynb", "qmd"],
  async *read(_root, files) {
    const pages = new Map();
    for (const { path, document } of files) {
      const page = pageOf(site, document);
      if (page === undefined) {
        yield { path, problem: `no page for ${linkOf(document) ?? "a document without a link"}` };
      } else pages.set(page, path);
    }
    const wanted = [...pages.keys()].map((page) => [page, "html"]);
    for await (const page of readPages("python", site, wanted, main)) {
      yield { ...page, path: pages.get(page.path) };
    }
  },
});

/** How many sections lead to a place in the page, and the places that the page lacks. */
export function anchorsOf(site, document) {
  const page = readFileSync(pageOf(site, document), "utf8");
  const ids = new Set(
    [...page.matchAll(/\s(?:id|name)\s*=\s*["']?([^"'\s>]+)/g)].map(([, id]) => id),
  );
  const links = document.sections.map(({ link = "" }) => link).filter((link) => link.includes("#"));
  const places = links.map((link) => decodeURIComponent(link.slice(link.indexOf("#") + 1)));
  return { all: places.length, wrong: places.filter((place) => !ids.has(place)) };
}
