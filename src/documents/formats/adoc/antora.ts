import { posix } from "node:path";
import type { Includes } from "../format.ts";
import { MatterError, parseMatter } from "../../front-matter/matter.ts";
import { isMap, textOf, toValue, type Value, ValueError } from "../../front-matter/values.ts";

// Antora keeps the files of a module by family (docs.antora.org, "Standard File and Directory
// Set"), and names them by module, family and path: `ROOT:partial$a.adoc`.
const folders: Readonly<Record<string, string>> = {
  page: "pages",
  partial: "partials",
  example: "examples",
  image: "images",
  attachment: "attachments",
};
// The navigation stands beside the families.
const layout = /^((?:.*\/)?modules\/)([^/]+)\/(?:(?:pages|partials|examples)\/|[^/]+$)/;

/** Whether a resource id names another component: its files are not known here. */
export const isOtherComponent = (id: string): boolean =>
  id.includes("@") || /^[^:/]*:[^:/]*:/.test(id);

/**
 * The root-relative path that a resource id names, seen from the file `from`; undefined if it is no
 * resource id or names another component. `family` applies to an id that names none.
 */
export function resourcePath(
  id: string,
  from: string,
  family: "page" | "partial" | "image" | undefined,
): string | undefined {
  const [, modules = "", own = ""] = layout.exec(from) ?? [];
  const [, module = own, named = family, path = ""] =
    /^(?:([^:@$/]+):)?(?:([a-z]+)\$)?\/?([^:@$]+)$/.exec(id) ?? [];
  if (modules === "" || named === undefined || path === "" || !Object.hasOwn(folders, named)) {
    return undefined;
  }
  const folder = `${modules}${module}/${folders[named]}`;
  // `./` is relative to the folder of the page.
  if (path.startsWith("./") || path.startsWith("../")) return undefined;
  return `${folder}/${path}`;
}

/** How a page links to a resource: relative to its own folder. */
export function relativeResource(
  id: string,
  from: string,
  family: "page" | "image",
): string | undefined {
  const path = resourcePath(id, from, family);
  return path === undefined ? undefined : posix.relative(posix.dirname(from), path);
}

/** Attributes of a document by their names. */
type Attributes = Record<string, string | null>;

const member = (value: Value | undefined, key: string): Value | undefined =>
  value !== undefined && isMap(value) ? value[key] : undefined;

function parse(text: string): Value | undefined {
  try {
    return toValue(parseMatter(text, "yaml"));
  } catch (error) {
    if (error instanceof MatterError || error instanceof ValueError) return undefined;
    throw error;
  }
}

const longestValue = 4096;

/** Replaces names of attributes in values by their values, which come before them. */
function resolve(attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (!value?.includes("{")) continue;
    const resolved = value.replace(
      /\{(\w[\w-]*)\}/g,
      (all, other: string) => attributes[other] ?? all,
    );
    if (resolved.length <= longestValue) attributes[name] = resolved;
  }
}

/** The attributes of the component of Antora that a page belongs to; none for other pages. */
export function componentAttributes(path: string, includes: Includes): Attributes {
  const [, folder, module = "", page = ""] =
    /^((?:.*\/)?)modules\/([^/]+)\/(?:pages|partials|examples)\/(.*)$/.exec(path) ?? [];
  if (folder === undefined) return {};
  const description = includes.read(`/${folder}antora.yml`, [path]);
  const component = "text" in description ? parse(description.text) : undefined;
  const own = (key: string): string => textOf(member(component, key) ?? "") ?? "";
  const version = own("version").replace(/^(?:~|null|true)$/, "");
  const attributes: Attributes = {
    env: "site",
    "env-site": "",
    "site-gen": "antora",
    "site-gen-antora": "",
    partialsdir: "partial$",
    examplesdir: "example$",
    attachmentsdir: "attachment$",
    "page-component-name": own("name"),
    "page-component-version": version,
    "page-version": version,
    "page-component-display-version": own("display_version") || version,
    "page-component-title": own("title") || own("name"),
    "page-module": module,
    "page-relative-src-path": page,
  };
  const given = member(member(component, "asciidoc"), "attributes");
  if (given === undefined || !isMap(given)) return attributes;
  for (const [name, value] of Object.entries(given)) {
    const text = textOf(value);
    if (text === undefined) continue;
    attributes[name.toLowerCase()] = /^(?:false|~|null)$/.test(text) ? null : text;
  }
  resolve(attributes);
  return attributes;
}
