import ignore from "ignore";
import { textOf, type ValueMap, valueAt } from "../front-matter/values.ts";
import type { GeneratorName } from "./generators.ts";
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

/** Keys of front matter with which a generator writes no page of a file. */
const unwritten: Readonly<Partial<Record<GeneratorName, Readonly<Record<string, RegExp>>>>> = {
  // gohugo.io, "Build options" and "Page bundles > Headless bundle".
  hugo: {
    headless: /^true$/i,
    "build.render": /^(?:never|false|link)$/i,
    "_build.render": /^(?:never|false|link)$/i,
  },
  // jekyllrb.com, "Front matter".
  jekyll: { published: /^false$/i },
};

/** Why the generator of a file writes no page of it, by its front matter. */
export function unwrittenReason(
  path: string,
  data: ValueMap,
  settings: SiteSettings,
): string | undefined {
  const site = siteOf(path, settings);
  const keys = site && unwritten[site.generator];
  for (const [key, pattern] of Object.entries(keys ?? {})) {
    const value = textOf(valueAt(data, key, true));
    if (value !== undefined && pattern.test(value))
      return `${key}: ${value}: the site has no page of it`;
  }
  return undefined;
}
