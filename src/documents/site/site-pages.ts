import { posix } from "node:path";
import { isMap, textOf, type Value, type ValueMap, valueAt } from "../front-matter/values.ts";
import { configOf } from "./config.ts";
import type { GeneratorName } from "./generators.ts";
import { outsideOfBook } from "./quarto.ts";
import type { Site, SiteSettings } from "./sites.ts";

/** Where a site has its pages, as its configuration says. */
export interface SitePages {
  /** The folder of the pages, root-relative, with "/" at its end; "" for the root. */
  folder: string;
  /** Whether pages are folders: `guide/` instead of `guide.html`. */
  areFolders: boolean;
  /** Base of the addresses of its pages. */
  base: string | undefined;
  /** Names that the addresses of all its pages begin with. */
  component?: readonly string[];
  /** Files of the folder that are no pages, in the patterns of .gitignore. */
  excluded: string;
}

type Listed = Pick<SitePages, "folder" | "excluded">;
type Read = (key: string) => Value | undefined;

const webAddress = (url = ""): string | undefined =>
  /^https?:\/\/[^\s/\\]/.test(url) ? url : undefined;

/** The texts of a list; none if it is no list. */
const textsOf = (value: Value | undefined): string[] =>
  Array.isArray(value) ? value.map((each) => textOf(each) ?? "") : [];

/** The texts of an option of an extension or a plugin, which a list or a map names. */
function optionTexts(named: Value | undefined, name: string, option: string): string[] {
  for (const each of Array.isArray(named) ? named : [named ?? null]) {
    const options = each !== null && isMap(each) ? (each[name] ?? null) : null;
    const texts = options !== null && isMap(options) ? options[option] : undefined;
    if (texts !== undefined) return textsOf(Array.isArray(texts) ? texts : [texts]);
  }
  return [];
}

/** mkdocs.org, "Configuration". */
function mkdocsPages(prefix: string, read: Read): SitePages {
  const value = (key: string): string | undefined => textOf(read(key));
  const folder = posix.join(prefix, value("docs_dir") ?? "docs", "/");
  // The templates of a theme may lie between the pages. What pages include is none itself.
  const snippets = optionTexts(read("markdown_extensions"), "pymdownx.snippets", "base_path");
  const parts = [value("theme.custom_dir") ?? "", ...snippets]
    .map((each) => each && posix.relative(folder, posix.join(prefix, each)))
    .filter((each) => each !== "" && !each.startsWith(".."));
  const patterns = [
    "/templates/",
    // github.com/apenwarr/mkdocs-exclude: a star stands for folders as well.
    ...optionTexts(read("plugins"), "exclude", "glob").map((each) =>
      each.replace(/^(?=[^*])/, "/"),
    ),
    ...parts.map((each) => `/${each}/`),
    value("exclude_docs"),
    value("draft_docs"),
  ];
  return {
    folder: folder === "./" ? "" : folder,
    areFolders: value("use_directory_urls")?.toLowerCase() !== "false",
    excluded: patterns.join("\n"),
    base: webAddress(value("site_url")),
  };
}

/** Patterns from a folder as .gitignore has them. */
const anchored = (patterns: readonly string[]): string =>
  patterns.map((each) => (each === "" ? "" : `/${each.replace(/^\.?\//, "")}`)).join("\n");

/** sphinx-doc.org, "Configuration". Text and HTML are pages where `source_suffix` names them. */
function sphinxPages(prefix: string, read: Read): SitePages {
  const suffixes = JSON.stringify(read("source_suffix") ?? "");
  const lists = ["exclude_patterns", "templates_path", "html_static_path", "html_extra_path"];
  const others = [".txt", ".html"].filter((each) => !suffixes.includes(each));
  const listed = anchored(lists.flatMap((each) => textsOf(read(each))));
  return {
    folder: prefix,
    areFolders: false,
    excluded: [listed, ...others.map((each) => `*${each}`)].join("\n"),
    base: webAddress(textOf(read("html_baseurl"))),
  };
}

/** A version of Antora without those that are none: `~`, and the name of a branch, which nobody knows here. */
export const antoraVersion = (version = ""): string =>
  version.replace(/^(?:~|null|true|master|_)$/, "");

