import { posix } from "node:path";
import { folderOf, nameIn, withoutExtension } from "../../files/file-name.ts";
import type { SitePages } from "../../site/site-pages.ts";
import { textOf, type Value, type ValueMap, valueAt } from "../../front-matter/values.ts";
import { docusaurusAddress, docusaurusFolder, join, resolved } from "../../site/docusaurus.ts";
import { hugoConfig, hugoPage } from "../../site/hugo.ts";
import { jekyllAddress } from "../../site/jekyll.ts";
import type { LinkStyle } from "../../site/generators.ts";
import { encodePath } from "./template.ts";
import { githubSlug, type AnchorStyle } from "../../text/heading-text.ts";

/** The site of a page: its folder, "" or with a trailing "/", and its configuration. */
export interface PageFolder {
  prefix: string;
  data: ValueMap;
  /** Whether its generator makes addresses in ways that are not known here. */
  isFree?: boolean;
}

/** A file, and its front matter by key. */
export interface StyledFile {
  /** Root-relative; for a style: below its folder of pages. */
  path: string;
  valueOf(key: string): Value | undefined;
  /** The value on one line; undefined for a blank one. */
  textOf(key: string): string | undefined;
  pages?: SitePages | undefined;
  site: PageFolder;
}

interface Style {
  /** How the site makes anchors of headings. */
  anchors: AnchorStyle;
  /** Folder of the pages in the project; it is no part of their addresses. "" for none. */
  folder: string;
  /** Whether the address of a page ends with "/", so that a browser resolves links below it. */
  endsWithSlash: boolean;
  /** The link of a page below `folder`, relative to the base. */
  linkOf(page: StyledFile): string;
}

const pageExtension = /\.(?:md|markdown|mdx|qmd|rmd|ipynb|rst|rest|adoc|asciidoc|asc)(?:\.gz)?$/i;

/** help.obsidian.md, "Obsidian Publish": the address of a note is its path with "+" for blanks. */
const publishPath = (path: string): string => encodePath(path).replaceAll("%20", "+");

const withSlash = (path: string): string => (path === "" ? "" : `${encodePath(path)}/`);

const docusaurusLink = (file: StyledFile): string =>
  encodePath(docusaurusAddress(file, file.site.data));

/** gohugo.io, "Page paths": lower case, "-" for blanks; other marks are dropped. */
const hugoPath = (path: string, keepsCase: boolean): string =>
  (keepsCase ? path : path.toLowerCase())
    .replace(/\s+/g, "-")
    .replace(/[^\p{L}\p{N}\p{M}./_~+@%-]/gu, "");

/**
 * gohugo.io, "URL management > Permalinks": the path that the configuration gives to the pages of a
 * section; undefined without one, and for one whose parts are not known.
 */
function hugoPermalink(page: string, { textOf: front, site }: StyledFile): string | undefined {
  const folders = folderOf(page)
    .split("/")
    .filter((each) => each !== "");
  const [section = ""] = folders;
  const of = (key: string): Value | undefined => valueAt(site.data, `permalinks.${key}`, true);
  const pattern = textOf(of(`page.${section}`)) ?? textOf(of(section));
  if (section === "" || pattern === undefined || /(?:^|\/)_index$/i.test(page)) return undefined;
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})/.exec(front("date") ?? "") ?? [];
  const name = page.replace(/\/index$/i, "").replace(/^.*\//, "");
  const slug = front("slug");
  const title = front("title") ?? name;
  const values: Readonly<Record<string, string | undefined>> = {
    year,
    month,
    day,
    section,
    sections: folders.join("/"),
    title,
    slug: slug ?? title,
    filename: name,
    contentbasename: name,
    slugorfilename: slug ?? name,
    slugorcontentbasename: slug ?? name,
  };
  let isKnown = true;
  const path = pattern.replace(/:([a-z]+)/g, (_, key: string) => {
    isKnown &&= values[key] !== undefined;
    return values[key] ?? "";
  });
  return isKnown ? path.replace(/^\/+|\/+$/g, "") : undefined;
}

/**
 * gohugo.io, "URL management": `url` replaces the path, `slug` its last name, but not of sections;
 * "Multilingual mode": pages of other languages are below the key of their language.
 */
function hugoLink(file: StyledFile): string {
  const { path, textOf, site } = file;
  const config = hugoConfig(site.data);
  const { language, page } = hugoPage(path, config) ?? { page: withoutExtension(path) };
  const prefix = language === undefined || language.key === config.bare ? "" : language.key;
  const url = textOf("url");
  if (url !== undefined) return url.startsWith("/") ? url : join(prefix, url);
  const slug = /(?:^|\/)_index$/i.test(page) ? undefined : textOf("slug");
  const own = page.replace(/(?:^|\/)_?index$/i, "");
  const named = hugoPermalink(page, file) ?? (slug === undefined ? own : join(folderOf(own), slug));
  const full = join(prefix, hugoPath(named, config.keepsCase));
  const isFile = config.isUgly && !/(?:^|\/)_?index$/i.test(page);
  return isFile ? `${encodePath(full)}.html` : withSlash(full);
}

