import { CliError } from "../../../../errors.ts";
import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
import { isMap, textOf, type Value, type ValueMap, valueAt } from "../../../front-matter/values.ts";
import { hugoConfig, hugoPage } from "../../../site/hugo.ts";
import type { Expansion } from "../included.ts";
import type { Known, TemplatePage } from "./scope.ts";

export const languageOf = ({ path, site }: TemplatePage): { key: string; isBare: boolean } => {
  const config = hugoConfig(site.data());
  const language = hugoPage(path.slice(site.prefix.length), config)?.language;
  const key = language?.key ?? config.bare ?? "";
  return { key, isBare: key === config.bare };
};

const cascades = new WeakMap<object, Map<string, ValueMap[]>>();

/** What the section pages above a page give to it, the nearest first. gohugo.io, "Cascade". */
function cascadesOf({ path, site, around }: TemplatePage): ValueMap[] {
  let known = cascades.get(around.includes);
  if (!known) cascades.set(around.includes, (known = new Map()));
  const own = known.get(path);
  if (own) return own;
  const found: ValueMap[] = [];
  const below = hugoPage(path.slice(site.prefix.length), hugoConfig(site.data()));
  const names = below?.page.split("/").slice(0, -1) ?? [];
  for (let depth = names.length; below && depth >= 0; depth--) {
    const folder = [...names.slice(0, depth), ""].join("/");
    const file = `/${site.prefix}${below.language.folders[0] ?? ""}${folder}_index.md`;
    const section = around.includes.read(file, []);
    const data = "text" in section ? frontMatterOf(section.text, section.path) : undefined;
    const cascade = data?.cascade;
    // One with a target is for some pages below.
    for (const each of Array.isArray(cascade) ? cascade : [cascade]) {
      if (each && isMap(each) && each.target === undefined && each._target === undefined) {
        found.push(each);
      }
    }
  }
  known.set(path, found);
  return found;
}

function frontMatterOf(text: string, path: string): ValueMap | undefined {
  try {
    return splitFrontMatter(text, path).frontMatter?.data;
  } catch (error) {
    // It is broken: that page fails.
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** A value of a page's front matter, else of the sections above it. */
export function pageParam(page: TemplatePage, name: string): Known {
  const places = [page.data, ...cascadesOf(page)];
  for (const data of places) {
    const value = valueAt(data, name, true) ?? valueAt(data, `params.${name}`, true);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** A parameter of a page, else of its language, else of its site: gohugo.io, "param shortcode". */
export function paramOf(page: TemplatePage, name: string): Known {
  const { site, around } = page;
  const own = pageParam(page, name);
  if (own !== undefined) return own;
  return (
    siteParam(page, name) ??
    (around.attributes?.[name] as Value | undefined) ??
    (site.value("params") === undefined ? undefined : null)
  );
}

export function siteParam(page: TemplatePage, name: string): Known {
  const { site } = page;
  const { key } = languageOf(page);
  const language = site.value(`languages.${key}.params.${name}`);
  return language ?? site.value(`params.${name}`);
}

/** gohugo.io, "ref": a path that begins with "/" counts from the pages of the page's own language. */
export function inLanguage(path: string, page: TemplatePage): string {
  const { key, isBare } = languageOf(page);
  const isAddress = path.startsWith("/") && !/\.\w+(?:#|$)/.test(path);
  return isAddress && !isBare ? `/${key}${path}` : path;
}

/** A folder of the project, then that of each of its themes and modules. gohugo.io, "Theme components". */
export function themeFolders(site: TemplatePage["site"], folder: string): string[] {
  const theme = site.value("theme");
  const imports = site.value("module.imports");
  const modules = (Array.isArray(imports) ? imports : []).map((each) =>
    each !== null && isMap(each) ? textOf(each.path) : undefined,
  );
  const isName = (each: string | undefined): each is string =>
    each !== undefined && /^[\w./-]+$/.test(each);
  const themes = (Array.isArray(theme) ? theme : [theme]).map(textOf).filter(isName);
  const places = [
    ...themes.map((each) => `themes/${each}`),
    ...modules.filter(isName).flatMap((each) => [`themes/${each}`, `_vendor/${each}`]),
  ];
  return [folder, ...places.map((each) => `${each}/${folder}`)];
}

/** The page of an expansion, for a site of Hugo; undefined for another one. */
export function hugoPageOf({
  around,
  chain,
  frontMatter,
}: Pick<Expansion, "around" | "chain" | "frontMatter">): TemplatePage | undefined {
  const { site } = around;
  if (site?.generator !== "hugo") return undefined;
  const data = frontMatter ?? (Object.create(null) as ValueMap);
  return {
    path: chain[0] ?? "",
    data: isMap(data) ? data : (Object.create(null) as ValueMap),
    site,
    around,
  };
}
