import { isNamedByFile } from "../folder/own-title.ts";
import type { LintPage, Span } from "../rule.ts";
import { createFindReference } from "./adoc-anchors.ts";
import { isAdoc } from "./anchor-sources.ts";
import { pageBody } from "./page-body.ts";
import { linksOf } from "./page-links.ts";

/** A link to a place in a document. */
export interface AnchorLink {
  path: string;
  anchor: string;
  span?: Span | undefined;
}

interface Found {
  path: string;
  anchor: string;
  start: number;
  end: number;
}

// Text fragments, routes of programs, lines of code, footnotes, pages of a PDF, and what themes add.
const notOfPage =
  /^(?:$|[!/:?]|_?top$|L\d+|(?:user-content-)?fn(?:ref)?[-:_\d]|cite[-_]|__|tabs?[-_/]|.*[=&{}]|.*:~:)/i;
const longest = 500;
// A program writes the text, and then the target as well: `<a href="#fig-1"></a>`.
const emptyElement = /^[^<>]*>\s*<\/a>/;

/**
 * Returns whether a link of a page is in the table of contributors, whose marks are comments of the
 * file. Programs write it, with an address of its own for each kind of contribution. Links must come
 * in order.
 */
function createIsOfPeople(page: LintPage): (start: number, end: number) => boolean {
  const { source = "" } = page;
  const from = source.indexOf("<!-- ALL-CONTRIBUTORS-LIST:START");
  const to = from === -1 ? -1 : source.indexOf("ALL-CONTRIBUTORS-LIST:END", from);
  if (to === -1) return () => false;
  const { spanOf } = pageBody(page);
  return (start, end) => {
    const span = spanOf(start, end);
    return span !== undefined && span.start >= from && span.end <= to;
  };
}

/** Returns a function that finds the place of a link in the file. Links must come in order. */
function createPlaces(page: LintPage): (link: Found) => Span | undefined {
  const { spanOf } = pageBody(page);
  if (!isAdoc(page)) return ({ start, end }) => spanOf(start, end);
  const find = createFindReference(page.source ?? "");
  return ({ anchor }) => find(anchor);
}

/** The links of a page to places in documents, without those that are right. */
export function anchorLinks(
  page: LintPage,
  isRight: (path: string, anchor: string) => boolean,
): AnchorLink[] {
  const { text } = pageBody(page);
  const found: Found[] = [];
  const add = (path: string | undefined, suffix: string, start: number, end: number): void => {
    const hash = suffix.indexOf("#");
    const anchor = suffix.slice(hash + 1);
    if (hash === -1 || path === undefined || anchor.length > longest) return;
    if (notOfPage.test(anchor) || isRight(path, anchor)) return;
    found.push({ path, anchor, start, end });
  };
  const { relative, own } = linksOf(page);
  for (const { resolved, suffix, start, end } of relative) {
    if (resolved.kind === "document") add(resolved.target.path, suffix, start, end);
  }
  // A page without a title may be a part of another one, whose headings count.
  const isWhole = own.length > 0 && !isNamedByFile(page);
  const isOfPeople = createIsOfPeople(page);
  for (const { target, start, end, isAttribute } of isWhole ? own : []) {
    if (isOfPeople(start, end)) continue;
    if (isAttribute && emptyElement.test(text.slice(end, end + 200))) continue;
    add(page.path, target, start, end);
  }
  if (found.length === 0) return [];
  found.sort((one, other) => one.start - other.start);
  const placeOf = createPlaces(page);
  return found.map((link) => ({ path: link.path, anchor: link.anchor, span: placeOf(link) }));
}
