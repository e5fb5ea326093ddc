import { isNamedByFile } from "../../folder/own-title.ts";
import { nearest } from "../../../../nearest.ts";
import type { FolderRule, LintPage, PageFacts, Span } from "../../rule.ts";
import { anchorSources, type AnchorSources } from "../../links/anchor-sources.ts";
import { createAnchorCheck, createAnchors, type Anchors } from "../../links/anchors.ts";
import { pageBody } from "../../links/page-body.ts";
import { hasLinks, linksOf, shownAddress } from "../../links/page-links.ts";
import { createNumbersByHash, hashText } from "../../store/numbers-by-hash.ts";

/** A link to a place in a document. */
interface AnchorLink {
  path: string;
  anchor: string;
  span?: Span | undefined;
}

interface AnchorFact {
  /** Undefined if they cannot be known. */
  sources?: AnchorSources | undefined;
  links?: AnchorLink[] | undefined;
}

// Text fragments, routes of programs, lines of code, footnotes, pages of a PDF, and what themes add.
const notOfPage =
  /^(?:$|[!/:?]|_?top$|L\d+|(?:user-content-)?fn(?:ref)?[-:_\d]|cite[-_]|__|tabs?[-_/]|.*[=&{}]|.*:~:)/i;
const longest = 500;
// Comparing a name with very many others takes long.
const [mostNames, mostSuggestions] = [300, 1000];

// A program writes the text, and then the target as well: `<a href="#fig-1"></a>`.
const emptyElement = /^[^<>]*>\s*<\/a>/;

// Programs write this table, with an address of its own for each kind of contribution.
function rangeOfPeople(text: string): readonly [number, number] {
  const start = text.indexOf("<!-- ALL-CONTRIBUTORS-LIST:START");
  const end = start === -1 ? -1 : text.indexOf("ALL-CONTRIBUTORS-LIST:END", start);
  return end === -1 ? [0, 0] : [start, end];
}

function anchorLinks(page: LintPage): AnchorLink[] {
  const { text, spanOf } = pageBody(page);
  const found: { path: string; anchor: string; start: number; end: number }[] = [];
  const add = (path: string | undefined, suffix: string, start: number, end: number): void => {
    const hash = suffix.indexOf("#");
    const anchor = suffix.slice(hash + 1);
    if (hash === -1 || path === undefined || anchor.length > longest) return;
    if (!notOfPage.test(anchor)) found.push({ path, anchor, start, end });
  };
  const { relative, own } = linksOf(page);
  for (const { resolved, suffix, start, end } of relative) {
    if (resolved.kind === "document") add(resolved.target.path, suffix, start, end);
  }
  // A page without a title may be a part of another one, whose headings count.
  const isWhole = own.length > 0 && !isNamedByFile(page);
  const [from, to] = rangeOfPeople(text);
  for (const { target, start, end, isAttribute } of isWhole ? own : []) {
    if (start >= from && end <= to) continue;
    if (isAttribute && emptyElement.test(text.slice(end, end + 200))) continue;
    add(page.path, target, start, end);
  }
  found.sort((one, other) => one.start - other.start);
  return found.map(({ path, anchor, start, end }) => ({ path, anchor, span: spanOf(start, end) }));
}

function collect(page: LintPage): AnchorFact | undefined {
  if (!hasLinks(page)) return undefined;
  const sources = anchorSources(page);
  const all = page.parsed.body.includes("#") ? anchorLinks(page) : [];
  // Most links lead to a place in the same page: only those that are wrong are compared.
  let isOwn: ((anchor: string) => boolean) | undefined;
  const isRight = ({ path, anchor }: AnchorLink): boolean =>
    path === page.path && (!sources || (isOwn ??= createAnchorCheck(sources))(anchor));
  const links = all.filter((link) => !isRight(link));
  return { sources, links: links.length > 0 ? links : undefined };
}

type Facts = PageFacts<AnchorFact>;

/** Returns the anchors of a document, if they are known. It keeps those that something links to. */
function anchorsIn(facts: Facts): (path: string) => Anchors | undefined {
  const places = createNumbersByHash();
  for (const { path, place } of facts.pages()) places.add(hashText(path), place);
  const placeOf = (path: string): number | undefined => {
    for (const place of places.of(hashText(path))) {
      if (facts.at(place).path === path) return place;
    }
    return undefined;
  };
  const known = new Map<string, Anchors | undefined>();
  return (path) => {
    if (known.has(path)) return known.get(path);
    const place = placeOf(path);
    const read = (): AnchorSources | undefined =>
      place === undefined ? undefined : facts.at(place).fact.sources;
    const anchors = createAnchors(read);
    known.set(path, anchors);
    return anchors;
  };
}

/** A link to a heading that does not exist. */
export const missingAnchor: FolderRule<AnchorFact> = {
  kind: "folder",
  name: "missing-anchor",
  group: "links",
  severity: "warning",
  summary: "A link leads to a heading or id that does not exist",
  advice:
    "A browser opens the top of the page, and the reader of a citation looks for the place in vain. " +
    "Correct the part after `#`, or give the heading this id. The rule knows the anchors of GitHub and of " +
    "the usual site generators, and ignores pages whose anchors a program makes.",
  bad: "<!-- file: leave.md -->\n# Leave\n\nSee [who approves](travel.md#aproval).\n\n<!-- file: travel.md -->\n# Travel\n\n## Approval\n\nThe team lead approves trips.\n",
  good: "<!-- file: leave.md -->\n# Leave\n\nSee [who approves](travel.md#approval).\n\n<!-- file: travel.md -->\n# Travel\n\n## Approval\n\nThe team lead approves trips.\n",
  collect,
  *compare(facts) {
    const anchorsAt = anchorsIn(facts);
    let suggestions = 0;
    for (const { path, part, row, fact } of facts) {
      for (const { path: to, anchor, span } of fact.links ?? []) {
        const anchors = anchorsAt(to);
        if (!anchors || anchors.has(anchor)) continue;
        const names = suggestions++ < mostSuggestions ? anchors.first(mostNames) : [];
        const similar = nearest(anchor.slice(0, 64), names);
        const where = to === path ? "the page" : to;
        const hint = similar === undefined ? "" : `; similar: ${similar}`;
        yield {
          path,
          part,
          row,
          span,
          message: `${where} has no anchor #${shownAddress(anchor)}${hint}`,
        };
      }
    }
  },
};
