import ignore from "ignore";
import { sitePages } from "./site-pages.ts";
import { siteOf, type Site, type SiteSettings } from "./sites.ts";

/** Whether the configuration of a site excludes a page by its root-relative path. */
type Excludes = (path: string) => boolean;

const excludesOfRun = new WeakMap<SiteSettings, Map<string, Excludes>>();

function excludesOf(site: Site, settings: SiteSettings): Excludes {
  let known = excludesOfRun.get(settings);
  if (!known) excludesOfRun.set(settings, (known = new Map()));
  let excludes = known.get(site.prefix);
  if (!excludes) {
    const { folder = "", excluded = "" } = sitePages(site, settings) ?? {};
    const patterns = ignore({ ignorecase: false }).add(excluded);
    excludes = (path) => {
      const below = path.startsWith(folder) ? path.slice(folder.length) : "";
      return below !== "" && patterns.ignores(below);
    };
    known.set(site.prefix, excludes);
  }
  return excludes;
}

/** Why a page is none, if the configuration of its site excludes it. */
export function excludedReason(path: string, settings: SiteSettings): string | undefined {
  const site = siteOf(path, settings);
  if (!site || !excludesOf(site, settings)(path)) return undefined;
  return `excluded from the site by ${site.prefix}${site.config ?? ""}`;
}
