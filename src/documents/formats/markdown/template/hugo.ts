import { isMap, textOf, type Value, type ValueMap, valueAt } from "../../../front-matter/values.ts";
import { hugoConfig, hugoPage } from "../../../site/hugo.ts";
import { pageFromHtml } from "../../../page/page.ts";
import type { Expansion } from "../included.ts";
import { renderGo } from "./go-template.ts";
import type { Known, TemplatePage } from "./scope.ts";

/** A shortcode with its parameters, as a page of Hugo has it. */
export interface Call {
  name: string;
  positional: readonly string[];
  named: ReadonlyMap<string, string>;
}

/** The texts around the content of a shortcode; `after` is undefined where it shows no content. */
export interface Frame {
  before: string;
  after: string | undefined;
}

const languageOf = ({ path, site }: TemplatePage): { key: string; isBare: boolean } => {
  const config = hugoConfig(site.data());
  const language = hugoPage(path.slice(site.prefix.length), config)?.language;
  const key = language?.key ?? config.bare ?? "";
  return { key, isBare: key === config.bare };
};

/** A parameter of a page, else of its language, else of its site: gohugo.io, "param shortcode". */
export function paramOf(page: TemplatePage, name: string): Known {
  const { data, site, around } = page;
  const own = valueAt(data, name, true) ?? valueAt(data, `params.${name}`, true);
  if (own !== undefined) return own;
  return (
    siteParam(page, name) ??
    (around.attributes?.[name] as Value | undefined) ??
    (site.value("params") === undefined ? undefined : null)
  );
}

function siteParam(page: TemplatePage, name: string): Known {
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

/** Stands for the content while the HTML around it becomes Markdown. */
const inner = "\uE000";

/** What the names of a shortcode's template are worth. gohugo.io, "Shortcode methods". */
function namesOf(call: Call, page: TemplatePage) {
  const { positional, named } = call;
  return (name: string, values: readonly Value[]): Known => {
    const bare = name.replace(/^\$/, "").replace(/^\.?(?=Site\b|Page\b)/, ".");
    const key = textOf(values[0] ?? null) ?? "";
    if (bare === ".Get")
      return (/^\d+$/.test(key) ? positional[Number(key)] : named.get(key)) ?? null;
    if (bare === ".Inner") return inner;
    if (bare === ".Name") return call.name;
    if (bare === ".IsNamedParams") return String(named.size > 0);
    if (bare === "isset" || bare === "index") {
      const [, at] = values;
      const found = /^\d+$/.test(textOf(at ?? null) ?? "x")
        ? positional[Number(textOf(at ?? null))]
        : named.get(textOf(at ?? null) ?? "");
      return bare === "isset" ? String(found !== undefined) : (found ?? null);
    }
    if (bare === ".Params") return [...(positional.length > 0 ? positional : named.values())];
    const [, site] = /^(?:\.Site|site|\.Page\.Site)\.Params\.(.+)$/.exec(bare) ?? [];
    if (site !== undefined) return siteParam(page, site) ?? null;
    const [, own] = /^\.Page\.Params\.(.+)$/.exec(bare) ?? [];
    if (own !== undefined)
      return valueAt(page.data, own, true) ?? valueAt(page.data, `params.${own}`, true) ?? null;
    if (/^\.Page\.(?:Param)$/.test(bare)) return paramOf(page, key);
    if (bare === ".Page.Title") return page.data.title ?? null;
    if (/^(?:\.Site|site)\.Title$/.test(bare)) return page.site.value("title");
    return undefined;
  };
}

/** HTML of a template as Markdown. A fragment has no title and no head. */
function toMarkdown(html: string): string {
  if (!/[<&]/.test(html)) return html;
  const { body } = pageFromHtml(html, {
    path: "",
    keepsHidden: false,
    firstLine: 1,
    onlyMain: false,
  });
  return body;
}

/** What stands in front of the content, without the marks of a quotation or a list around it. */
const withoutMarks = (text: string): string => text.replace(/(^|\n)[ \t>*+-]*$/, "$1");

const templateFolders = (site: TemplatePage["site"]): string[] => {
  const theme = site.value("theme");
  const themes = (Array.isArray(theme) ? theme : [theme])
    .map(textOf)
    .filter((each) => each !== undefined && /^[\w./-]+$/.test(each));
  const layouts = ["layouts/shortcodes", "layouts/_shortcodes"];
  return [
    ...layouts,
    ...themes.flatMap((each) => layouts.map((folder) => `themes/${each}/${folder}`)),
  ];
};

/**
 * The texts around the content of a shortcode by the template that the project has for it; undefined
 * without one, and for a template that does more than print its parameters.
 */
export function frameOf(call: Call, page: TemplatePage, isMarkdown: boolean): Frame | undefined {
  const { site, around } = page;
  if (!/^[\w/-]+$/.test(call.name)) return undefined;
  const found = templateFolders(site)
    .map((folder) => around.includes.read(`/${site.prefix}${folder}/${call.name}.html`, []))
    .find((each) => "text" in each);
  if (!found || !("text" in found)) return undefined;
  const rendered = renderGo(found.text, namesOf(call, page));
  if (rendered === undefined) return undefined;
  const parts = (isMarkdown ? rendered : toMarkdown(rendered)).split(inner);
  if (parts.length > 2) return undefined;
  const [before = "", after] = parts;
  if (after === undefined) return { before: before.trim(), after };
  return { before: withoutMarks(before.trimStart()), after: after.trimEnd() };
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
