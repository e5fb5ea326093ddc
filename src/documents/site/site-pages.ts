import { posix } from "node:path";
import { textOf } from "../front-matter/values.ts";
import { configOf, valueAt } from "./config.ts";
import type { Site, SiteSettings } from "./sites.ts";

/** Where a site has its pages, as its configuration says. */
export interface SitePages {
  /** The folder of the pages, root-relative, with "/" at its end; "" for the root. */
  folder: string;
  /** Whether pages are folders: `guide/` instead of `guide.html`. */
  areFolders: boolean;
  /** Base of the addresses of its pages. */
  base: string | undefined;
  /** Files of the folder that are no pages, in the patterns of .gitignore. */
  excluded: string;
}

/**
 * The pages of a site of MkDocs (mkdocs.org, "Configuration"), of a vault of Obsidian, and of a site of
 * DocFX, whose addresses count from the folder of its configuration; undefined for another one.
 */
export function sitePages(site: Site, settings: SiteSettings): SitePages | undefined {
  if (site.generator === "obsidian" || site.generator === "docfx") {
    return { folder: site.prefix, areFolders: false, base: undefined, excluded: "" };
  }
  if (site.generator !== "mkdocs") return undefined;
  const { data } = configOf(site, settings);
  const value = (key: string): string | undefined => textOf(valueAt(data, key));
  const folder = posix.join(site.prefix, value("docs_dir") ?? "docs", "/");
  const url = value("site_url") ?? "";
  // The templates of a theme may lie between the pages.
  const theme = value("theme.custom_dir");
  const templates = theme && posix.relative(folder, posix.join(site.prefix, theme));
  const patterns = [
    "/templates/",
    templates && !templates.startsWith("..") ? `/${templates}/` : "",
    value("exclude_docs"),
    value("draft_docs"),
  ];
  return {
    folder: folder === "./" ? "" : folder,
    areFolders: value("use_directory_urls")?.toLowerCase() !== "false",
    excluded: patterns.join("\n"),
    base: /^https?:\/\/[^\s/\\]/.test(url) ? url : undefined,
  };
}
