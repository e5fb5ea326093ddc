import ignore from "ignore";
import { generators } from "./generators.ts";
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

/** Why a file of a site is no page; undefined if it may be one. */
export function partialReason(path: string, settings: SiteSettings): string | undefined {
  const site = siteOf(path, settings);
  if (!site) return undefined;
  const { partials, title } = generators[site.generator];
  const isPartial = partials?.test(path.slice(site.prefix.length)) === true;
  if (isPartial) return `a partial of ${title}, no page (a run includes it if you name it)`;
  return excludesOf(site, settings)(path)
    ? `excluded from the site by ${site.prefix}${site.config ?? ""} (a run includes it if you name it)`
    : undefined;
}
