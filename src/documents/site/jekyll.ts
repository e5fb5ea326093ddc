import { isMap, textOf, type Value, type ValueMap, valueAt } from "../front-matter/values.ts";

/** A file of a Jekyll site. */
export interface JekyllFile {
  /** Below the site. */
  path: string;
  /** A value of its front matter. */
  get(key: string): Value | undefined;
}

interface Collection {
  label: string;
  /** Its folder below the site: `_docs/`. */
  folder: string;
  permalink: string | undefined;
}

const post = /^(?:(.*)\/)?_(?:posts|drafts)\/(?:.*\/)?(\d{2,4})-(\d{1,2})-(\d{1,2})-([^/]*)$/;

/** jekyllrb.com, "Collections". Each is a member of a table or a name in a list. */
function collectionsOf(config: ValueMap): Collection[] {
  const table = valueAt(config, "collections") ?? null;
  const labels = Array.isArray(table) ? table.map(textOf) : isMap(table) ? Object.keys(table) : [];
  const folder = textOf(valueAt(config, "collections_dir"));
  const prefix = folder === undefined || folder === "." ? "" : `${folder.replace(/\/+$/, "")}/`;
  return labels
    .filter((label) => label !== undefined)
    .map((label) => {
      const permalink = isMap(table) ? textOf(valueAt(table, `${label}.permalink`)) : undefined;
      return { label, folder: `${prefix}_${label}/`, permalink };
    });
}

/** What a file is for the scopes of defaults: `pages`, `posts` or the label of its collection. */
function typeOf({ path }: JekyllFile, config: ValueMap): string {
  if (post.test(path)) return "posts";
  return collectionsOf(config).find(({ folder }) => path.startsWith(folder))?.label ?? "pages";
}

/** jekyllrb.com, "Front matter defaults": `*` stands for a part of a name. */
function isInScope(scope: Value, path: string, type: string): boolean {
  const inType = textOf(valueAt(scope, "type"));
  if (inType !== undefined && inType.replace(/s$/, "") !== type.replace(/s$/, "")) return false;
  const inPath = (textOf(valueAt(scope, "path")) ?? "").replace(/^\/|\/$/g, "");
  if (inPath === "" || path === inPath || path.startsWith(`${inPath}/`)) return true;
  if (!inPath.includes("*") || inPath.length > 200) return false;
  const names = path.split("/");
  return inPath.split("/").every((part, index) => {
    const [head = "", ...rest] = part.split("*");
    const name = names[index];
    if (name === undefined || !name.startsWith(head)) return false;
    return rest.length > 0 ? name.endsWith(rest.at(-1) ?? "") : name === head;
  });
}

/** The value of a key of a page: its own, else that of the most specific default; undefined without one. */
export function jekyllValue(file: JekyllFile, key: string, config: ValueMap): Value | undefined {
  const own = file.get(key);
  if (own !== undefined) return own;
  const defaults = valueAt(config, "defaults");
  if (!Array.isArray(defaults)) return undefined;
  const type = typeOf(file, config);
  let found: { value: Value; length: number } | undefined;
  for (const each of defaults) {
    const value = valueAt(each, `values.${key}`);
    const scope = valueAt(each, "scope") ?? null;
    const length = (textOf(valueAt(scope, "path")) ?? "").length;
    if (value === undefined || (found && found.length > length)) continue;
    if (isInScope(scope, file.path, type)) found = { value, length };
  }
  return found?.value;
}

const extensions = /\.(?:md|markdown|mkdn?|mkdown|html?|adoc|textile)$/i;

/** jekyllrb.com, "Permalinks", built-in formats. */
const postStyles: Readonly<Record<string, string>> = {
  date: "/:categories/:year/:month/:day/:title:output_ext",
  pretty: "/:categories/:year/:month/:day/:title/",
  ordinal: "/:categories/:year/:y_day/:title:output_ext",
  none: "/:categories/:title:output_ext",
};

