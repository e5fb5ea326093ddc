import { posix } from "node:path";
import type { AnchorStyle } from "../../text/heading-text.ts";
import { partAnywhere } from "../../parts/parts.ts";
import type { SitePages } from "../../site/site-pages.ts";
import type { LinkStyle } from "../../site/generators.ts";
import { hugoConfig, hugoPage } from "../../site/hugo.ts";
import { inAssets } from "../images/image-sections.ts";
import { addressesFrom, isCopied } from "./copied.ts";
import { basesOf, resolvesBelowPage, type PageFolder } from "./link-style.ts";
import { decodePercent, extensionOf, withoutExtension } from "../../files/file-name.ts";
import { formatOf } from "../../formats/formats.ts";
import { textOf, valueAt } from "../../front-matter/values.ts";
import type { Target, Targets } from "./targets.ts";

/** A document with links. */
export interface LinkingFile {
  /** Root-relative. */
  path: string;
  style: LinkStyle | undefined;
  /** Where the site has its pages, if its configuration says so. */
  pages?: SitePages | undefined;
  site: PageFolder;
  targets: Targets;
  /** Whether the site has something at a path without a file. */
  isMade?: (path: string) => boolean;
  /** Whether indented text may be code: not in MDX. */
  indents?: boolean;
  /** Called with each path that was looked at. */
  note: (path: string, stamp: string | undefined) => void;
  /** Of a note: links name files anywhere in its vault, and headings by their texts. */
  vault?: {
    /** See NotesByName. */
    find(name: string): string | undefined;
    anchors: AnchorStyle;
  };
}

export type Resolved =
  | { kind: "document"; target: Target }
  /** No document of the project: it stays as written. */
  | { kind: "other" }
  | { kind: "dead" };

const pageExtensions = [
  ".md",
  ".mdx",
  ".markdown",
  ".qmd",
  ".Rmd",
  ".ipynb",
  ".rst",
  ".adoc",
  ".html",
];
const indexNames = ["index", "README", "_index"];
const indexExtensions = [".md", ".mdx", ".html"];

const isHidden = (path: string): boolean => /(?:^|\/)\.(?!well-known(?:\/|$))[^/]/.test(path);

/** The root-relative path that `path` names in `folder`; undefined outside the root. */
function joined(folder: string, path: string): string | undefined {
  const full = posix.join(folder, path).replace(/\/+$/, "");
  if (full === ".." || full.startsWith("../")) return undefined;
  return full === "." ? "" : full.replace(/^\/+/, "");
}

/** The ways to write a name: some file systems keep them as typed, for example in NFD on macOS. */
const formsOf = (name: string): string[] =>
  /^[ -~]*$/.test(name) ? [name] : [name, name.normalize("NFC"), name.normalize("NFD")];

/**
 * Whether a path without extension counts from the page itself, because its address ends with "/",
 * before or after it counts from the folder of the page.
 */
function fromPage(
  path: string,
  folder: string,
  { style, pages, targets, note }: LinkingFile,
): "first" | "last" | "never" {
  if (style !== undefined) {
    return (pages?.areFolders ?? resolvesBelowPage(style)) ? "first" : "never";
  }
  // Nobody has said how addresses end. A path that leads out of the project is one of files.
  const place = joined(folder, path);
  if (place === undefined) return "never";
  if (!path.endsWith("/")) return "last";
  // `../page/` shows that they end with "/", unless it is a folder.
  const { kind, stamp } = targets.at(place);
  if (kind === "folder") return "last";
  note(place, stamp);
  return "first";
}

/**
 * The page of its site at an address. gohugo.io, "Multilingual mode": the addresses of other
 * languages have a prefix, and files of any language may have the same name.
 */
function pageAtAddress(path: string, file: LinkingFile): Target | undefined {
  const { style, site, targets, note } = file;
  if (style === undefined || (formatOf(path) !== undefined && !/\.html?$/i.test(path))) return;
  const addresses = targets.addresses?.(style, site);
  if (!addresses) return undefined;
  const found = addressesFrom(path, file)
    .map((address) => addresses.at(address))
    .find((page) => page !== undefined);
  const name = style === "hugo" && /^[^./]+$/.test(path) ? addresses.named(path) : undefined;
  const page = found ?? name;
  const target = page === undefined ? undefined : targets.at(page);
  if (page === undefined || target?.kind !== "document") return undefined;
  note(page, target.stamp);
  return target;
}

