import { nearest } from "../../../../nearest.ts";
import { findLinks } from "../../../../documents/links/find-links.ts";
import type { FolderRule, LintPage, PageFact, Span } from "../../rule.ts";
import { anchorsOf, comparableAnchor } from "../../links/anchors.ts";
import { pageBody } from "../../links/page-body.ts";
import { hasLinks, linksOf, shownAddress } from "../../links/page-links.ts";

/** A link to a place in a document. */
interface AnchorLink {
  path: string;
  anchor: string;
  span?: Span | undefined;
}

interface AnchorFact {
  /** Comparable, one a line; undefined if they cannot be known. */
  anchors?: string | undefined;
  links?: AnchorLink[] | undefined;
}

// Text fragments, routes of programs, lines of code, footnotes, pages of a PDF, and what themes add.
const notOfPage = /^(?:$|[!/:?]|top$|_?top$|L\d+|fn|cite|__|page=|tab|.*[=&{}]|.*:~:)/i;
const longest = 500;
// Comparing a name with very many others takes long.
const [mostNames, mostSuggestions] = [300, 1000];

// Programs write this table, with an address of its own for each kind of contribution.
const listOfPeople = /<!-- ALL-CONTRIBUTORS-LIST:START[^]*?ALL-CONTRIBUTORS-LIST:END/;

function rangeOfPeople(text: string): readonly [number, number] {
  const found = text.includes("ALL-CONTRIBUTORS-LIST:START") ? listOfPeople.exec(text) : null;
  return found ? [found.index, found.index + found[0].length] : [0, 0];
}

function* anchorLinks(page: LintPage): Generator<AnchorLink> {
  const { text, spanOf } = pageBody(page);
  const found: (AnchorLink & { start: number; end: number })[] = [];
  const add = (path: string | undefined, suffix: string, start: number, end: number): void => {
    const hash = suffix.indexOf("#");
    const anchor = suffix.slice(hash + 1);
    if (hash === -1 || path === undefined || anchor.length > longest) return;
    if (notOfPage.test(anchor)) return;
    found.push({ path, anchor, start, end });
  };
  for (const { resolved, suffix, start, end } of linksOf(page, text)) {
    if (resolved.kind === "document") add(resolved.target.path, suffix, start, end);
  }
  const [from, to] = rangeOfPeople(text);
  for (const { target, start, end } of findLinks(text)) {
    const isOfPeople = start >= from && end <= to;
    if (target.startsWith("#") && !isOfPeople) add(page.path, target, start, end);
  }
  for (const { path, anchor, start, end } of found.toSorted((a, b) => a.start - b.start)) {
    yield { path, anchor, span: spanOf(start, end) };
  }
}

function collect(page: LintPage): AnchorFact | undefined {
  if (!hasLinks(page)) return undefined;
  const known = anchorsOf(page);
  const anchors = known && [...known].join("\n");
  const isLinking = page.parsed.body.includes("#");
  const links = isLinking ? [...anchorLinks(page)] : [];
  return { anchors, links: links.length > 0 ? links : undefined };
}

const isIn = (anchors: ReadonlySet<string>, anchor: string): boolean => {
  const comparable = comparableAnchor(anchor);
  if (comparable === "" || anchors.has(comparable)) return true;
  // The number of a repeated heading.
  const [, stem] = /^(.+?)-?\d+$/.exec(comparable) ?? [];
  return stem !== undefined && anchors.has(`${stem}-#`);
};

/** Returns the anchors of a document, if they are known; reads each list once. */
function createAnchors(facts: readonly PageFact<AnchorFact>[]) {
  const texts = new Map(facts.map(({ path, fact }) => [path, fact.anchors]));
  const sets = new Map<string, ReadonlySet<string>>();
  return (path: string): ReadonlySet<string> | undefined => {
    const text = texts.get(path);
    if (text === undefined) return undefined;
    let set = sets.get(path);
    if (!set) sets.set(path, (set = new Set(text.split("\n"))));
    return set;
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
    const anchorsAt = createAnchors(facts);
    let suggestions = 0;
    for (const { path, part, fact } of facts) {
      for (const { path: to, anchor, span } of fact.links ?? []) {
        const anchors = anchorsAt(to);
        if (!anchors || isIn(anchors, anchor)) continue;
        const mayCompare = anchors.size <= mostNames && suggestions++ < mostSuggestions;
        const similar = mayCompare ? nearest(anchor.slice(0, 64), [...anchors]) : undefined;
        const where = to === path ? "the page" : to;
        const hint = similar === undefined ? "" : `; similar: ${similar}`;
        yield {
          path,
          part,
          span,
          message: `${where} has no anchor #${shownAddress(anchor)}${hint}`,
        };
      }
    }
  },
};
