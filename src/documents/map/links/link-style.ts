import { posix } from "node:path";
import { CliError } from "../../../errors.ts";
import { nearest } from "../../../nearest.ts";
import { withoutExtension } from "../../files/file-name.ts";
import type { SitePages } from "../../site/site-pages.ts";
import { textOf, type Value, type ValueMap } from "../../front-matter/values.ts";
import { configOf, valueAt } from "../../site/config.ts";
import { docusaurusAddress, docusaurusFolder } from "../../site/docusaurus.ts";
import { hugoConfig, hugoPage } from "../../site/hugo.ts";
import { jekyllAddress } from "../../site/jekyll.ts";
import type { LinkStyle } from "../../site/generators.ts";
import type { Site, SiteSettings } from "../../site/sites.ts";
import { githubSlug, type AnchorStyle } from "../../text/heading-text.ts";

/** Returns the value of a name in a link template. */
type LinkValue = (name: string) => string | undefined;

export type Link = { link: string } | { problem: string };

// In Docusaurus, MkDocs, Hugo and on GitHub, a file of this name is the page of its folder.
const indexName = /(?:^|\/)(?:_?index|readme)$/i;

/** The path without a last `index`, `README` or `_index`: `docs/index` is `docs`. */
export function withoutIndex(path: string): string {
  return path.replace(indexName, "");
}

/** Removes `prefix` from the start; `strip:docs/` also empties `docs`, the slug of its index page. */
function strip(value: string, prefix: string): string {
  if (prefix.endsWith("/") && value === prefix.slice(0, -1)) return "";
  return value.startsWith(prefix) ? value.slice(prefix.length) : value;
}

const filters: Readonly<Record<string, (value: string, argument: string) => string>> = {
  lower: (value) => value.toLowerCase(),
  strip,
};
const filterNames = Object.keys(filters);

const place = /\{([^{}]*)\}/g;

/** Splits `slug|strip:docs/|lower` at `|`, and each filter at its first colon. */
function parsePlace(text: string): { name: string; filters: [name: string, argument: string][] } {
  const [name = "", ...rest] = text.split("|");
  return {
    name: name.trim(),
    filters: rest.map((each) => {
      const colon = each.indexOf(":");
      if (colon === -1) return [each.trim(), ""];
      return [each.slice(0, colon).trim(), each.slice(colon + 1).trim()];
    }),
  };
}

function filterProblem(name: string, argument: string): string | undefined {
  if (!Object.hasOwn(filters, name)) {
    const similar = nearest(name, filterNames);
    const suggestion = similar === undefined ? "" : `; did you mean ${similar}?`;
    return name === "" ? "a filter without a name" : `unknown filter ${name}${suggestion}`;
  }
  if (name === "strip" && argument === "") return "strip needs a prefix, for example strip:docs/";
  return name === "lower" && argument !== "" ? "lower has no argument" : undefined;
}

/**
 * Checks a link template before any file is read. `where` begins the message: `--link`. Throws
 * CliError `usage` for a place without a name and for an unknown filter.
 */
export function checkTemplate(template: string, where: string): void {
  for (const [whole, text = ""] of template.matchAll(place)) {
    const parsed = parsePlace(text);
    const problem =
      parsed.name === ""
        ? "a place without a name"
        : parsed.filters.map((each) => filterProblem(...each)).find((each) => each !== undefined);
    if (problem === undefined) continue;
    throw new CliError("usage", `${where}: ${whole}: ${problem}`, {
      hints: [
        `write {slug}, {path|lower} or {slug|strip:docs/}; filters: ${filterNames.join(", ")}`,
      ],
    });
  }
}