/** gohugo.io, "ref": a name without a folder finds the only page of that name. */
function pageByName(path: string, { style, site, targets, note }: LinkingFile): Target | undefined {
  const [, name] = /^([^/]+)\.(?:md|markdown|html|adoc)$/i.exec(path) ?? [];
  if (style !== "hugo" || name === undefined) return undefined;
  const page = targets.addresses?.(style, site)?.named(name);
  const target = page === undefined ? undefined : targets.at(page);
  if (page === undefined || target?.kind !== "document") return undefined;
  note(page, target.stamp);
  return target;
}

/** The language of a page of Hugo that stands in the name of its file: `de` of `a.de.md`. */
function namedLanguage({ path, style, site }: LinkingFile): string | undefined {
  if (style !== "hugo") return undefined;
  const page = hugoPage(path.slice(site.prefix.length), hugoConfig(site.data));
  return page?.isNamed === true ? page.language.key : undefined;
}

// docusaurus.io, "Markdown features > Markdown links": the path of a file counts from the file, then
// from the folder of the docs.
const docsFolder = /^(?:[^/]+\/)*?(?:docs|versioned_docs\/[^/]+)(?=\/)/;

const contentFolders = ({ path, style }: LinkingFile): string[] =>
  style === "docusaurus" ? [docsFolder.exec(path)?.[0] ?? []].flat() : [];

const downloaded = /\.(?!(?:md|markdown|html?|adoc|rst|org)$)\w{1,6}$/i;

/** The folders from which a path that does not begin with "/" may count. */
function foldersOf(path: string, file: LinkingFile): string[] {
  const folder = posix.dirname(file.path);
  // gohugo.io, "ref": a path counts from the page, else from the folder of the pages.
  const isOfHugo = file.style === "hugo" && path.includes("/");
  // docusaurus.io, "Markdown links": `a.md` counts from the folder of the docs and of the site as well.
  const isOfDocs = file.style === "docusaurus" && !/^\.\.?\//.test(path);
  const bases =
    file.style && (isOfHugo || isOfDocs) ? basesOf(file.style, file.path, file.site) : [];
  const folders = [folder, ...bases];
  const page = withoutExtension(file.path);
  const isIndex = /(?:^|\/)(?:_?index|readme)$/i.test(page);
  // gohugo.io, "Page bundles": a browser looks for what is no page, from the address of the page.
  if (file.style === "hugo" && !isIndex && downloaded.test(path)) return [...folders, page];
  if (formatOf(path) !== undefined) return [...folders, ...contentFolders(file)];
  if (isIndex) return folders;
  const when = fromPage(path, folder, file);
  if (when === "never") return folders;
  return when === "first" ? [page, ...folders] : [...folders, page];
}

/** Where the path of a link may lead, as its generator or a browser reads it. */
function placesOf(path: string, file: LinkingFile): string[] {
  const { style, pages } = file;
  // The start page of a site is one of its pages, not the README of the repository.
  const isStart = path === "/" && style !== undefined && style !== "github";
  const bases = style === undefined ? [] : basesOf(style, file.path, file.site);
  // docusaurus.io, "Markdown links": only a path with an extension is one of files.
  const isAddress = style === "docusaurus" && formatOf(path) === undefined;
  const folders = !path.startsWith("/")
    ? foldersOf(path, file)
    : isAddress
      ? bases.slice(0, isStart ? 0 : 1)
      : [...(isStart ? [] : [""]), ...(pages ? [pages.folder] : bases)];
  const language = namedLanguage(file);
  // A browser goes no higher than the root: `../../b` on a page of the first level is `/b`.
  const root = formatOf(path) === undefined && pages?.areFolders ? pages.folder : undefined;
  const isRoot = root !== undefined && /^(?:\w+:\/\/[^/]*\/?)?$/.test(pages?.base ?? "");
  const places = folders
    .map((folder) =>
      isRoot && folder.startsWith(root)
        ? root + posix.join("/", folder.slice(root.length), path).replace(/^\/|\/+$/g, "")
        : joined(folder, path),
    )
    .filter((each) => each !== undefined)
    .flatMap((place) => {
      const named = language && place.replace(/(?=\.[^./]+$)/, `.${language}`);
      return named !== undefined && named !== place ? [named, place] : [place];
    });
  return [...new Set(places.flatMap(formsOf))];
}

