import { posix } from "node:path";
import type { Cause, FolderRule, LintPage, PageFact, PageRule, Rule, Span } from "../rule.ts";
import { countIn, inOtherCase } from "../../../documents/map/links/targets.ts";
import {
  hasLinks,
  linksOf,
  shownAddress,
  anchorLinks,
  isOfMyst,
  createFindLink,
  type AnchorLink,
} from "../page/page-links.ts";
import {
  anchorSources,
  isAdoc,
  isAdocPath,
  type AnchorSources,
  allAnchors,
  comparableAnchor,
  createAnchorCheck,
  similarAnchor,
  missingTargets,
  type MissingTarget,
} from "../page/anchors.ts";
import { anchorsOfPrograms, hasHeadingFilter } from "../page/site-programs.ts";
import { findReferences } from "../../../documents/map/images/image-references.ts";
import { formatOf } from "../../../documents/formats/formats.ts";
import { createFields } from "../../../documents/front-matter/fields.ts";
import { documentLink } from "../../../documents/map/links/document-link.ts";
import { effectiveFor } from "../../../documents/map/effective.ts";
import { bodyOf } from "../page/body.ts";
import { documentName, findRepeated } from "../folder.ts";
import { missingImage } from "./images.ts";
import { wikiLinks } from "./wiki-links.ts";

