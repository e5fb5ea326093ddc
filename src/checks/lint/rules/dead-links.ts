import { shownAddress } from "../../../documents/map/links/rewrite-links.ts";
import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import type { Cause, LintPage, PageRule, Span } from "../rule.ts";
import { withoutExtension } from "../../../documents/files/file-name.ts";
import type { DocumentSettings } from "../../../documents/map/settings.ts";
import { textOf, valueAt } from "../../../documents/front-matter/values.ts";
import { configOf } from "../../../documents/site/config.ts";
import { bytesAt, siteOf } from "../../../documents/site/sites.ts";
import {
  countIn,
  foldersIn,
  inOtherCase,
  targetsFor,
} from "../../../documents/map/links/targets.ts";
import { hasLinks, linksOf, isOfMyst, createFindLink, namesObject } from "../page/page-links.ts";
import { isAdoc, isAdocPath } from "../page/anchors.ts";
import { findReferences } from "../../../documents/map/images/image-references.ts";
import { formatOf } from "../../../documents/formats/formats.ts";
import { hasPreprocessor } from "../page/site-programs.ts";
import { isDeadPage, rolesOf, sphinxOf } from "../page/roles.ts";
import { bodyOf } from "../page/body.ts";
import { isInPrograms } from "../page/site-programs.ts";

/** An address without its query and fragment. */
const withoutSuffix = (target: string): string => target.replace(/[?#][^]*$/, "");

/** The file that a dead link names but for capital letters: the link works on Windows and macOS alone. */
function fileOfTarget({ path: from, settings }: LintPage, target: string): string | undefined {
  const wanted = posix.normalize(posix.join(posix.dirname(from), withoutSuffix(target)));
  return wanted.startsWith("../") ? undefined : inOtherCase(wanted, settings);
}

// Antora makes a page of each of these files: no book is made of several.
export const antoraPage = /(?:^|\/)modules\/[^/]+\/pages\//;

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

// developer.lightbend.com/docs/paradox: `$version$`.
const variable = /^\$[\w.]+\$/;

export const partCause = (part: string, message: string): Cause => ({
  key: `${part} ${message}`,
  least: 0,
  what: "places show it",
});

// Fewer are listed, so that each can be corrected.
const fewestOfFolder = 3;

const listed = new WeakMap<DocumentSettings, Map<string, number>>();

function namesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    // Not there, a file, or not readable.
    return [];
  }
}

/** The number of pages in a module of Antora, at any depth. */
function pagesOf(module: string, settings: DocumentSettings): number {
  let known = listed.get(settings);
  if (!known) listed.set(settings, (known = new Map()));
  let count = known.get(module);
  if (count === undefined) {
    const names = namesBelow(join(settings.root, module, "pages"));
    known.set(module, (count = names.filter((name) => isAdocPath(name)).length));
  }
  return count;
}

/** The module of Antora that has, or would have, a page: another repository may bring the rest of it. */
function moduleCause(wanted: string, settings: DocumentSettings): Cause | undefined {
  const [module] = /^(?:.*\/)?modules\/[^/]+(?=\/)/.exec(wanted) ?? [];
  if (module === undefined) return undefined;
  const what = `references lead to files that ${module} lacks here`;
  return { key: `module ${module}`, least: pagesOf(module, settings), what };
}

// What a browser finds there, only the host of the site knows.
const above: Cause = {
  key: "..",
  least: fewestOfFolder,
  what: "references go higher than the root of the project",
};

// A folder of pages alone, without the programs around it.
const lackingBeside: Cause = {
  key: ".",
  least: fewestOfFolder,
  what: "references lead to folders and files that the project lacks",
};

/** Whether a page leads from its folder in the project to something beside that folder which is not there. */
function isAway(path: string, wanted: string, settings: DocumentSettings): boolean {
  const [own = "", name = ""] = [path, wanted].map((each) => each.split("/")[0]);
  return path.includes("/") && own !== name && targetsFor(settings).at(name).kind === "none";
}

/** The first folder of a path that has no files. */
function absentFolder(folder: string, settings: DocumentSettings): string {
  const above = posix.dirname(folder);
  const isAbsent = folder !== "." && countIn(above, settings) === 0;
  return isAbsent ? absentFolder(above, settings) : folder;
}