/** The extension of the linking file first: most sites have one format. */
function withOwn(extensions: readonly string[], file: LinkingFile): string[] {
  const own = extensionOf(file.path);
  const all = formatOf(file.path) ? [...new Set([own, ...extensions])] : [...extensions];
  const language = namedLanguage(file);
  return language === undefined ? all : [...all.map((each) => `.${language}${each}`), ...all];
}

const filesAt = (place: string, file: LinkingFile): string[] =>
  withOwn(pageExtensions, file).map((extension) => place + extension);

const indexesIn = (folder: string, file: LinkingFile): string[] =>
  indexNames.flatMap((name) =>
    withOwn(indexExtensions, file).map((extension) => posix.join(folder, name + extension)),
  );

/** The files that may be the page at a place that is no file itself, most likely ones first. */
function pagesAt(
  place: string,
  kind: Target["kind"],
  hasSlash: boolean,
  file: LinkingFile,
): string[] {
  const { style } = file;
  // A page that the site has as HTML: the file has another extension.
  // Middleman and the registry of Terraform keep it: `page.html.md`.
  if (/\.html?$/i.test(place)) {
    return [...filesAt(withoutExtension(place), file), ...filesAt(place, file)];
  }
  if (formatOf(place) !== undefined) return [];
  if (kind === "none") return filesAt(place, file);
  const files = place === "" ? [] : filesAt(place, file);
  const isFolder = hasSlash && !(style && resolvesBelowPage(style));
  const indexes = indexesIn(place, file);
  return isFolder ? [...indexes, ...files] : [...files, ...indexes];
}

function resolveAt(
  place: string,
  hasSlash: boolean,
  file: LinkingFile,
): Target | "other" | undefined {
  if (isHidden(place)) return "other";
  const exact = file.targets.at(place);
  // Not of a folder: its stamp changes with each file in it. One that appears is noted here.
  if (exact.kind !== "folder") file.note(place, exact.stamp);
  if (exact.kind === "document") return exact;
  if (exact.kind === "file") return "other";
  for (const page of pagesAt(place, exact.kind, hasSlash, file)) {
    const target = file.targets.at(page);
    file.note(page, target.stamp);
    if (target.kind === "document") return target;
  }
  return exact.kind === "folder" ? "other" : undefined;
}

/**
 * gohugo.io, "Page paths": addresses are in lower case, whatever the files are called. DocFX finds
 * files of Windows. A file that
 * appears later is no part of the document: its name is not known, and a folder changes too often.
 */
function resolveInLowerCase(
  places: readonly string[],
  path: string,
  file: LinkingFile,
): Target | undefined {
  const { targets } = file;
  for (const place of places) {
    const folder = targets.inOtherCase(place) ?? place;
    const pages = pagesAt(folder, targets.at(folder).kind, path.endsWith("/"), file);
    for (const page of [place, ...pages]) {
      const actual = targets.inOtherCase(page) ?? page;
      const target = isHidden(actual) ? undefined : targets.at(actual);
      if (target?.kind !== "document") continue;
      file.note(actual, target.stamp);
      return target;
    }
  }
  return undefined;
}

/** The file that a link in a note names. One that is nearer may be added in any folder. */
function resolveByName(path: string, { vault, targets, note }: LinkingFile): Target | undefined {
  const found = vault?.find(path);
  if (vault) note(partAnywhere(path), undefined);
  return found === undefined ? undefined : targets.at(found);
}