/** The file that a dead link names but for capital letters: the link works on Windows and macOS alone. */
function fileOfTarget({ path: from, settings }: LintPage, target: string): string | undefined {
  const path = target.replace(/[?#][^]*$/, "");
  const wanted = posix.normalize(posix.join(posix.dirname(from), path));
  return wanted.startsWith("../") ? undefined : inOtherCase(wanted, settings);
}

// Antora makes a page of each of these files: no book is made of several.
const antoraPage = /(?:^|\/)modules\/[^/]+\/pages\//;

// `[](JupyterHub.db_url)`: a label, or an object that a program documents.
const isName = (target: string): boolean =>
  /^[\w:-]+(?:\.[A-Za-z_]\w*)*$/.test(target) && formatOf(target) === undefined;

// myst-parser.readthedocs.io, "Customising external URL resolution": `[text](path){.external}`.
const external = /^[^\n)]{0,200}\)\{[^{}\n]{0,100}\.external\b/;

/** Whether the page says that the address of a link is no file of the project. */
const isExternal = ({ source = "" }: LintPage, span: Span | undefined): boolean =>
  span !== undefined && external.test(source.slice(span.end, span.end + 320));

// `link:{site-docs}#install`: the rule undefined-attribute reports the name.
const startsWithAttribute = /^\{[\w-]+\}/;

// developer.lightbend.com/docs/paradox: `$version$`, and `@scaladoc[Future](scala.concurrent.Future)`
// for an object that a program documents.
const variable = /^\$[\w.]+\$/;
const object = /@(?!ref\b|link\b)[a-z]\w*:?\[(?:[^[\]\n]|\[[^[\]\n]*\])*\]\(<?$/;

const partCause = (part: string, message: string): Cause => ({
  key: `${part} ${message}`,
  least: 0,
  what: "places show it",
});

// Fewer are listed, so that each can be corrected.
const fewestOfFolder = 3;

/**
 * The folder that lacks what a page leads to. A site may take its files from elsewhere: a component of
 * Antora from several repositories, other folders from programs. Of a folder that has files, the target.
 */
function folderCause({ path, settings }: LintPage, target: string): Cause | undefined {
  const wanted = posix.normalize(posix.join(posix.dirname(path), target.replace(/[?#][^]*$/, "")));
  if (wanted.startsWith("../")) return undefined;
  const folder = posix.dirname(wanted);
  const count = countIn(folder, settings);
  const isAntora = antoraPage.test(path);
  if (!isAntora && count > fewestOfFolder)
    return { key: wanted.replace(/\/$/, ""), least: 0, what: "references lead there" };
  let lacking = folder;
  while (count === 0 && lacking !== "." && countIn(posix.dirname(lacking), settings) === 0) {
    lacking = posix.dirname(lacking);
  }
  // Links to modules of other repositories: where to find those is one question.
  const modules = posix.dirname(lacking);
  if (isAntora && posix.basename(modules) === "modules") lacking = modules;
  const least = Math.max(count, isAntora ? 0 : fewestOfFolder);
  return { key: lacking, least, what: `references lead to files that ${lacking} lacks here` };
}

/** Lists what an upload counts as dead links. */
export const deadLink: PageRule = {
  kind: "page",
  name: "dead-link",
  group: "links",
  severity: "warning",
  summary: "A relative link leads to no file of the project",
  advice:
    "An answer that cites the page sends its reader to an error page. Correct the path of the link; " +
    "capital letters count. " +
    "Write the full address if the page is on another site.",
  bad: "# Leave\n\nAsk for leave in the [travel form](forms/travle.md).\n",
  good: "# Leave\n\nAsk for leave in the [travel form](https://forms.example.com/travel).\n",
  *check(page) {
    if (!hasLinks(page)) return;
    const findLink = createFindLink(page);
    const { text } = bodyOf(page);
    const images = new Set(findReferences(text).map(({ source }) => source));
    for (const link of linksOf(page).relative) {
      const { resolved, target } = link;
      if (resolved.kind !== "dead" || (isOfMyst(page) && isName(target))) continue;
      // `[Download](_)`: a program sets the address.
      if (!/[\p{L}\p{N}]/u.test(target)) continue;
      if (isAdoc(page) && startsWithAttribute.test(target)) continue;
      if (
        variable.test(target) ||
        object.test(text.slice(Math.max(0, link.start - 300), link.start))
      )
        continue;
      // The rule missing-image reports it.
      if (images.has(target)) continue;
      const { span, written, part } = findLink(link);
      if (isOfMyst(page) && isExternal(page, span)) continue;
      const file = fileOfTarget(page, target);
      const hint = file === undefined ? "" : `; only capital letters differ from ${file}`;
      const where = part === undefined ? "" : `; it stands in ${part}`;
      const message = `the link leads to no file: ${shownAddress(written)}${hint}${where}`;
      const ofPart = part === undefined ? undefined : partCause(part, message);
      yield { span, message, cause: folderCause(page, target) ?? ofPart };
    }
  },
};

const goneFile = /^([^{}]+): no such file$/;

/**
 * The folder of an included file; of a file that Antora names, the module as it is named. All modules that
 * a component lacks are one cause: its other repositories have them.
 */
function includeCause({ path, settings }: LintPage, target: string): Cause {
  const [id] = /^[^/]*[$:]/.exec(target) ?? [];
  const isOther = id !== undefined && /^[^:]*:[^:]*:/.test(id);
  const [, modules = ""] = /^(.*\/)?modules\/[^/]+\/pages\//.exec(path) ?? [];
  const [, module] = isOther ? [] : (/^([\w.-]+):/.exec(id ?? "") ?? []);
  if (module !== undefined && countIn(`${modules}modules/${module}`, settings) === 0) {
    const key = `${modules}modules`;
    return { key, least: 0, what: `files of modules are included that ${key} lacks here` };
  }
  const folder = isOther ? id : posix.join(posix.dirname(path), id ?? posix.dirname(target));
  const what = `files of ${folder} are included and not there`;
  return { key: folder, least: fewestOfFolder, what };
}

/** What a reader of files left out, because the page includes a file that is not there. */
export const missingInclude: PageRule = {
  kind: "page",
  name: "missing-include",
  group: "links",
  severity: "warning",
  summary: "A page includes a file that is not there",
  advice:
    "The document lacks the text, so no answer has it. Correct the path. More than three files of one folder " +
    "are one finding: a build may write them, and then an upload comes after it.",
  bad: '# Leave\n\nEmployees ask for leave in the portal.\n\n--8<-- "parts/contcat.md"\n',
  good: "# Leave\n\nEmployees ask for leave in the portal, or write to people@example.com.\n",
  *check(page) {
    const { parsed, source = "", skipped } = page;
    // Of a page that is none, nobody misses a text.
    if (skipped !== undefined && !skipped.startsWith("empty: ")) return;
    let starts: number[] | undefined;
    for (const { kind, what, line } of parsed.leftOut ?? []) {
      const [, target] = (kind === "include" && goneFile.exec(what)) || [];
      if (target === undefined || line === undefined) continue;
      starts ??= [0, ...Array.from(source.matchAll(/\n/g), ({ index }) => index + 1)];
      const start = starts[line - 1] ?? 0;
      const span = { start, end: Math.max(start, (starts[line] ?? source.length + 1) - 1) };
      const cause = includeCause(page, target);
      yield { span, message: `the include has no file: ${shownAddress(target)}`, cause };
    }
  },
};

interface AnchorFact {
  /** Undefined if they cannot be known. */
  sources?: AnchorSources | undefined;
  links?: AnchorLink[] | undefined;
  isAdoc?: true | undefined;
  targets?: MissingTarget[] | undefined;
  /** What programs of the site write into pages. */
  programs?: AnchorSources | undefined;
}

function collect(page: LintPage): AnchorFact | undefined {
  if (!hasLinks(page)) return undefined;
  const isOfFilter = hasHeadingFilter(page.path, page.settings);
  const sources = isOfFilter ? undefined : anchorSources(page);
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
    programs: links.length > 0 ? anchorsOfPrograms(page.path, page.settings) : undefined,
  };
}

type Facts = readonly PageFact<AnchorFact>[];

// Each of them is compared with the anchors of a page.
const mostSuggestions = 1000;

/** The anchors that links name and their pages lack, by page, each with a similar one. */
function missingAnchors(facts: Facts): Map<string, Map<string, string | undefined>> {
  const wanted = new Map<string, Set<string>>();
  for (const { fact } of facts) {
    for (const { path, anchor } of fact.links ?? []) {
      wanted.set(path, (wanted.get(path) ?? new Set()).add(anchor));
    }
  }
  const missing = new Map<string, Map<string, string | undefined>>();
  const ofPrograms = facts.flatMap(({ fact: { programs } }) => programs ?? []);
  const writes = ofPrograms.map((each) => createAnchorCheck(each));
  let suggestions = 0;
  for (const { path, fact } of facts) {
    const { sources } = fact;
    const anchors = wanted.get(path);
    if (!sources || !anchors) continue;
    const has = createAnchorCheck(sources);
    const lacking = [...anchors].filter(
      (anchor) => !has(anchor) && !writes.some((isWritten) => isWritten(anchor)),
    );
    const similarTo = (anchor: string): string | undefined =>
      suggestions++ < mostSuggestions ? similarAnchor(anchor, sources) : undefined;
    missing.set(path, new Map(lacking.map((anchor) => [anchor, similarTo(anchor)])));
  }
  return missing;
}

/** Whether a link of AsciiDoc may find its place in another page, because a book includes both. */
const isInBook = (fact: AnchorFact, to: string): boolean =>
  fact.isAdoc === true && isAdocPath(to) && !antoraPage.test(to);

/**
 * Returns whether a chapter may find an anchor elsewhere in its book. Which pages make a book, only
 * its author knows: another page has the anchor, or lacks a text that can have it.
 */
function anchorsOfBooks(facts: Facts, isWhole: boolean): (anchor: string) => boolean {
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
    if (!isWhole) return true;
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
  *compare(facts, isWhole) {
    const missing = missingAnchors(facts);
    const mayBeInBook = anchorsOfBooks(facts, isWhole);
    // A page may repeat a link: the heading that it lacks is one cause.
    const reported = new Set<string>();
    for (const { path, part, row, fact } of facts) {
      for (const { path: to, anchor, span, part: file } of fact.links ?? []) {
        const lacking = missing.get(to);
        if (!lacking?.has(anchor)) continue;
        if (isInBook(fact, to) && mayBeInBook(anchor)) continue;
        const similar = lacking.get(anchor);
        const where = to === path ? "the page" : to;
        const hint = similar === undefined ? "" : `; similar: ${similar}`;
        const at = file === undefined ? "" : `; it stands in ${file}`;
        const message = `${where} has no anchor #${shownAddress(anchor)}${hint}${at}`;
        // Of a link without a place, several pages may include the text.
        const isOfPage = span !== undefined && file === undefined;
        const cause = isOfPage ? undefined : partCause(file ?? "", message);
        const link = `${path} ${part} ${message}`;
        if (!isOfPage || !reported.has(link)) yield { path, part, row, span, message, cause };
        reported.add(link);
      }
      for (const { name, span } of fact.targets ?? []) {
        yield { path, part, row, span, message: `the page has no target ${shownAddress(name)}` };
      }
    }
  },
};

/** The link of a document, without the fragments that sections add to it. */
function linkOf({ path, part, parsed, settings, document }: LintPage): string | undefined {
  const first = document?.sections.find(({ link }) => link)?.link;
  if (!first || !document || part !== 0) return first;
  const fields = createFields(parsed.frontMatter, path);
  const effective = effectiveFor(path, settings);
  const made = documentLink({ path, fields, settings, effective, id: document.id })?.result;
  return made && "link" in made && first.startsWith(made.link) ? made.link : first;
}

/** Documents whose citations lead to one page. */
export const sharedLink: FolderRule<string> = {
  kind: "folder",
  name: "shared-link",
  group: "links",
  severity: "warning",
  summary: "Two documents have the same link",
  advice:
    "Citations of both documents lead to one page, so a reader cannot check the answer. Correct the " +
    "`link` of one page, or the template of `ingest.link`: it needs the path of the page.",
  bad: "<!-- file: leave.md -->\n---\nlink: https://docs.example.com/people\n---\n# Leave\n\nEmployees ask for leave in the portal.\n\n<!-- file: travel.md -->\n---\nlink: https://docs.example.com/people\n---\n# Travel\n\nEmployees book trips in the portal.\n",
  good: "<!-- file: leave.md -->\n---\nlink: https://docs.example.com/people/leave\n---\n# Leave\n\nEmployees ask for leave in the portal.\n\n<!-- file: travel.md -->\n---\nlink: https://docs.example.com/people/travel\n---\n# Travel\n\nEmployees book trips in the portal.\n",
  collect: linkOf,
  *compare(facts) {
    for (const [{ path, part, row }, first] of findRepeated(facts, ({ fact }) => fact)) {
      yield { path, part, row, message: `the document has the link of ${documentName(first)}` };
    }
  },
};

export const linkRules: readonly Rule[] = [
  deadLink,
  missingAnchor,
  missingImage,
  missingInclude,
  wikiLinks,
  sharedLink,
];