/**
 * The folder that lacks what a page leads to. A site may take its files from elsewhere: a component of
 * Antora from several repositories, other folders from programs. Of a folder that has files, the target.
 */
function folderCause({ path, settings }: LintPage, target: string): Cause | undefined {
  const wanted = posix.normalize(posix.join(posix.dirname(path), withoutSuffix(target)));
  if (wanted.startsWith("../")) return above;
  const folder = posix.dirname(wanted);
  const count = countIn(folder, settings);
  const isAntora = antoraPage.test(path);
  const away = isAway(path, wanted, settings) ? lackingBeside : undefined;
  if (!isAntora && count > fewestOfFolder) {
    const key = wanted.replace(/\/$/, "");
    return { key, least: 0, what: "references lead there", wider: away };
  }
  let lacking = count === 0 ? absentFolder(folder, settings) : folder;
  // Links to modules of other repositories: where to find those is one question.
  const modules = posix.dirname(lacking);
  if (isAntora && posix.basename(modules) === "modules") lacking = modules;
  const least = Math.max(count, isAntora ? 0 : fewestOfFolder);
  const wider = isAntora && lacking !== modules ? moduleCause(wanted, settings) : away;
  return {
    key: lacking,
    least,
    what: `references lead to files that ${lacking} lacks here`,
    wider,
  };
}

// More folders are not looked through.
const mostFolders = 60;
const indexFile = /^(?:index|readme|_index)(?:\.\w+)?$/i;

/** The folder below a folder above a path that has the rest of the path; "" for the root. */
function folderWith(wanted: string, settings: DocumentSettings): [string, string] | undefined {
  if (wanted.startsWith("../") || indexFile.test(posix.basename(wanted))) return undefined;
  const targets = targetsFor(settings);
  const path = wanted.replace(/\/$/, "");
  for (let above = posix.dirname(path); ; above = posix.dirname(above)) {
    const rest = posix.relative(above, path);
    const folders = foldersIn(above, settings);
    for (const each of folders.length > mostFolders ? [] : folders) {
      const place = posix.join(above, each, rest);
      if (targets.at(posix.join(above, each)).kind !== "folder") continue;
      if ([place, `${place}.md`].some((one) => targets.at(one).kind !== "none"))
        return [above, posix.join(above, each)];
    }
    if (above === ".") return undefined;
  }
}

/** Where a file stands that a link leads to: a build may move the folder. */
function movedCause(
  { path, settings }: LintPage,
  target: string,
  isAttribute: boolean,
): { cause: Cause; hint: string } | undefined {
  // A browser reads the address of HTML, below the one of the page.
  const bases = [...(isAttribute ? [withoutExtension(path)] : []), posix.dirname(path)];
  for (const base of bases) {
    const [from, to] = folderWith(posix.join(base, withoutSuffix(target)), settings) ?? [];
    if (from === undefined || to === undefined) continue;
    const lacks = from === "." ? "the project lacks there" : `${from} lacks`;
    const what = `references lead to files that ${lacks} and ${to} has`;
    const cause = { key: `${from} ${to}`, least: fewestOfFolder, what };
    return { cause, hint: `; ${to} has it` };
  }
  return undefined;
}

// mkdocs-rss-plugin, jekyll-feed, docusaurus.io, "Blog > Feed", gohugo.io, "RSS templates".
const feed = /(?:^|\/)(?:feed[\w-]*|rss|atom|index|sitemap)\.(?:xml|rss|atom|json)$/i;
/** Whether the generator of a site writes a file that pages lead to. */
const isFeed = ({ path, settings }: LintPage, target: string): boolean =>
  feed.test(withoutSuffix(target)) && siteOf(path, settings) !== undefined;

