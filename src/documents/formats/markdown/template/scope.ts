import { parse } from "csv-parse/sync";
import { isMap, textOf, type Value, type ValueMap, valueAt } from "../../../front-matter/values.ts";
import { jekyllAddress, jekyllValue } from "../../../site/jekyll.ts";
import { parseConfig } from "../../../site/config.ts";
import type { Included, PageSite, Surroundings } from "../../format.ts";

/**
 * What a template's expression is worth: null is Liquid's nil, undefined is a value that only the
 * generator knows.
 */
export type Known = Value | undefined;

/** The names of a template. */
export interface Scope {
  /** Values of `assign`, `capture` and loops. */
  readonly variables: Map<string, Known>;
  /** The value of any other path; `names` has at least one name. */
  lookUp(names: readonly string[]): Known;
}

/** A page whose text is a template. */
export interface TemplatePage {
  /** Root-relative. */
  path: string;
  /** Its front matter. */
  data: ValueMap;
  site: PageSite;
  around: Surroundings;
}

interface ReadingPage extends TemplatePage {
  /** Reads a file of the project once. */
  read: (path: string) => Included;
}

/** A member of a value, as Liquid finds it. */
export function memberOf(value: Known, name: string): Known {
  if (value === undefined || value === null) return value;
  if (Array.isArray(value)) {
    if (name === "size") return String(value.length);
    const at = name === "first" ? 0 : name === "last" ? -1 : Number(name);
    return Number.isInteger(at) ? (value.at(at) ?? null) : null;
  }
  if (isMap(value)) {
    if (Object.hasOwn(value, name)) return value[name];
    return name === "size" ? String(Object.keys(value).length) : null;
  }
  return name === "size" ? String(textOf(value)?.length ?? 0) : null;
}

const walk = (value: Known, names: readonly string[]): Known => names.reduce(memberOf, value);

// jekyllrb.com, "Variables": what Jekyll makes of all pages, the time and the host.
const siteMade = new Set(
  "time pages posts related_posts static_files html_pages html_files collections documents tags categories github tag category".split(
    " ",
  ),
);
const pageMade = new Set("content excerpt id next previous output dir".split(" "));

// Pages share the data of their site. Bounded: cleared when full.
const mostData = 200;
const parsed = new Map<string, { text: string; value: Known }>();

const dataExtensions = [".yml", ".yaml", ".json", ".toml"];
const mostRows = 50_000;
const jekyllExtensions = [...dataExtensions.slice(0, 3), ".csv", ".tsv"];

/**
 * The rows of a table by its first row; all are texts, and a cell that is empty without quotes is nil.
 * jekyllrb.com, "Data files"; Ruby's CSV. Throws CsvError, and RangeError for more than 50,000 rows.
 */
function rowsIn(text: string, delimiter: string): ValueMap[] {
  const [names = [], ...rows] = parse(text, {
    bom: true,
    delimiter,
    relax_column_count: true,
    skip_empty_lines: true,
    to: mostRows + 2,
    cast: (cell, { quoting }) => (cell === "" && !quoting ? null : cell),
  }) as (string | null)[][];
  if (rows.length > mostRows) throw new RangeError(`more than ${mostRows} rows`);
  return rows.map((cells) => {
    const row = Object.create(null) as ValueMap;
    for (const [at, name] of names.entries()) if (name !== null) row[name] ??= cells[at] ?? null;
    return row;
  });
}

function dataIn({ text, path }: { text: string; path: string }): Known {
  const known = parsed.get(path);
  if (known?.text === text) return known.value;
  let value: Known;
  try {
    const [, kind] = /\.([ct])sv$/.exec(path) ?? [];
    value = kind === undefined ? parseConfig(text, path) : rowsIn(text, kind === "c" ? "," : "\t");
  } catch {
    // Broken: its values are not known.
    value = undefined;
  }
  if (parsed.size >= mostData) parsed.clear();
  parsed.set(path, { text, value });
  return value;
}

