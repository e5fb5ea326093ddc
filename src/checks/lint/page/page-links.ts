import type { LintPage, Span } from "../rule.ts";
import { bodyOf, oncePerPage } from "./body.ts";
import { createFindSpan } from "./spans.ts";
import {
  type FoundLink,
  linksIn,
  relativeLinks,
  type RelativeLink,
} from "../../../documents/map/links/rewrite-links.ts";
import { linkingFile } from "../../../documents/map/links/linking-file.ts";
import { formatOf, formats } from "../../../documents/formats/formats.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { isNamedByFile } from "../folder.ts";
import type { Reference } from "../../../documents/formats/format.ts";

/** Whether rules read the links of a page: those of a file that is sent as Markdown. */
export const hasLinks = ({ parsed, part, skipped }: LintPage): boolean =>
  part === 0 && parsed.isMarkdown && !parsed.pages && skipped === undefined;

/** The links of a page, each list in the order of the text. */
interface PageLinks {
  relative: readonly RelativeLink[];
  /** To a place in the page itself. */
  own: readonly FoundLink[];
}

/** The links of the body of a page. */
export const linksOf = oncePerPage((page): PageLinks => {
  const file = linkingFile(page.path, page.settings, () => {});
  const found = linksIn(bodyOf(page).text, file);
  const own = found.filter(({ target }) => target.startsWith("#"));
  return { relative: [...relativeLinks(found, file)], own };
});

/**
 * Whether links may name anything of the project and beyond: `#name` and `[](name)` find labels of all
 * pages, and objects of programs (myst-parser.readthedocs.io, "Cross-references").
 */
export function isOfMyst({ path, settings }: LintPage): boolean {
  if (formatOf(path, settings.format) !== formats.markdown) return false;
  return /^(?:sphinx|myst|jupyterbook)$/.test(siteOf(path, settings)?.generator ?? "");
}

// developer.lightbend.com/docs/paradox: `@scaladoc[Future](scala.concurrent.Future)` and `@github[#1](#1)`
// for what a program documents or a host has; `{ scala="#items[T](List)" }`; the text of such a reference.
const objects = [
  /@(?!ref\b|link\b)[a-z]\w*:?\[(?:[^[\]\n]|\[[^[\]\n]*\])*\]\(<?$/,
  /[{<][^{}<>\n]{0,200}="[^"\n]*$/,
  /@(?!ref\b|link\b)[a-z]\w*:?\[[^\]\n]*(?:\[[^[\]\n]*\])\($/,
];

/** Whether the address at an offset of a text is the name of something else than a file or a place. */
export function namesObject(text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 300), at);
  return objects.some((each) => each.test(before));
}

/** A link to a place in a document. */
export interface AnchorLink {
  path: string;
  anchor: string;
  span?: Span | undefined;
  part?: string | undefined;
}

interface Found extends FoundLink {
  path: string;
  anchor: string;
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
  const find = createFindSpan(page);
  return (start, end) => {
    const span = find(start, end);
    return span !== undefined && span.start >= from && span.end <= to;
  };
}

/** A link as its author wrote it. */
export interface WrittenLink {
  /** For a message. */
  written: string;
  span: Span | undefined;
  /** The included file with the link; undefined for the page itself. */
  part: string | undefined;
}

/** The line of a page that names an included file; of one that another part includes, nothing. */
function includeOf({ source = "" }: LintPage, part: string): Span | undefined {
  const name = part.slice(part.lastIndexOf("/") + 1).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const found = new RegExp(`^include::.*${name}\\[.*$`, "m").exec(source);
  return found ? { start: found.index, end: found.index + found[0].length } : undefined;
}

/** Returns a function that finds links of the body in the file; links must come in order. */
export function createFindLink(page: LintPage): (link: FoundLink) => WrittenLink {
  const find = createFindSpan(page);
  const { text } = bodyOf(page);
  const byAddress = new Map<string, Reference[]>();
  for (const each of page.parsed.references ?? []) {
    const known = byAddress.get(each.address);
    if (known) known.push(each);
    else byAddress.set(each.address, [each]);
  }
  return ({ start, end, target }) => {
    const same = byAddress.get(target);
    const reference = same && (same.length > 1 ? same.shift() : same[0]);
    const own = [text.slice(start, end), target, target.slice(target.indexOf("#") + 1)];
    const { written = own, part } = reference ?? {};
    const span = part === undefined ? find(start, end, written) : includeOf(page, part);
    const found = span && written.find((each) => each === page.source?.slice(span.start, span.end));
    return { written: reference ? (found ?? written[0] ?? target) : target, span, part };
  };
}

/** The links of a page to places in documents, without those that are right. */
export function anchorLinks(
  page: LintPage,
  isRight: (path: string, anchor: string) => boolean,
): AnchorLink[] {
  const { text } = bodyOf(page);
  const found: Found[] = [];
  const add = (path: string | undefined, suffix: string, link: FoundLink): void => {
    const hash = suffix.indexOf("#");
    const anchor = suffix.slice(hash + 1);
    if (hash === -1 || path === undefined || anchor.length > longest) return;
    if (notOfPage.test(anchor) || isRight(path, anchor)) return;
    found.push({ ...link, path, anchor });
  };
  const { relative, own } = linksOf(page);
  for (const link of relative) {
    const { resolved, suffix } = link;
    if (resolved.kind === "document") add(resolved.target.path, suffix, link);
  }
  // A page without a title may be a part of another one, whose headings count.
  const isWhole = own.length > 0 && !isNamedByFile(page) && !isOfMyst(page);
  const isOfPeople = createIsOfPeople(page);
  for (const link of isWhole ? own : []) {
    const { target, start, end, isAttribute } = link;
    if (isOfPeople(start, end) || (!isAttribute && namesObject(text, start))) continue;
    if (isAttribute && emptyElement.test(text.slice(end, end + 200))) continue;
    add(page.path, target, link);
  }
  if (found.length === 0) return [];
  found.sort((one, other) => one.start - other.start);
  const findLink = createFindLink(page);
  return found.map((link) => {
    const { span, part } = findLink(link);
    return { path: link.path, anchor: link.anchor, span, part };
  });
}