/** Jekyll's Utils.slugify: letters and digits, in lower case, joined by "-". */
export const slugOf = (text: string): string =>
  text
    .replace(/[^\p{M}\p{L}\p{Nd}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .toLowerCase();

const namesOf = (value: Value | undefined): string[] =>
  Array.isArray(value)
    ? value.map((each) => textOf(each) ?? "")
    : (textOf(value) ?? "").split(/\s+/).filter((each) => each !== "");

/** Fills the placeholders of a permalink. */
function fill(pattern: string, values: Readonly<Record<string, string>>): string {
  const filled = pattern.replace(/:([a-z_]+)/g, (whole, name: string) => {
    // `:title:output_ext` has no mark between its names, `:output_ext` has one in it.
    return Object.hasOwn(values, name) ? (values[name] ?? "") : whole;
  });
  return filled.replace(/\/{2,}/g, "/");
}

function suffixOf(style: string): string {
  if (style === "pretty" || (style.endsWith("/") && style.startsWith("/"))) return "/";
  const isNamed = /^(?:date|ordinal|weekdate|none)$/.test(style);
  return isNamed || style.endsWith(":output_ext") ? ":output_ext" : "";
}

function dateValues(file: JekyllFile, match: RegExpExecArray | null): Record<string, string> {
  const written = /^(\d{4})-(\d{1,2})-(\d{1,2})/.exec(textOf(file.get("date")) ?? "");
  const [year, month, day] = (written ?? match?.slice(1))?.slice(1, 4) ?? [];
  if (year === undefined || month === undefined || day === undefined) return {};
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const dayOfYear = Math.round((ms - Date.UTC(Number(year), 0, 1)) / 86_400_000) + 1;
  return {
    year,
    short_year: year.slice(-2),
    month: month.padStart(2, "0"),
    i_month: String(Number(month)),
    day: day.padStart(2, "0"),
    i_day: String(Number(day)),
    y_day: String(dayOfYear).padStart(3, "0"),
  };
}

/** The pattern of the address of a file. */
function patternOf(file: JekyllFile, config: ValueMap, isPost: boolean): string {
  const own = textOf(jekyllValue(file, "permalink", config));
  const style = textOf(valueAt(config, "permalink")) ?? "date";
  const collection = collectionsOf(config).find(({ folder }) => file.path.startsWith(folder));
  if (isPost) {
    const pattern = own ?? collectionsOf(config).find(({ label }) => label === "posts")?.permalink;
    const chosen = pattern ?? style;
    return postStyles[chosen] ?? chosen;
  }
  if (own !== undefined) return own === "pretty" ? "/:path/:basename/" : own;
  if (collection) return collection.permalink ?? `/:collection/:path${suffixOf(style)}`;
  return /(?:^|\/)index\.[^/]+$/i.test(file.path)
    ? "/:path/"
    : `/:path/:basename${suffixOf(style)}`;
}

/**
 * The address of a page below the base of a Jekyll site, beginning with "/". jekyllrb.com,
 * "Permalinks" and "Collections"; the defaults are those of Jekyll 4.
 */
export function jekyllAddress(file: JekyllFile, config: ValueMap): string {
  const { path } = file;
  const stem = path.replace(extensions, "");
  const match = post.exec(stem);
  const slash = stem.lastIndexOf("/");
  const folder = stem.slice(0, Math.max(0, slash));
  const name = match?.[5] ?? stem.slice(slash + 1);
  const collection = collectionsOf(config).find((each) => path.startsWith(each.folder));
  const categories = [
    ...(match?.[1] ?? "").split("/"),
    ...namesOf(jekyllValue(file, "categories", config) ?? jekyllValue(file, "category", config)),
  ].filter((each) => each !== "");
  const slug = textOf(file.get("slug"));
  const inCollection = collection && stem.slice(collection.folder.length);
  const address = fill(patternOf(file, config, match !== null), {
    ...dateValues(file, match),
    categories: [...new Set(categories.map((each) => each.toLowerCase()))].join("/"),
    path: inCollection ?? folder,
    name: slugOf(name),
    basename: name,
    title: slug ?? name,
    slug: slug ?? slugOf(name),
    collection: match ? "posts" : (collection?.label ?? ""),
    output_ext: ".html",
  });
  return address.startsWith("/") ? address : `/${address}`;
}