/** Whether DocFX makes a file: dotnet.github.io/docfx, "PDF Files". */
function isPdfOfSite({ path, settings }: LintPage, target: string): boolean {
  if (!target.endsWith(".pdf") || siteOf(path, settings)?.generator !== "docfx") return false;
  const place = posix.join(posix.dirname(path), target);
  if (place.startsWith("../")) return false;
  const table = bytesAt(posix.join(settings.root, posix.dirname(place), "toc.yml")).toString();
  const [, name = "toc.pdf"] = /^pdfFileName:[ \t]*["']?([^\s"']+)/m.exec(table) ?? [];
  return /^pdf:[ \t]*true\b/m.test(table) && posix.basename(place) === name;
}

/**
 * Whether a link leaves its book. rust-lang.github.io/mdBook, "Markdown": it keeps such an address, and a
 * site may have other books beside this one.
 */
function leavesBook({ path, settings }: LintPage, target: string): boolean {
  const site = siteOf(path, settings);
  if (site?.generator !== "mdbook") return false;
  const source = textOf(valueAt(configOf(site, settings).data, "book.src")) ?? "src";
  const place = posix.join(posix.dirname(path), withoutSuffix(target));
  return !place.startsWith(posix.join(site.prefix, source, "/"));
}

/** Whether a link of a book is a name for a program that reads its pages. */
const isForProgram = ({ path, settings }: LintPage, target: string): boolean =>
  !/[/#]|\.(?:md|html)$/.test(target) && hasPreprocessor(path, settings);

/** Whether a build decides what is there. */
const isMade = (page: LintPage, target: string): boolean =>
  isFeed(page, target) ||
  isInPrograms(posix.basename(withoutSuffix(target)), page.settings) ||
  isPdfOfSite(page, target) ||
  leavesBook(page, target) ||
  isForProgram(page, target);

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
      if (variable.test(target) || namesObject(text, link.start)) continue;
      // The rule missing-image reports it.
      if (images.has(target) || isMade(page, target)) continue;
      const { span, written, part } = findLink(link);
      if (isOfMyst(page) && isExternal(page, span)) continue;
      const file = fileOfTarget(page, target);
      const moved = file ? undefined : movedCause(page, target, link.isAttribute);
      const hint = file ? `; only capital letters differ from ${file}` : (moved?.hint ?? "");
      const where = part === undefined ? "" : `; it stands in ${part}`;
      const message = `the link leads to no file: ${shownAddress(written)}${hint}${where}`;
      const ofPart = part === undefined ? undefined : partCause(part, message);
      yield { span, message, cause: moved?.cause ?? folderCause(page, target) ?? ofPart };
    }
    const site = sphinxOf(page);
    for (const { isPage, name, span } of site ? rolesOf(page) : []) {
      if (!site || !isPage || !isDeadPage(page, name, site)) continue;
      const message = `the reference leads to no page: ${shownAddress(name)}`;
      yield { span, message, cause: folderCause(page, name) };
    }
  },
};

const goneFile = /^([^{}]+): no such file$/;

const includedFrom = (folder: string): string => `files of ${folder} are included and not there`;

/**
 * The folder of an included file, or the first that is absent; of a file that Antora names, the module as it is named. All modules that
 * a component lacks are one cause: its other repositories have them.
 */
function includeCause({ path, settings }: LintPage, target: string): Cause {
  const [id] = /^[^/]*[$:]/.exec(target) ?? [];
  const own = posix.dirname(path);
  const isOther = id !== undefined && /^[^:]*:[^:]*:/.test(id);
  const [, modules = ""] = /^(.*\/)?modules\/[^/]+\/pages\//.exec(path) ?? [];
  const [, module] = isOther ? [] : (/^([\w.-]+):/.exec(id ?? "") ?? []);
  if (module !== undefined && countIn(`${modules}modules/${module}`, settings) === 0) {
    const key = `${modules}modules`;
    return { key, least: 0, what: `files of modules are included that ${key} lacks here` };
  }
  if (isOther) return { key: id, least: fewestOfFolder, what: includedFrom(id) };
  // A path counts from the page or from the project.
  const [first = ""] = target.split("/");
  const isOfProject = id === undefined && countIn(first, settings) > 0;
  const base = isOfProject && countIn(posix.join(own, first), settings) === 0 ? "" : own;
  const place = posix.join(base, target);
  if (targetsFor(settings).isIgnored?.(place) === true) {
    const what = "files are included that the ignore files leave out, so that a build writes them";
    return { key: "ignored", least: 0, what };
  }
  const folder = posix.join(base, id ?? posix.dirname(target));
  if (id !== undefined || countIn(folder, settings) > 0) {
    return { key: folder, least: fewestOfFolder, what: includedFrom(folder) };
  }
  const lacking = absentFolder(folder, settings);
  return { key: lacking, least: 0, what: includedFrom(lacking) };
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
    "are one finding: a build may write them. Then upload after the build.",
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