/** docs.antora.org, "Component Version Descriptor". Navigation files are no pages. */
function antoraPages(prefix: string, read: Read): SitePages {
  return {
    folder: prefix,
    areFolders: false,
    component: [textOf(read("name")) ?? "", antoraVersion(textOf(read("version")))],
    excluded: anchored(textsOf(read("nav"))),
    base: undefined,
  };
}

/** A vault of Obsidian: what new notes are made of is none. */
function obsidianPages(prefix: string, read: Read): SitePages {
  const templates = ["folder", "templates_folder"]
    .map((key) => textOf(read(key))?.replace(/^\/+|\/+$/g, "") ?? "")
    .filter((each) => each !== "");
  const excluded = anchored(templates.map((each) => `${each}/`));
  return { folder: prefix, areFolders: false, excluded, base: undefined };
}

/**
 * dotnet.github.io/docfx, "docfx.json": pages of one folder `src` have their addresses below it. What
 * a group of files leaves out another one may take.
 */
function docfxPages(prefix: string, read: Read): SitePages {
  const content = read("build.content");
  const groups = (Array.isArray(content) ? content : []).filter(
    (each): each is ValueMap => each !== null && isMap(each),
  );
  const sources = new Set(groups.map((each) => textOf(valueAt(each, "src")) ?? ""));
  const [only = ""] = sources.size === 1 ? sources : [];
  const source = posix.normalize(`${only}/`).replace(/^\.?\/+/, "");
  const inGroups = (key: string, isWanted: (group: ValueMap) => boolean): string[] =>
    groups.filter(isWanted).flatMap((each) => {
      const from = sources.size === 1 ? "" : posix.join(textOf(valueAt(each, "src")) ?? "", "/");
      return textsOf(valueAt(each, key)).map((pattern) => posix.join(from, pattern));
    });
  // "Overwrite" files have texts for pages of an API, and are none.
  const overwrite = read("build.overwrite");
  const others = (Array.isArray(overwrite) ? overwrite : [overwrite ?? null]).flatMap((each) =>
    each !== null && isMap(each) ? textsOf(each["files"]) : (textOf(each) ?? []),
  );
  const excluded = anchored([...inGroups("exclude", () => true), ...others]);
  const taken = anchored(inGroups("files", (each) => valueAt(each, "exclude") === undefined));
  return {
    folder: source.startsWith("../") ? prefix : prefix + source,
    areFolders: false,
    excluded: `${excluded}\n${taken.replace(/^(?=.)/gm, "!")}`,
    base: undefined,
  };
}

const readers: Partial<Record<GeneratorName, (prefix: string, read: Read) => SitePages>> = {
  antora: antoraPages,
  docfx: docfxPages,
  mkdocs: mkdocsPages,
  obsidian: obsidianPages,
  sphinx: sphinxPages,
};

/** Lists of what is no page, of generators that say nothing else about their pages. */
const lists: Partial<Record<GeneratorName, (prefix: string, read: Read) => Listed>> = {
  // jekyllrb.com, "Configuration options": paths and patterns from the folder of the configuration.
  jekyll: (folder, read) => ({
    folder,
    excluded: [
      anchored(textsOf(read("exclude"))),
      anchored(textsOf(read("include"))).replace(/^(?=.)/gm, "!"),
    ].join("\n"),
  }),
  quarto: (folder, read) => ({ folder, excluded: outsideOfBook(read) }),
  // vitepress.dev, "srcExclude".
  vitepress: (prefix, read) => {
    const folder = posix.join(prefix, textOf(read("srcDir")) ?? "", "/");
    return {
      folder: folder === "./" ? "" : folder,
      excluded: anchored(textsOf(read("srcExclude"))),
    };
  },
};

/**
 * The files of a site that its configuration excludes, in the patterns of .gitignore below a folder;
 * undefined where it has no such list.
 */
export function excludedFiles(site: Site, settings: SiteSettings): Listed | undefined {
  const list = lists[site.generator];
  if (!list) return sitePages(site, settings);
  const { data } = configOf(site, settings);
  return list(site.prefix, (key) => valueAt(data, key));
}

/** The pages of a site as its configuration says; undefined where it does not. */
export function sitePages(site: Site, settings: SiteSettings): SitePages | undefined {
  const { data } = configOf(site, settings);
  return readers[site.generator]?.(site.prefix, (key) => valueAt(data, key));
}