/** The value below a folder of data, whose files and folders are its names. */
export function dataAt(
  folder: string,
  names: readonly string[],
  read: (path: string) => Included,
  extensions: readonly string[] = dataExtensions,
): Known {
  let path = folder;
  for (let depth = 0; depth < Math.min(names.length, 5); depth++) {
    path += `/${names[depth] ?? ""}`;
    for (const extension of extensions) {
      const found = read(path + extension);
      if ("text" in found) return walk(dataIn(found), names.slice(depth + 1));
    }
  }
  return undefined;
}

/** `page` of Jekyll. */
function jekyllPage({ path, data, site }: TemplatePage, names: readonly string[]): Known {
  const [name = "", ...rest] = names;
  const below = path.slice(site.prefix.length);
  const file = { path: below, get: (key: string) => data[key] };
  const own = jekyllValue(file, name, site.data());
  if (own !== undefined) return walk(own, rest);
  if (name === "path" || name === "relative_path") return below;
  if (name === "name") return below.slice(below.lastIndexOf("/") + 1);
  if (name === "url") return jekyllAddress(file, site.data());
  return pageMade.has(name) || name === "date" || name === "collection" ? undefined : null;
}

/** A path in a template of Jekyll. jekyllrb.com, "Variables" and "Data files". */
function jekyllValueAt(page: ReadingPage, names: readonly string[]): Known {
  const [object, ...rest] = names;
  const { site } = page;
  const [name = "", ...members] = rest;
  if (object === "page") return rest.length === 0 ? undefined : jekyllPage(page, rest);
  if (object === "site" && name === "data") {
    const folder = textOf(valueAt(site.data(), "data_dir")) ?? "_data";
    return dataAt(`/${site.prefix}${folder}`, members, page.read, jekyllExtensions);
  }
  if (object === "site") {
    const own = site.value(name);
    const collections = site.value("collections");
    const isCollection =
      collections !== undefined &&
      collections !== null &&
      isMap(collections) &&
      name in collections;
    if (own !== undefined) return walk(own, members);
    // jekyllrb.com, "Configuration options": the defaults.
    if (name === "baseurl") return "";
    return siteMade.has(name) || isCollection ? undefined : null;
  }
  if (object === "jekyll") return name === "environment" ? "production" : undefined;
  const isMade = /^(?:forloop|tablerowloop|layout|content|paginator|theme|include)$/.test(
    object ?? "",
  );
  return isMade ? undefined : null;
}

/** A path in a template of Eleventy: what its programs say is not known. 11ty.dev, "Data cascade". */
function eleventyValueAt({ data, path, site, read }: ReadingPage, names: readonly string[]): Known {
  const [name = "", ...rest] = names;
  if (Object.hasOwn(data, name)) return walk(data[name], rest);
  const folders = path.slice(site.prefix.length).split("/").slice(0, -1);
  // `docs/docs.json` has the data of the folder `docs`.
  for (let depth = folders.length; depth > 0; depth--) {
    const folder = folders[depth - 1] ?? "";
    const file = `/${site.prefix}${folders.slice(0, depth).join("/")}/${folder}`;
    const found = [`${file}.json`, `${file}.11tydata.json`]
      .map(read)
      .find((each) => "text" in each);
    const value = found && "text" in found ? dataIn(found) : undefined;
    const own = value === undefined ? undefined : valueAt(value, name);
    if (own !== undefined) return walk(own, rest);
  }
  const [top] = folders;
  const places = [
    `${site.prefix}_data`,
    ...(top === undefined ? [] : [`${site.prefix}${top}/_data`]),
  ];
  for (const place of places) {
    const value = dataAt(`/${place}`, names, read);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The names of a page's template. Values that neither it nor its site defines may be configured. */
export function scopeOf(page: TemplatePage): Scope {
  const isJekyll = page.site.generator === "jekyll";
  const files = new Map<string, Included>();
  const read = (path: string): Included => {
    let found = files.get(path);
    if (!found) files.set(path, (found = page.around.includes.read(path, [])));
    return found;
  };
  const reading = { ...page, read };
  return {
    variables: new Map(),
    lookUp(names) {
      const value = isJekyll ? jekyllValueAt(reading, names) : eleventyValueAt(reading, names);
      const configured = page.around.attributes?.[names.join(".")];
      return value === undefined || value === null ? (configured ?? value) : value;
    },
  };
}