// A name as sites make them of titles. Files without extension and pages of a wiki have capital letters.
const siteName = /^[$@\p{Ll}\p{Lo}\p{N}][@~_\p{Ll}\p{Lo}\p{N}-]*$/u;

/** gohugo.io, "Configure modules": whether pages of the site come from a folder that is not here. */
function hasPagesElsewhere({ site, targets }: LinkingFile): boolean {
  const mounts = valueAt(site.data, "module.mounts", true);
  return (Array.isArray(mounts) ? mounts : []).some((each) => {
    const [source = "", target = ""] = ["source", "target"].map((key) =>
      textOf(valueAt(each, key, true)),
    );
    if (!/^content\b/.test(target)) return false;
    const place = posix.join(site.prefix, source);
    return place.startsWith("../") || targets.at(place).kind === "none";
  });
}

/** `@site/`, `@/` and `~/` name a folder that only the generator of the site knows. */
export const namedFolder = /^[@~][\w.-]{0,100}\//;

/** Whether a path without a file may be an address that the generator makes: a site has more of them than files. */
function mayBeOfSite(path: string, file: LinkingFile): boolean {
  const { path: from, style, site } = file;
  // List pages, for example.
  if (path.startsWith("/") || namedFolder.test(path)) return true;
  // 11ty.dev, "Permalinks": the front matter of any page decides where it is.
  if (site.isFree && path.endsWith("/")) return true;
  // Nobody has said how the site makes its addresses.
  if (style === undefined && siteName.test(path)) return true;
  // Sphinx: the index, the search page, html_additional_pages. Books have other books beside them.
  const isPage = /\.html?$/i.test(path) && !/\.html?$/i.test(from);
  // Antora: a page of another component.
  const isOfOther = style === undefined || style === "antora" || /\.rst$/i.test(from);
  if (isPage && isOfOther) return true;
  // quarto.org, "Embedding from Other Documents": the view of a notebook is a page of its own.
  if (style === "quarto" && path.endsWith("-preview.html")) return true;
  if (style === "hugo" && !path.includes("/") && hasPagesElsewhere(file)) return true;
  // gohugo.io, "GetPage": a name finds a page anywhere on the site, and hooks give names a meaning.
  return style === "hugo" && !/^\.\.?\//.test(path) && formatOf(path) === undefined;
}

/** docusaurus.io, "Markdown links": `@site/` is the folder of the site. */
const ofSite = (path: string, { style }: LinkingFile): string =>
  style === "docusaurus" ? path.replace(/^@site\//, "/") : path;

/**
 * Finds the document that the path of a link leads to, before `?` and `#`: from the folder of the
 * file, with "/" from the root. Tries extensions and index files as generators do.
 */
export function resolveLink(path: string, file: LinkingFile): Resolved {
  const decoded = ofSite(decodePercent(path), file);
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f\\]/.test(decoded)) return { kind: "other" };
  const page = pageAtAddress(decoded, file);
  if (page) return { kind: "document", target: page };
  const assets = file.style === "antora" ? inAssets(decoded) : undefined;
  const places = [decoded, assets ?? []].flat().flatMap((each) => placesOf(each, file));
  if (places.length === 0) return { kind: "other" };
  let isOther = false;
  for (const place of places) {
    const target = resolveAt(place, decoded.endsWith("/"), file);
    // A note may have the name of a folder.
    if (target === "other") isOther = !file.vault || file.targets.at(place).kind === "file";
    else if (target) return { kind: "document", target };
  }
  const target =
    file.style === "hugo" || file.style === "docfx"
      ? (resolveInLowerCase(places, decoded, file) ?? pageByName(decoded, file))
      : resolveByName(decoded, file);
  if (target?.kind === "file") return { kind: "other" };
  if (target) return { kind: "document", target };
  const mayBe = isOther || isCopied(decoded, file) || mayBeOfSite(decoded, file);
  const isMade = (place: string): boolean =>
    file.targets.isIgnored?.(place) === true || file.isMade?.(place) === true;
  return { kind: mayBe || places.some(isMade) ? "other" : "dead" };
}
