import { shownAddress } from "../../../documents/map/links/rewrite-links.ts";
import type { Cause, Found, FolderRule, LintPage, PageFact, Rule } from "../rule.ts";
import { hasLinks, anchorLinks, type AnchorLink } from "../page/page-links.ts";
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
import { anchorsOfPrograms, hasHeadingFilter, hasPreprocessor } from "../page/site-programs.ts";
import { createFields } from "../../../documents/front-matter/fields.ts";
import { documentLink } from "../../../documents/map/links/document-link.ts";
import { effectiveFor } from "../../../documents/map/effective.ts";
import { documentName, findRepeated } from "../folder.ts";
import { antoraPage, deadLink, missingInclude, partCause } from "./dead-links.ts";
import { collectLabels, missingLabels, type LabelFact } from "./labels.ts";
import { missingImage } from "./images.ts";
import { wikiLinks } from "./wiki-links.ts";
import { configOf } from "../../../documents/site/config.ts";
import { siteOf, siteText, bytesAt } from "../../../documents/site/sites.ts";
import { join, posix } from "node:path";
import { textsOf, valueAt } from "../../../documents/front-matter/values.ts";
import type { DocumentSettings } from "../../../documents/map/settings.ts";
import { findInProse } from "../page/spans.ts";

// pandoc.org, "Citations": `[@key, p. 3; see -@other]`, and no text of a link.
const citation = /(?<![!\\\]])\[[^[\]\n]{0,300}@[^[\]\n]{0,300}\](?![[({:])/g;
const cited = /(?<![\w@\\/.])@\{?([\w][\w:.#$%&+?~/-]{0,200})/g;
// quarto.org, "Cross References".
const ofPlace = /^(?:fig|tbl|lst|eq|sec|thm|lem|cor|prp|cnj|def|exm|exr|nte|tip|wrn|imp|cau)-/i;
const entries: Readonly<Record<string, RegExp>> = {
  bib: /@\w{1,50}\s*[{(]\s*([^\s,{}()]{1,200})\s*,/g,
  bibtex: /@\w{1,50}\s*[{(]\s*([^\s,{}()]{1,200})\s*,/g,
  json: /"id"\s*:\s*"([^"\n]{1,200})"/g,
  yaml: /^[\s-]{0,20}id:[ \t]*["']?([^\s"']{1,200})/gm,
  yml: /^[\s-]{0,20}id:[ \t]*["']?([^\s"']{1,200})/gm,
};
const [mostBytes, mostFiles] = [8 * 1024 * 1024, 20];

const keysOfRun = new WeakMap<DocumentSettings, Map<string, ReadonlySet<string> | undefined>>();

/** The keys of a bibliography; undefined for one that nobody can read here. */
function keysIn(path: string, settings: DocumentSettings): ReadonlySet<string> | undefined {
  let known = keysOfRun.get(settings);
  if (!known) keysOfRun.set(settings, (known = new Map()));
  if (known.has(path)) return known.get(path);
  const pattern = entries[posix.extname(path).slice(1).toLowerCase()];
  const isInside = pattern !== undefined && !path.startsWith("../") && known.size < mostFiles;
  const text = isInside
    ? Buffer.from(bytesAt(join(settings.root, path), mostBytes)).toString()
    : "";
  const keys =
    pattern && text !== ""
      ? new Set(Array.from(text.matchAll(pattern), (each) => each[1] ?? ""))
      : undefined;
  known.set(path, keys);
  return keys;
}

/** The keys that a page may cite; undefined where its bibliography is not known. */
function keysOf({ path, parsed, settings }: LintPage): ReadonlySet<string>[] | undefined {
  const site = siteOf(path, settings);
  const data = parsed.frontMatter?.data;
  if (site?.generator !== "quarto" || Object.hasOwn(data ?? {}, "references")) return undefined;
  const own = textsOf(data && valueAt(data, "bibliography")).map((each) =>
    posix.join(posix.dirname(path), each),
  );
  const ofSite = textsOf(valueAt(configOf(site, settings).data, "bibliography")).map((each) =>
    posix.join(site.prefix, each),
  );
  const all = [...own, ...ofSite].map((each) => keysIn(each, settings));
  return all.length === 0 || all.includes(undefined)
    ? undefined
    : all.filter((each) => each !== undefined);
}

/** The citations of a page of Quarto whose keys no bibliography has: the page shows the key with a question mark. */
function* missingCitations(page: LintPage): Generator<Found> {
  if (!page.parsed.body.includes("@") || page.skipped !== undefined) return;
  const keys = keysOf(page);
  if (!keys) return;
  const isKnown = (key: string): boolean => keys.some((each) => each.has(key));
  const messageOf = (found: string, _: number, text: string): string | undefined => {
    const names = Array.from(found.matchAll(cited), ([, key = ""]) => key.replace(/[^\w/]+$/, ""));
    const missing = names.filter((key) => key !== "" && !ofPlace.test(key) && !isKnown(key));
    // `[@who]: https://…` makes a link of it.
    if (missing.length === 0 || text.includes(`\n${found}:`)) return undefined;
    return `the bibliography has no entry ${missing.join(", ")}`;
  };
  for (const each of findInProse(page, citation, messageOf)) {
    yield { ...each, cause: { key: each.message, least: 0, what: "places cite it" } };
  }
}

interface BrokenSite {
  site: string;
  /** `docs/mkdocs.yml:3: …`; the line is missing where nobody knows it. */
  problem: string;
}

const placed = /^(.+?)(?::(\d+))?: ([^]*)$/;

/** The configuration of a site that cannot be read: one finding, at its line. */
const siteConfiguration: FolderRule<BrokenSite> = {
  kind: "folder",
  name: "site-configuration",
  group: "links",
  severity: "warning",
  summary: "The configuration of the site cannot be read",
  advice:
    "What it says about addresses, folders and variables is unknown to an upload, so links of citations may be wrong. " +
    "Correct the line that the finding names.",
  bad: "<!-- file: mkdocs.yml -->\nsite_name: Handbook\nnav: [leave.md\n\n<!-- file: docs/leave.md -->\n# Leave\n\nAsk for leave in the portal, two weeks ahead.\n",
  good: "<!-- file: mkdocs.yml -->\nsite_name: Handbook\nnav: [leave.md]\n\n<!-- file: docs/leave.md -->\n# Leave\n\nAsk for leave in the portal, two weeks ahead.\n",
  collect({ path, settings }) {
    const site = siteOf(path, settings);
    if (!site) return undefined;
    const { problem } = configOf(site, settings);
    return problem === undefined ? undefined : { site: siteText(site), problem };
  },
  *compare(facts) {
    const known = new Set<string>();
    for (const { fact } of facts) {
      const [, path, line, problem] = placed.exec(fact.problem) ?? [];
      if (path === undefined || known.has(fact.problem)) continue;
      known.add(fact.problem);
      const row = line === undefined ? undefined : { line: Number(line), id: "" };
      const message = `the configuration of ${fact.site} cannot be read: ${problem}`;
      yield { path, part: 0, row, message };
    }
  },
};

interface AnchorFact {
  /** Undefined if they cannot be known. */
  sources?: AnchorSources | undefined;
  links?: AnchorLink[] | undefined;
  isAdoc?: true | undefined;
  targets?: MissingTarget[] | undefined;
  /** What cites an entry that no bibliography has. */
  citations?: Found[] | undefined;
  /** Of a site of Sphinx. */
  labels?: LabelFact | undefined;
  /** What programs of the site write into pages. */
  programs?: AnchorSources | undefined;
}

const mostCitations = 100;
const atLeastOne = (found: readonly Found[]): Found[] | undefined =>
  found.length > 0 ? found.slice(0, mostCitations) : undefined;

function collect(page: LintPage): AnchorFact | undefined {
  const labels = collectLabels(page);
  if (!hasLinks(page)) return labels && { labels };
  const isOfFilter = hasHeadingFilter(page.path, page.settings);
  const sources = isOfFilter ? undefined : anchorSources(page);
  // Most links lead to a place in the same page: only those that are wrong are compared.
  let isOwn: ((anchor: string) => boolean) | undefined;
  const isRight = (path: string, anchor: string): boolean => {
    // No heading of a book gives a period or a capital letter.
    if (/[.A-Z]/.test(anchor) && hasPreprocessor(page.path, page.settings)) return true;
    return path === page.path && (!sources || (isOwn ??= createAnchorCheck(sources))(anchor));
  };
  const links = page.parsed.body.includes("#") ? anchorLinks(page, isRight) : [];
  return {
    sources,
    links: links.length > 0 ? links : undefined,
    isAdoc: isAdoc(page) || undefined,
    targets: missingTargets(page),
    citations: page.part === 0 ? atLeastOne([...missingCitations(page)]) : undefined,
    labels,
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

/** Whether a page has no heading but its title: what writes its sections is not here. */
const lacksSections = ({ sources }: AnchorFact): boolean =>
  sources !== undefined && !sources.headings.includes("\n");

const sectionsCause = (path: string): Cause => ({
  key: `sections of ${path}`,
  least: 0,
  what: "links lead to places in the page, which has no sections",
});

/** A link to a heading that does not exist. */
export const missingAnchor: FolderRule<AnchorFact> = {
  kind: "folder",
  name: "missing-anchor",
  group: "links",
  severity: "warning",
  summary:
    "A link leads to a heading or id that does not exist, or a citation of Quarto to no entry",
  advice:
    "A browser opens the top of the page, and the reader of a citation looks for the place in vain. " +
    "Correct the part after `#`, or give the heading this id. The rule knows the anchors of GitHub and of " +
    "the usual site generators, the ids of AsciiDoc and HTML, the targets of reStructuredText and the labels of Sphinx. It ignores " +
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
        const ofLink = isOfPage ? undefined : partCause(file ?? "", message);
        const cause = to === path && lacksSections(fact) ? sectionsCause(path) : ofLink;
        const link = `${path} ${part} ${message}`;
        if (!isOfPage || !reported.has(link)) yield { path, part, row, span, message, cause };
        reported.add(link);
      }
      for (const each of fact.citations ?? []) yield { path, part, row, ...each };
      for (const { name, span } of fact.targets ?? []) {
        yield { path, part, row, span, message: `the page has no target ${shownAddress(name)}` };
      }
    }
    yield* missingLabels(facts);
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
  siteConfiguration,
];
