import type { LintPage, Span } from "../rule.ts";
import { removeIgnored, type RemovedLines } from "../../../documents/text/left-out.ts";
import { oncePerPage } from "../page/body.ts";
import {
  findLinks,
  type FoundLink,
  relativeLinks,
  type RelativeLink,
} from "../../../documents/map/links/rewrite-links.ts";
import type { LinkingFile } from "../../../documents/map/links/resolve-link.ts";
import { targetsFor } from "../../../documents/map/links/targets.ts";
import { effectiveFor } from "../../../documents/map/effective.ts";
import { isNamedByFile } from "../folder.ts";
import { createFindReference, isAdoc } from "./anchors.ts";

/** The body of a page as an upload reads it, and where its text is in the file. */
interface PageBody {
  text: string;
  /**
   * The place of `text.slice(start, end)` in the file; undefined if it is not there, for example
   * because it comes from an included file. `start` must grow from call to call.
   */
  spanOf(start: number, end: number): Span | undefined;
}

// Each failed search reads the whole file.
const mostFailures = 200;

const beforeAddress = /[("'<=]/;
const inAddress = /[\p{L}\p{N}/._-]/u;

/** Finds an address that is not part of a longer one; `isMarked` wants a mark of a link before it. */
function findWhole(source: string, text: string, from: number, isMarked: boolean): number {
  for (let at = source.indexOf(text, from); at !== -1; at = source.indexOf(text, at + 1)) {
    const before = source[at - 1] ?? "";
    const isApart = isMarked ? beforeAddress.test(before) : !inAddress.test(before);
    if (isApart && !inAddress.test(source[at + text.length] ?? "")) return at;
  }
  return -1;
}

/** For bodies that a reader made of the file: finds the same text, from the last place on. */
function createSearch(source: string, first: number): (text: string) => Span | undefined {
  let last = first;
  let failures = 0;
  return (text) => {
    if (text === "" || failures >= mostFailures) return undefined;
    let start = -1;
    for (const isMarked of [true, false]) {
      for (const from of new Set([last, first])) {
        if (start === -1) start = findWhole(source, text, from, isMarked);
        if (start === -1) failures++;
      }
    }
    if (start === -1) return undefined;
    last = start;
    return { start, end: start + text.length };
  };
}

/** Offset of a line (from 1) in a text. */
function lineStart(text: string, line: number): number {
  let start = 0;
  for (let count = 1; count < line; count++) start = text.indexOf("\n", start) + 1;
  return start;
}

interface Body {
  text: string;
  removed: RemovedLines[];
}

const readBody = oncePerPage(({ parsed, path }): Body => {
  const removed: RemovedLines[] = [];
  return { text: removeIgnored(parsed.body, path, parsed.bodyLine, removed), removed };
});

/** Whether the body is the end of the file, below the front matter, but for what was removed. */
export const isTail = oncePerPage(
  ({ source = "", parsed: { body, removed } }) =>
    body !== "" && (removed !== undefined || source.endsWith(body)),
);

/** The body of a page with text. Throws CliError `usage` for an ignore region that is never closed. */
export function pageBody(page: LintPage): PageBody {
  const { text, removed } = readBody(page);
  const { source = "", parsed } = page;
  if (!isTail(page)) {
    let search: ReturnType<typeof createSearch> | undefined;
    return {
      text,
      spanOf(start, end) {
        search ??= createSearch(source, lineStart(source, parsed.bodyLine));
        return search(text.slice(start, end));
      },
    };
  }
  const { removed: hidden = [] } = parsed;
  let shift = source.length - parsed.body.length;
  for (const { length } of hidden) shift -= length;
  let [ignored, next, nextHidden] = [0, 0, 0];
  return {
    text,
    spanOf(start, end) {
      for (let each = removed[next]; each && each.at <= start; each = removed[++next]) {
        shift += each.length;
        ignored += each.length;
      }
      for (let each = hidden[nextHidden]; each && each.at <= start + ignored;) {
        shift += each.length;
        each = hidden[++nextHidden];
      }
      return { start: start + shift, end: end + shift };
    },
  };
}

/** Whether rules read the links of a page: those of a file that is sent as Markdown. */
export const hasLinks = ({ parsed, part, skipped }: LintPage): boolean =>
  part === 0 && parsed.isMarkdown && !parsed.pages && skipped === undefined;

/** The page as documents/links knows it. */
function linkingFile({ path, settings }: LintPage): LinkingFile {
  const style = effectiveFor(path, settings).linkStyle?.value;
  return { path, style, targets: targetsFor(settings), note: () => {} };
}

/** The links of a page, each list in the order of the text. */
interface PageLinks {
  relative: readonly RelativeLink[];
  /** To a place in the page itself. */
  own: readonly FoundLink[];
}

/** The links of the body of a page, see pageBody(). */
export const linksOf = oncePerPage((page): PageLinks => {
  const found = findLinks(pageBody(page).text);
  const own = found.filter(({ target }) => target.startsWith("#"));
  return { relative: [...relativeLinks(found, linkingFile(page))], own };
});

/** An address for a message. Not truncated: redaction could not recognise a truncated key. */
export const shownAddress = (address: string): string =>
  address.length > 120 ? `an address of ${address.length} characters` : address;

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
