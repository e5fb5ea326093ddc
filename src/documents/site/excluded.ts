import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import ignore from "ignore";
import { readFrontMatter } from "../front-matter/front-matter.ts";
import { textOf, type ValueMap, valueAt } from "../front-matter/values.ts";
import type { GeneratorName } from "./generators.ts";
import { excludedFiles, sitePages } from "./site-pages.ts";
import { siteOf, type Site, type SiteSettings } from "./sites.ts";

/** Whether the configuration of a site excludes a page by its root-relative path. */
type Excludes = (path: string) => boolean;

const excludesOfRun = new WeakMap<SiteSettings, Map<string, Excludes>>();

function excludesOf(site: Site, settings: SiteSettings): Excludes {
  let known = excludesOfRun.get(settings);
  if (!known) excludesOfRun.set(settings, (known = new Map()));
  let excludes = known.get(site.prefix);
  if (!excludes) {
    const { folder = "", excluded = "" } = excludedFiles(site, settings) ?? {};
    const patterns = ignore({ ignorecase: false }).add(excluded);
    excludes = (path) => {
      const below = path.startsWith(folder) ? path.slice(folder.length) : "";
      return below !== "" && patterns.ignores(below);
    };
    known.set(site.prefix, excludes);
  }
  return excludes;
}

/** gohugo.io, "Build options": whether pages are published; undefined where nothing is said. */
function isRendered(data: ValueMap, below: string): boolean | undefined {
  const value = ["build", "_build"].map((key) => textOf(valueAt(data, `${below}${key}.render`)));
  const render = value.find((each) => each !== undefined)?.toLowerCase();
  return render === undefined ? undefined : render !== "never" && render !== "false";
}

const cascadesOfRun = new WeakMap<SiteSettings, Map<string, string | undefined>>();

/** gohugo.io, "Cascade": the nearest `_index.md` that keeps the pages of its folder from the site. */
function unpublishedBy(folder: string, site: Site, settings: SiteSettings): string | undefined {
  if (!`${folder}/`.startsWith(site.prefix)) return undefined;
  let known = cascadesOfRun.get(settings);
  if (!known) cascadesOfRun.set(settings, (known = new Map()));
  if (known.has(folder)) return known.get(folder);
  const path = posix.join(folder, "_index.md");
  const data = readFrontMatter(join(settings.root, path), path).frontMatter?.data;
  const own = data && isRendered(data, "cascade.");
  const above = posix.dirname(folder);
  const isTop = above === folder || own !== undefined;
  const found = own === false ? path : isTop ? undefined : unpublishedBy(above, site, settings);
  known.set(folder, found);
  return found;
}

/** Why a page is none, if the configuration of its site excludes it; `data` is its front matter. */
export function excludedReason(
  path: string,
  settings: SiteSettings,
  data?: ValueMap,
): string | undefined {
  const site = siteOf(path, settings);
  if (!site) return undefined;
  if (excludesOf(site, settings)(path)) {
    return `excluded from the site by ${site.prefix}${site.config ?? ""}`;
  }
  // mkdocs.org, "Writing your docs": of the two names of an index, `index.md` counts.
  const index = posix.join(posix.dirname(path), "index.md");
  const isSecond = site.generator === "mkdocs" && posix.basename(path) === "README.md";
  const { folder } = (isSecond && sitePages(site, settings)) || {};
  if (folder !== undefined && path.startsWith(folder) && existsSync(join(settings.root, index)))
    return `${index} is the page of the folder`;
  if (site.generator !== "hugo") return undefined;
  // The page itself overrides the cascade.
  if (data && isRendered(data, "") !== undefined) return undefined;
  const above = unpublishedBy(posix.dirname(path), site, settings);
  return above && `excluded from the site by cascade.build.render in ${above}`;
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
