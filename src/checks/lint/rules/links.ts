import { posix } from "node:path";
import { linkingFile } from "../../../documents/map/links/linking-file.ts";
import type { Cause, FolderRule, LintPage, PageFact, PageRule, Rule, Span } from "../rule.ts";
import {
  countIn,
  inOtherCase,
  targetsFor,
  type Targets,
} from "../../../documents/map/links/targets.ts";
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
import { findReferences } from "../../../documents/map/images/image-references.ts";
import { inAssets, placeOf } from "../../../documents/map/images/image-sections.ts";
import { namedFolder } from "../../../documents/map/links/resolve-link.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { formatOf, formats } from "../../../documents/formats/formats.ts";
import { withoutExtension } from "../../../documents/files/file-name.ts";
import { createFields } from "../../../documents/front-matter/fields.ts";
import { documentLink } from "../../../documents/map/links/document-link.ts";
import { effectiveFor } from "../../../documents/map/effective.ts";
import { bodyOf, createProseTest } from "../page/body.ts";
import { createFindSpan } from "../page/spans.ts";
import { documentName, findRepeated } from "../folder.ts";
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

const partCause = (part: string, message: string): Cause => ({
  key: `${part} ${message}`,
  least: 0,
  what: "places show it",
});

// Fewer are listed, so that each can be corrected.
const fewestOfFolder = 3;

/**
 * The folder that lacks what a page leads to. A site may take its files from elsewhere: a component of
 * Antora from several repositories, other folders from programs.
 */