/** jekyllrb.com, "Permalinks". */
function jekyllLink({ path, valueOf, site }: StyledFile): string {
  const address = jekyllAddress({ path, get: valueOf }, site.data);
  return encodePath(address.replace(/(^|\/)index\.html$/, "$1"));
}

/**
 * starlight.astro.build, "Pages" and front matter `slug`; docs.astro.build, content collections:
 * each name of the path becomes a slug as github-slugger makes it.
 */
function starlightLink({ path, textOf }: StyledFile): string {
  const slug = textOf("slug");
  if (slug !== undefined) return withSlash(resolved(slug));
  const names = withoutExtension(path).split("/").map(githubSlug);
  return withSlash(names.join("/").replace(/(?:^|\/)index$/, ""));
}

/**
 * vitepress.dev, "Route Rewrites": the parts that the names of a pattern stand for in a path, `:name` for
 * one and `:name*`, at the end, for any number; undefined where the pattern does not fit, and for
 * one with other marks.
 */
function namedParts(path: string, pattern: string): Map<string, string> | undefined {
  const parts = path.split("/");
  const found = new Map<string, string>();
  const wanted = pattern.split("/");
  for (const [at, each] of wanted.entries()) {
    const part = parts[at];
    const [, name, ending = ""] = /^(:\w+)(.*)$/.exec(each) ?? [];
    if (part === undefined || (name === undefined && part !== each)) return undefined;
    if (name === undefined) continue;
    if (ending === "*" && at === wanted.length - 1)
      return found.set(name, parts.slice(at).join("/"));
    if (!part.endsWith(ending)) return undefined;
    found.set(name, part.slice(0, part.length - ending.length));
  }
  return parts.length === wanted.length ? found : undefined;
}

/** Where the first rewrite that fits puts a page of VitePress. */
function vitepressRewritten(path: string, data: ValueMap): string {
  const rewrites = valueAt(data, "rewrites");
  for (const each of Array.isArray(rewrites) ? rewrites : []) {
    const [from = "", to = ""] = Array.isArray(each) ? each.map((one) => textOf(one) ?? "") : [];
    const parts = namedParts(path, from);
    if (parts) return to.replace(/(:\w+)\*?/g, (_, name: string) => parts.get(name) ?? "");
  }
  return path;
}

/**
 * vitepress.dev, "Routing": `guide/a.md` is `guide/a.html`, and so it is with `cleanUrls` on most hosts; an index, of
 * VuePress also the README, is the page of its folder.
 */
function vitepressLink({ path, site }: StyledFile): string {
  const source = vitepressSource(site.data);
  const below = path.startsWith(source) ? path.slice(source.length) : path;
  const page = withoutExtension(vitepressRewritten(below, site.data));
  const folder = page.replace(/(?:^|\/)(?:index|readme)$/i, "");
  const ending = textOf(valueAt(site.data, "cleanUrls")) === "true" ? "" : ".html";
  return folder === page ? encodePath(page) + ending : withSlash(folder);
}

/** vitepress.dev, "srcDir": the folder of the pages below that of the site; "" for the same. */
function vitepressSource(data: ValueMap): string {
  const folder = textOf(valueAt(data, "srcDir"))?.replace(/^\.?\/+|\/+$/g, "") ?? "";
  return folder === "" || folder === "." ? "" : `${folder}/`;
}

/** dotnet.github.io/docfx, "Basic Concepts": each page keeps its path; readers open the folder of an index. */
const docfxLink = ({ path }: StyledFile): string => {
  const page = withoutExtension(path);
  return nameIn(page) === "index" ? withSlash(folderOf(page)) : `${encodePath(page)}.html`;
};

/** mkdocs.org, "use_directory_urls" and "Index pages". */
function mkdocsLink({ path, pages }: StyledFile): string {
  const page = withoutExtension(path);
  const folder = page.replace(/(?:^|\/)(?:index|README)$/, "");
  if (pages?.areFolders !== false) return withSlash(folder);
  return `${encodePath(folder === page ? page : join(folder, "index"))}.html`;
}

/** mystmd, `createSlug`: a leading number is no part of the name, unless it is a year. */
const mystSlug = (name: string): string =>
  (/^(?:[12]\d{3}(?!\d)|\d{5})/.test(name) ? name : name.replace(/^[\d_.-]+(?=.)/, ""))
    .toLowerCase()
    .replaceAll("&", "-and-")
    .replace(/[^a-z\d]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 50);

/** mystmd.org, "Site navigation": a page has its name alone, and the index is the root. */
function mystLink({ path }: StyledFile): string {
  const page = withoutExtension(path);
  return page === "index" ? "" : mystSlug(nameIn(page));
}

/** Each page keeps its path: quarto.org, "Website basics". */
const htmlLink = ({ path }: StyledFile): string => `${encodePath(withoutExtension(path))}.html`;

/**
 * docs.antora.org, "How Antora Builds URLs": component, version, module and page, without those that
 * are called ROOT.
 */
