import { nearest } from "../../../../nearest.ts";
import type { FolderRule, LintPage, PageFacts } from "../../rule.ts";
import { anchorLinks, type AnchorLink } from "../../links/anchor-links.ts";
import {
  anchorSources,
  isAdoc,
  isAdocPath,
  type AnchorSources,
} from "../../links/anchor-sources.ts";
import {
  allAnchors,
  comparableAnchor,
  createAnchorCheck,
  createAnchors,
  type Anchors,
} from "../../links/anchors.ts";
import { hasLinks, shownAddress } from "../../links/page-links.ts";
import { missingTargets, type MissingTarget } from "../../links/rst-targets.ts";
import { createNumbersByHash, hashText } from "../../store/numbers-by-hash.ts";

interface AnchorFact {
  /** Undefined if they cannot be known. */
  sources?: AnchorSources | undefined;
  links?: AnchorLink[] | undefined;
  isAdoc?: true | undefined;
  targets?: MissingTarget[] | undefined;
}

// Comparing a name with very many others takes long.
const [mostNames, mostSuggestions] = [300, 1000];

function collect(page: LintPage): AnchorFact | undefined {
  if (!hasLinks(page)) return undefined;
  const sources = anchorSources(page);
  // Most links lead to a place in the same page: only those that are wrong are compared.
  let isOwn: ((anchor: string) => boolean) | undefined;
  const isRight = (path: string, anchor: string): boolean =>
    path === page.path && (!sources || (isOwn ??= createAnchorCheck(sources))(anchor));
  const links = page.parsed.body.includes("#") ? anchorLinks(page, isRight) : [];
  return {
    sources,
    links: links.length > 0 ? links : undefined,
    isAdoc: isAdoc(page) || undefined,
    targets: missingTargets(page),
  };
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

// Antora makes a page of each of these files: no book is made of several.
const antoraPage = /(?:^|\/)modules\/[^/]+\/pages\//;

/** Whether a link of AsciiDoc may find its place in another page, because a book includes both. */
const isInBook = (fact: AnchorFact, to: string): boolean =>
  fact.isAdoc === true && isAdocPath(to) && !antoraPage.test(to);

/**
 * Returns whether a chapter may find an anchor elsewhere in its book. Which pages make a book, only
 * its author knows: another page has the anchor, or lacks a text that can have it.
 */
function anchorsOfBooks(facts: Facts): (anchor: string) => boolean {
  let missing: Set<string> | undefined;
  const findMissing = (): Set<string> => {
    const found = new Set<string>();
    for (const { fact } of facts) {
      for (const link of fact.links ?? []) {
        if (isInBook(fact, link.path)) found.add(comparableAnchor(link.anchor));
      }
    }
    for (const { fact } of facts) {
      if (!fact.isAdoc) continue;
      if (!fact.sources) return new Set();
      for (const anchor of allAnchors(fact.sources)) found.delete(anchor);
    }
    return found;
  };
  return (anchor) => {
    if (!facts.isWhole) return true;
    missing ??= findMissing();
    return !missing.has(comparableAnchor(anchor));
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
    "the usual site generators, the ids of AsciiDoc and HTML, and the targets of reStructuredText. It ignores " +
    "pages whose anchors a program makes. In AsciiDoc outside of Antora, a link may lead to another page of " +
    "the same book: the rule judges it only if it reads the whole project.",
  bad: "<!-- file: leave.md -->\n# Leave\n\nSee [who approves](travel.md#aproval).\n\n<!-- file: travel.md -->\n# Travel\n\n## Approval\n\nThe team lead approves trips.\n",
  good: "<!-- file: leave.md -->\n# Leave\n\nSee [who approves](travel.md#approval).\n\n<!-- file: travel.md -->\n# Travel\n\n## Approval\n\nThe team lead approves trips.\n",
  collect,
  *compare(facts) {
    const anchorsAt = anchorsIn(facts);
    const mayBeInBook = anchorsOfBooks(facts);
    let suggestions = 0;
    for (const { path, part, row, fact } of facts) {
      for (const { path: to, anchor, span } of fact.links ?? []) {
        const anchors = anchorsAt(to);
        if (!anchors || anchors.has(anchor)) continue;
        if (isInBook(fact, to) && mayBeInBook(anchor)) continue;
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
      for (const { name, span } of fact.targets ?? []) {
        yield { path, part, row, span, message: `the page has no target ${shownAddress(name)}` };
      }
    }
  },
};
