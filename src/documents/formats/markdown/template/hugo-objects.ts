import { isMap, textOf, type Value, type ValueMap } from "../../../front-matter/values.ts";
import { type GoObject, type GoValue, longestText, memberOf, text } from "./go-values.ts";
import { dataAt, type TemplatePage } from "./scope.ts";
import { languageOf, pageParam, paramOf, siteParam, themeFolders } from "./hugo-site.ts";

/** The objects that templates of Hugo ask. gohugo.io, "Methods"; a member that is not here is unknown. */

type Members = Readonly<Record<string, (args: readonly GoValue[]) => GoValue>>;

/** A shortcode of a page, with what its template may ask. */
export interface Making {
  page: TemplatePage;
  /** Keeps Markdown apart from the HTML around it. */
  keep: (markdown: string) => string;
}

const object = (members: Members): GoObject => ({
  member: (name, args) => (Object.hasOwn(members, name) ? members[name]?.(args) : undefined),
});

/** A map, or an object whose names are looked up: `Params.x`. */
const names = (lookUp: (name: string) => GoValue): GoObject => ({ member: (name) => lookUp(name) });

/** gohugo.io, "Scratch" and "Store": what a template notes for others. */
export function storeObject(): GoObject {
  const values = new Map<string, GoValue>();
  const set = (name: string, value: GoValue): GoValue => {
    const isLong = typeof value === "string" && value.length > longestText;
    values.set(name, isLong ? undefined : value);
    return "";
  };
  return object({
    Get: ([name]) => (values.has(text(name)) ? values.get(text(name)) : null),
    Set: ([name, value]) => set(text(name), value),
    Delete: ([name]) => set(text(name), null),
    Add([name, value]) {
      const own = values.get(text(name));
      if (Array.isArray(own)) return set(text(name), [...own, ...[value as Value].flat()]);
      const sum = Number(text(own ?? "0")) + Number(text(value));
      return set(text(name), Number.isNaN(sum) ? text(own) + text(value) : String(sum));
    },
    SetInMap([name, key, value]) {
      const own = values.get(text(name));
      const map = { ...((own ?? Object.create(null)) as ValueMap), [text(key)]: value as Value };
      return set(text(name), Object.assign(Object.create(null), map) as ValueMap);
    },
  });
}

/** gohugo.io, "Data sources": the files of the project, then those of its themes. */
function dataObject({ page }: Making, path: readonly string[] = []): GoObject {
  const { site, around } = page;
  const read = (file: string) => around.includes.read(file, []);
  return names((name) => {
    if (path.length > 5 || !/^[\w .-]+$/.test(name) || name.startsWith(".")) return undefined;
    const all = [...path, name];
    for (const folder of themeFolders(site, "data")) {
      const value = dataAt(`/${site.prefix}${folder}`, all, read);
      if (value !== undefined) return value;
    }
    return dataObject({ page, keep: String }, all);
  });
}

/** gohugo.io, "Page resources": those that the front matter describes. */
function resourceObject(entry: ValueMap): GoObject {
  const source = text(entry.src);
  const self = (): GoValue => resourceObject(entry);
  const type = /\.(\w+)$/.exec(source)?.[1]?.toLowerCase() ?? "";
  return object({
    Title: () => entry.title ?? entry.name ?? source,
    Name: () => entry.name ?? source,
    Params: () => entry.params ?? null,
    Permalink: () => source,
    RelPermalink: () => source,
    MediaType: () => object({ SubType: () => type, Type: () => undefined }),
    Resize: self,
    Fill: self,
    Fit: self,
    Crop: self,
    Process: self,
  });
}

function resourcesObject(making: Making): GoObject {
  const { resources } = making.page.data;
  const entries = (Array.isArray(resources) ? resources : []).filter(
    (each): each is ValueMap => each !== null && isMap(each),
  );
  // A pattern that names none may still match a file of the folder, which nobody lists here.
  const find = ([name]: readonly GoValue[]): GoValue => {
    const entry = entries.find((each) =>
      [each.name, each.src].some((own) => text(own) === text(name)),
    );
    return entry && !/[*?]/.test(text(entry.src)) ? resourceObject(entry) : undefined;
  };
  return object({ ByType: () => resourcesObject(making), GetMatch: find, Get: find });
}

const languageObject = ({ page }: Making): GoObject =>
  object({
    Lang: () => languageOf(page).key,
    LanguageCode: () => languageOf(page).key,
    Params: () => names((name) => siteParam(page, name) ?? null),
  });

export function siteObject(making: Making): GoObject {
  const { page } = making;
  return object({
    Params: () => names((name) => siteParam(page, name) ?? null),
    Title: () => page.site.value("title") ?? null,
    Data: () => dataObject(making),
    Language: () => languageObject(making),
    BaseURL: () => page.site.value("baseURL") ?? null,
  });
}

export const dataOf = dataObject;

function pageObject(making: Making): GoObject {
  const store = storeObject();
  const { page, keep } = making;
  const own = (name: string): GoValue => pageParam(page, name) ?? null;
  const below = page.path.slice(page.site.prefix.length);
  const file = object({ Path: () => below, Dir: () => below.slice(0, below.lastIndexOf("/") + 1) });
  return object({
    Title: () => page.data.title ?? null,
    LinkTitle: () => page.data.linkTitle ?? page.data.title ?? null,
    Description: () => page.data.description ?? null,
    Params: () => names(own),
    Param: ([name]) => paramOf(page, text(name)),
    Site: () => siteObject(making),
    Language: () => languageObject(making),
    Lang: () => languageOf(page).key,
    Resources: () => resourcesObject(making),
    Scratch: () => store,
    Store: () => store,
    // It is navigation, as that of the site.
    TableOfContents: () => "",
    RenderString: (args) => keep(text(args.at(-1))),
    File: () => file,
  });
}

/** A shortcode of a page as its template sees it. */
export interface ShortcodeCall {
  name: string;
  positional: readonly string[];
  named: ReadonlyMap<string, string>;
  /** Its content. */
  inner: string;
  parent: GoObject | undefined;
  ordinal: number;
}

/** gohugo.io, "Shortcode methods". */
export function callObject(call: ShortcodeCall, making: Making): GoObject {
  const { positional, named, inner } = call;
  const page = pageObject(making);
  const store = storeObject();
  const get = (key: string): GoValue =>
    (/^\d+$/.test(key) ? positional[Number(key)] : named.get(key)) ?? null;
  return object({
    Get: ([key]) => get(text(key)),
    Inner: () => inner,
    InnerDeindent: () => inner,
    Name: () => call.name,
    Params: () =>
      named.size > 0
        ? (Object.assign(Object.create(null), Object.fromEntries(named)) as ValueMap)
        : [...positional],
    IsNamedParams: () => String(named.size > 0),
    Ordinal: () => String(call.ordinal),
    Position: () => "",
    Parent: () => call.parent,
    Page: () => page,
    Site: () => siteObject(making),
    Scratch: () => store,
    Store: () => store,
  });
}

/** gohugo.io, "i18n": the text of a key in the language of the page. */
export function translated({ page }: Making, key: string): GoValue {
  const { site, around } = page;
  const { key: language } = languageOf(page);
  for (const folder of themeFolders(site, "i18n")) {
    const table = dataAt(`/${site.prefix}${folder}`, [language === "" ? "en" : language], (path) =>
      around.includes.read(path, []),
    );
    const value = memberOf(table, key);
    if (value !== undefined && value !== null) {
      return textOf(value as Value) === undefined ? memberOf(value, "other") : value;
    }
  }
  return undefined;
}