function antoraLink({ path, pages }: StyledFile): string {
  const [, module = "", page = ""] =
    /^modules\/([^/]+)\/pages\/(.*)$/.exec(withoutExtension(path)) ?? [];
  if (page === "") return encodePath(path);
  const names = [...(pages?.component ?? []), module].filter((each) => each !== "ROOT");
  return encodePath(join(...names, `${page}.html`));
}

// What most styles have.
const usual = { anchors: "github", folder: "", endsWithSlash: false } as const;

const styles: Readonly<Record<LinkStyle, Style>> = {
  antora: { ...usual, linkOf: antoraLink },
  // sphinx-doc.org, "Builders": that of HTML keeps the path.
  sphinx: { ...usual, anchors: "sphinx", linkOf: htmlLink },
  docusaurus: { ...usual, anchors: "docusaurus", linkOf: docusaurusLink },
  // The folders of its pages are in its configuration.
  hugo: { ...usual, endsWithSlash: true, linkOf: hugoLink },
  jekyll: { ...usual, linkOf: jekyllLink },
  mkdocs: { anchors: "mkdocs", folder: "docs/", endsWithSlash: true, linkOf: mkdocsLink },
  starlight: {
    ...usual,
    folder: "src/content/docs/",
    endsWithSlash: true,
    linkOf: starlightLink,
  },
  vitepress: { ...usual, anchors: "vitepress", linkOf: vitepressLink },
  github: { ...usual, linkOf: ({ path }) => encodePath(path) },
  obsidian: {
    ...usual,
    anchors: "obsidian",
    linkOf: ({ path }) => publishPath(withoutExtension(path)),
  },
  myst: { ...usual, anchors: "myst", linkOf: mystLink },
  quarto: { ...usual, anchors: "quarto", linkOf: htmlLink },
  docfx: { ...usual, linkOf: docfxLink },
};

/** How a style makes anchors of headings. */
export function anchorsOfStyle(style: LinkStyle, { data }: PageFolder): AnchorStyle {
  const slugs = style === "vitepress" ? textOf(data["slugs"] ?? null) : undefined;
  if (slugs === "github" || slugs === "none") return slugs;
  // jekyllrb.com, "Markdown options": Jekyll reads GFM with kramdown if nothing else is said.
  const isKramdown =
    style === "jekyll" && textOf(valueAt(data, "kramdown.input"))?.toLowerCase() === "kramdown";
  return isKramdown ? "kramdown" : styles[style].anchors;
}

/** The folders, root-relative, from which an address with "/" may count on a page of a style. */
export function basesOf(style: LinkStyle, path: string, { prefix, data }: PageFolder): string[] {
  if (style === "docusaurus") {
    const below = path.slice(prefix.length);
    const folder = textOf(valueAt(data, "folder")) ?? "website/";
    return [docusaurusFolder(below, data), "", folder].map((each) => prefix + each);
  }
  if (style === "vitepress") {
    // Each language may have a folder that is no part of the addresses ("rewrites").
    const names = posix.dirname(path.slice(prefix.length)).split("/");
    return names.map(
      (_name, count) => prefix + join(...names.slice(0, count)) + (count > 0 ? "/" : ""),
    );
  }
  if (style !== "hugo") return [prefix + styles[style].folder];
  const config = hugoConfig(data);
  const own = hugoPage(path.slice(prefix.length), config)?.language;
  const languages = [own, ...config.languages.filter(({ key }) => key === config.bare)];
  const folders = languages.flatMap((language) => language?.folders ?? []);
  return [...new Set(folders)].map((folder) => prefix + folder);
}

/** Whether the address of a page ends with "/", so that a browser resolves its links below it. */
export function resolvesBelowPage(style: LinkStyle): boolean {
  return styles[style].endsWithSlash;
}

// Addresses count from the folder of the site.
const belowSite: ReadonlySet<LinkStyle> = new Set([
  "docusaurus",
  "hugo",
  "jekyll",
  "starlight",
  "vitepress",
]);

// Their configuration names the folders of pages, and pages may be HTML.
const hasSite = (style: LinkStyle): boolean => style === "hugo" || style === "jekyll";

/**
 * The link of a file as a site generator makes it, relative to `linkBase`. Files that are no pages
 * keep their paths. For `github`, the branch is that of the base (`…/blob/main`), else the default
 * branch: docs.github.com, "Getting permanent links to files", HEAD names it.
 */
export function styledLink(
  style: LinkStyle,
  file: StyledFile,
  base: string | undefined,
  pages: SitePages | undefined,
): string {
  const { linkOf } = styles[style];
  const { prefix } = belowSite.has(style) ? file.site : { prefix: "" };
  const folder = pages?.folder ?? prefix + styles[style].folder;
  const path = file.path.startsWith(folder) ? file.path.slice(folder.length) : file.path;
  if (style === "github") {
    const hasBranch = /\/(?:blob|tree)\/./.test(base ?? "");
    return `${hasBranch ? "" : "blob/HEAD/"}${encodePath(file.path)}`;
  }
  const isPage = pageExtension.test(path) || (hasSite(style) && /\.html?$/i.test(path));
  return isPage ? linkOf({ ...file, path, pages }) : encodePath(path);
}