function folderCause({ path, settings }: LintPage, target: string): Cause | undefined {
  const wanted = posix.normalize(posix.join(posix.dirname(path), target.replace(/[?#][^]*$/, "")));
  if (wanted.startsWith("../")) return undefined;
  const folder = posix.dirname(wanted);
  const count = countIn(folder, settings);
  let lacking = folder;
  while (count === 0 && lacking !== "." && countIn(posix.dirname(lacking), settings) === 0) {
    lacking = posix.dirname(lacking);
  }
  const least = Math.max(count, antoraPage.test(path) ? 0 : fewestOfFolder);
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
    for (const link of linksOf(page).relative) {
      const { resolved, target } = link;
      if (resolved.kind !== "dead" || (isOfMyst(page) && isName(target))) continue;
      // `[Download](_)`: a program sets the address.
      if (!/[\p{L}\p{N}]/u.test(target)) continue;
      if (isAdoc(page) && startsWithAttribute.test(target)) continue;
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

interface AnchorFact {
  /** Undefined if they cannot be known. */
  sources?: AnchorSources | undefined;
  links?: AnchorLink[] | undefined;
  isAdoc?: true | undefined;
  targets?: MissingTarget[] | undefined;
}

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
  let suggestions = 0;
  for (const { path, fact } of facts) {
    const { sources } = fact;
    const anchors = wanted.get(path);
    if (!sources || !anchors) continue;
    const has = createAnchorCheck(sources);
    const lacking = [...anchors].filter((anchor) => !has(anchor));
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

// A hostile page: further addresses are not looked up.
const mostLookups = 10_000;
// Expressions of template languages and programs, wildcards of Sphinx, and addresses that are not literal.
const isExpression = /[{}<>*$|]|^%.*%$|^require\(/;
// Folders whose files a site copies to its root.
const publicFolders = ["static", "public", "assets", "docs", "docs/assets"];

/** The root-relative paths where a site may find the image; undefined if one is not in the project. */
function placesOf(path: string, from: string): string[] | undefined {
  const folder = posix.dirname(from);
  // Sites with addresses that end with "/" resolve the addresses of HTML below the page.
  const folders = [folder, withoutExtension(from), posix.dirname(folder), ...publicFolders];
  const places: string[] = [];
  for (const each of folders) {
    const place = posix.normalize(posix.join(each, path));
    if (!place.startsWith("../")) places.push(place);
    else if (each === folder) return undefined;
  }
  return [
    ...new Set(places.flatMap((place) => [place, place.normalize("NFC"), place.normalize("NFD")])),
  ];
}

// docs.asciidoctor.org, "Set the imagesdir Attribute": a build may set it, for all pages of a book.
const imageFolders = ["images", "img", "resources/images", "resources/img", "assets/images"];
const mostAbove = 8;

/** Where the images of a book may be: in a folder for them beside the page or above it. */
function* placesOfBook(path: string, from: string): Generator<string> {
  let folder = posix.dirname(from);
  for (let count = 0; count < mostAbove; count++) {
    for (const each of imageFolders) yield posix.join(folder, each, path);
    if (folder === ".") return;
    folder = posix.dirname(folder);
  }
}

const exists = (targets: Targets, place: string): boolean => targets.at(place).kind !== "none";

/** Whether the file itself has the image: what a shortcode makes of an address, only its site knows. */
function createAuthorTest({
  source = "",
  path,
  settings,
  parsed,
}: LintPage): (address: string) => boolean {
  const format = formatOf(path, settings.format);
  const isMarkdown = format === formats.markdown || format === formats.mdx;
  if (!isMarkdown || source.endsWith(parsed.body)) return () => true;
  const written = new Set(findReferences(source).map((each) => each.source));
  return (address) => written.has(address);
}

function isMissing({ path: from, settings }: LintPage, source: string): boolean {
  const place = placeOf(source);
  if (place.kind !== "file" || place.isFromRoot) return false;
  if (isExpression.test(source) || namedFolder.test(source)) return false;
  if (linkingFile(from, settings, () => {}).vault?.find(place.path) !== undefined) return false;
  // quarto.org, "Figures": without an extension, it is that of the format, which is PNG for HTML.
  const isOfQuarto = siteOf(from, settings)?.generator === "quarto";
  const path = isOfQuarto && posix.extname(place.path) === "" ? `${place.path}.png` : place.path;
  const places = placesOf(path, from);
  const assets = inAssets(path);
  if (assets !== undefined) places?.push(posix.normalize(posix.join(posix.dirname(from), assets)));
  if (isAdocPath(from) && !path.startsWith("../")) places?.push(...placesOfBook(path, from));
  return places?.every((each) => !exists(targetsFor(settings), each)) === true;
}

/** A relative image without its file. */
export const missingImage: PageRule = {
  kind: "page",
  name: "missing-image",
  group: "links",
  severity: "warning",
  summary: "A relative image has no file in the project",
  advice:
    "Readers of the page see a broken image, and `--images upload` has nothing to send. Correct the path, " +
    "or remove the image.",
  bad: "# Floor plan\n\nThe kitchen is on the left.\n\n![Plan of floor 2](img/floor-2.png)\n",
  good: "# Floor plan\n\nThe kitchen is on the left of the lift, behind the glass door.\n",
  *check(page) {
    if (!hasLinks(page)) return;
    const { text } = bodyOf(page);
    const find = createFindSpan(page);
    const missing = new Map<string, boolean>();
    const isWritten = createAuthorTest(page);
    const isProse = createProseTest(bodyOf(page));
    for (const { source, offset } of findReferences(text)) {
      if (!isProse(offset)) continue;
      let isGone = missing.get(source);
      if (isGone === undefined) {
        if (missing.size >= mostLookups) return;
        missing.set(source, (isGone = isWritten(source) && isMissing(page, source)));
      }
      if (!isGone) continue;
      const message = `the image has no file: ${shownAddress(source)}`;
      const at = text.slice(offset, offset + 1000 + source.length).indexOf(source);
      // The address of the image, or where its reference begins.
      const span =
        at === -1 ? find(offset, offset + 1) : find(offset + at, offset + at + source.length);
      yield { span, message };
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
  wikiLinks,
  sharedLink,
];