/** Without empty segments in the path of an address. */
function withoutEmptySegments(link: string): string {
  const end = link.search(/[?#]/);
  const path = end === -1 ? link : link.slice(0, end);
  return path.replace(/(?<!^|:|\/)\/{2,}/g, "/") + (end === -1 ? "" : link.slice(end));
}

/** Percent-encodes each segment, so that "/" stays. */
function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/**
 * Fills a template, for example `https://docs.example.com/{slug|lower}`. An empty value also
 * removes the slash after it (`{dir}` of a file in the root), and no other segment is empty. For an
 * `isIndex`, `{slug}.html` is the folder, where a server finds the page. Returns a `problem` when a
 * name has no value.
 */
export function expandTemplate(template: string, valueOf: LinkValue, isIndex = false): Link {
  const missing: string[] = [];
  const ofFolder = isIndex ? template.replace(/(\{\s*slug\b[^{}]*\})\.html?\b/g, "$1/") : template;
  const link = ofFolder.replace(/\{([^{}]+)\}(\/?)/g, (_whole, text: string, slash: string) => {
    const { name, filters: applied } = parsePlace(text);
    let value = valueOf(name);
    if (value === undefined) missing.push(name);
    for (const [filter, argument] of applied) value = value && filters[filter]?.(value, argument);
    return value ? encodePath(value) + slash : "";
  });
  return missing.length === 0
    ? { link: withoutEmptySegments(link) }
    : { problem: `no value for {${missing.join("}, {")}}` };
}

/** The site of a page: its folder, "" or with a trailing "/", and its configuration. */
export interface PageFolder {
  prefix: string;
  data: ValueMap;
}

/** The site of a page, for the style of its links. Without one, it is the whole project. */
export function pageFolderOf(site: Site | undefined, settings: SiteSettings): PageFolder {
  if (!site) return { prefix: "", data: Object.create(null) as ValueMap };
  return { prefix: site.prefix, data: configOf(site, settings).data };
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

const pageExtension = /\.(?:md|markdown|mdx|qmd|ipynb|rst|rest|adoc|asciidoc|asc)(?:\.gz)?$/i;

/** help.obsidian.md, "Obsidian Publish": the address of a note is its path with "+" for blanks. */
const publishPath = (path: string): string => encodePath(path).replaceAll("%20", "+");

const withSlash = (path: string): string => (path === "" ? "" : `${encodePath(path)}/`);
const nameIn = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const join = (...parts: string[]): string => parts.filter((each) => each !== "").join("/");

/** Resolves `.` and `..` of a front matter slug; never above the base. */
function resolved(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "." && name !== "") names.push(name);
  }
  return names.join("/");
}

const docusaurusLink = (file: StyledFile): string =>
  encodePath(docusaurusAddress(file, file.site.data));

/** gohugo.io, "Page paths": lower case, "-" for blanks; other marks are dropped. */
const hugoPath = (path: string, keepsCase: boolean): string =>
  (keepsCase ? path : path.toLowerCase())
    .replace(/\s+/g, "-")
    .replace(/[^\p{L}\p{N}\p{M}./_~+@%-]/gu, "");

/**
 * gohugo.io, "URL management": `url` replaces the path, `slug` its last name, but not of sections;
 * "Multilingual mode": pages of other languages are below the key of their language.
 */
function hugoLink({ path, textOf, site }: StyledFile): string {
  const config = hugoConfig(site.data);
  const { language, page } = hugoPage(path, config) ?? { page: withoutExtension(path) };
  const prefix = language === undefined || language.key === config.bare ? "" : language.key;
  const url = textOf("url");
  if (url !== undefined) return url.startsWith("/") ? url : join(prefix, url);
  const slug = /(?:^|\/)_index$/i.test(page) ? undefined : textOf("slug");
  const own = page.replace(/(?:^|\/)_?index$/i, "");
  const named = slug === undefined ? own : join(folderOf(own), slug);
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
 * vitepress.dev, "Routing": `guide/a.md` is `guide/a.html`, and so it is with `cleanUrls` on most hosts; an index, of
 * VuePress also the README, is the page of its folder.
 */
function vitepressLink({ path, site }: StyledFile): string {
  const source = vitepressSource(site.data);
  const page = withoutExtension(path.startsWith(source) ? path.slice(source.length) : path);
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

/** quarto.org, "Website basics": each page keeps its path. */
const quartoLink = ({ path }: StyledFile): string => `${encodePath(withoutExtension(path))}.html`;

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

const styles: Readonly<Record<LinkStyle, Style>> = {
  antora: { anchors: "github", folder: "", endsWithSlash: false, linkOf: antoraLink },
  sphinx: {
    anchors: "github",
    folder: "",
    endsWithSlash: false,
    // sphinx-doc.org, "Builders": that of HTML keeps the path.
    linkOf: ({ path }) => `${encodePath(withoutExtension(path))}.html`,
  },
  docusaurus: {
    anchors: "docusaurus",
    folder: "",
    endsWithSlash: false,
    linkOf: docusaurusLink,
  },
  // The folders of its pages are in its configuration.
  hugo: { anchors: "github", folder: "", endsWithSlash: true, linkOf: hugoLink },
  jekyll: { anchors: "github", folder: "", endsWithSlash: false, linkOf: jekyllLink },
  mkdocs: {
    anchors: "mkdocs",
    folder: "docs/",
    endsWithSlash: true,
    linkOf: mkdocsLink,
  },
  starlight: {
    anchors: "github",
    folder: "src/content/docs/",
    endsWithSlash: true,
    linkOf: starlightLink,
  },
  vitepress: {
    anchors: "vitepress",
    folder: "",
    endsWithSlash: false,
    linkOf: vitepressLink,
  },
  github: {
    anchors: "github",
    folder: "",
    endsWithSlash: false,
    linkOf: ({ path }) => encodePath(path),
  },
  obsidian: {
    anchors: "obsidian",
    folder: "",
    endsWithSlash: false,
    linkOf: ({ path }) => publishPath(withoutExtension(path)),
  },
  myst: { anchors: "myst", folder: "", endsWithSlash: false, linkOf: mystLink },
  quarto: { anchors: "quarto", folder: "", endsWithSlash: false, linkOf: quartoLink },
  docfx: { anchors: "github", folder: "", endsWithSlash: false, linkOf: docfxLink },
};

/** How a style makes anchors of headings. */
export function anchorsOfStyle(style: LinkStyle, { data }: PageFolder): AnchorStyle {
  // jekyllrb.com, "Markdown options": Jekyll reads GFM with kramdown if nothing else is said.
  const isKramdown =
    style === "jekyll" && textOf(valueAt(data, "kramdown.input"))?.toLowerCase() === "kramdown";
  return isKramdown ? "kramdown" : styles[style].anchors;
}

/** The folders, root-relative, from which an address with "/" may count on a page of a style. */
export function basesOf(style: LinkStyle, path: string, { prefix, data }: PageFolder): string[] {
  if (style === "docusaurus") {
    const below = path.slice(prefix.length);
    return [docusaurusFolder(below, data), "", "website/"].map((folder) => prefix + folder);
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
