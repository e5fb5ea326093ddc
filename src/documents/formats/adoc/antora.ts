import { posix } from "node:path";
import type { SiteEntry, Surroundings } from "../format.ts";
import { isMap, textOf, valueAt } from "../../front-matter/values.ts";
import { parseData } from "../../site/config.ts";
import { antoraVersion } from "../../site/site-pages.ts";

// Antora keeps the files of a module by family (docs.antora.org, "Standard File and Directory
// Set"), and names them by version, component, module, family and path: "Resource IDs".
const folders: Readonly<Record<string, string>> = {
  page: "pages",
  partial: "partials",
  example: "examples",
  image: "images",
  attachment: "attachments",
};
// The navigation stands beside the families.
const layout = /^((?:.*\/)?)modules\/([^/]+)\/(?:(?:pages|partials|examples)\/(.*)|[^/]+)$/;
const idPattern = /^(?:([^@:$]+)@)?(?:(?:([^@:$]+):)?([^@:$]+)?:)?(?:([^@:$]+)\$)?([^:$][^@:$]*)$/;

/** Whether a target is an address, and no name of a file. */
const isAddress = (target: string): boolean => /^(?:[a-z][a-z\d+.-]*:\/\/|data:)/i.test(target);

/** Whether the target of an include is a resource id: others are relative to the file. */
export const isResourceId = (target: string): boolean => /[$:@]/.test(target) && !isAddress(target);

/** The folder of a component by its name, and by its version if that is given. */
function folderOf(
  component: string | undefined,
  version: string | undefined,
  own: string,
  { site, includes }: Surroundings,
): string | undefined {
  const ownName = textOf(site?.value("name") ?? "") ?? "";
  const ownVersion = antoraVersion(textOf(site?.value("version") ?? "") ?? "");
  const name = component ?? ownName;
  const isOwn =
    name === ownName && (version === undefined || antoraVersion(version) === ownVersion);
  if (isOwn && (site || component === undefined)) return own;
  const wanted = version === undefined ? name : `${name}@${antoraVersion(version)}`;
  const path = includes.find("component", "", wanted)?.path;
  return path?.slice(0, path.lastIndexOf("/") + 1);
}

/**
 * The root-relative path that a resource id names, seen from the file `from`; undefined if it is no
 * resource id, outside of modules, and for a component that the project does not have. `family`
 * applies to an id that names none.
 */
export function resourcePath(
  id: string,
  from: string,
  family: "page" | "image",
  around: Surroundings,
): string | undefined {
  const [, own, ownModule = "", relative = ""] = layout.exec(from) ?? [];
  if (own === undefined || isAddress(id)) return undefined;
  const [, version, component, given, named = family, path = ""] = idPattern.exec(id) ?? [];
  if (path === "" || !Object.hasOwn(folders, named)) return undefined;
  const isOwn = component === undefined && version === undefined;
  const folder = isOwn ? own : folderOf(component, version, own, around);
  if (folder === undefined) return undefined;
  const module = given ?? (component === undefined ? ownModule : "ROOT");
  // `./` is relative to the folder of the page; nothing leads out of a family.
  const start = path.startsWith("./") ? posix.dirname(relative) : "";
  const below = posix.normalize(`/${start}/${path}`);
  return `${folder}modules/${module}/${folders[named]}${below}`;
}

const partials = /((?:^|\/)modules\/[^/]+\/)partials\//;

/** Where Antora 2 had a partial as well: docs.antora.org, "Standard File and Directory Set"; else undefined. */
export const olderPartial = (path: string | undefined): string | undefined =>
  path !== undefined && partials.test(path)
    ? path.replace(partials, "$1pages/_partials/")
    : undefined;

/** How a page links to a file: relative to its own folder. */
export const relativeFile = (path: string, from: string): string =>
  posix.relative(posix.dirname(from), path);

/** Whether a resource id names another component. */
export const isOtherComponent = (id: string): boolean =>
  id.includes("@") || /^[^:/]*:[^:/]*:/.test(id);

/** Attributes of a document by their names. */
type Attributes = Record<string, string | null>;

const longestValue = 4096;

/** Replaces names of attributes in values by their values, which come before them. */
function resolve(attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (!value?.includes("{")) continue;
    const resolved = value.replace(
      /\{(\w[\w-]*)\}/g,
      (all, other: string) => attributes[other]?.replace(/@$/, "") ?? all,
    );
    if (resolved.length <= longestValue) attributes[name] = resolved;
  }
}

/** The attributes of the component of Antora that a page belongs to; none for other pages. */
export function componentAttributes(path: string, { site }: Surroundings): Attributes {
  const [, , module = "", page] = layout.exec(path) ?? [];
  if (site?.generator !== "antora" || page === undefined) return {};
  const own = (key: string): string => textOf(site.value(key) ?? "") ?? "";
  const version = antoraVersion(own("version"));
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
  const given = site.value("asciidoc.attributes");
  if (given === undefined || !isMap(given)) return attributes;
  for (const [name, value] of Object.entries(given)) {
    const text = textOf(value);
    if (text === undefined) continue;
    attributes[name.toLowerCase()] = /^(?:false|~|null)$/.test(text) ? null : text;
  }
  resolve(attributes);
  return attributes;
}

type Entries = Generator<readonly [name: string, entry: SiteEntry]>;

/** The component that an `antora.yml` describes, by its name, and by name and version. */
export function* componentIn(text: string, path: string): Entries {
  const data = parseData(text, path) ?? null;
  const name = textOf(valueAt(data, "name"));
  if (name === undefined) return;
  yield [name, { path }];
  yield [`${name}@${antoraVersion(textOf(valueAt(data, "version")) ?? "")}`, { path }];
}

const aliases = /^:page-aliases:[ \t]+((?:.*\\\n){0,50}.*)/m;

/** The paths that a page had earlier: docs.antora.org, "Page Aliases". */
export function* aliasesIn(text: string, path: string): Entries {
  if (!text.includes(":page-aliases:") || !layout.test(path)) return;
  const [, list = ""] = aliases.exec(text.replaceAll("\r", "")) ?? [];
  for (const id of list.replace(/\\\n/g, "").split(",", 200)) {
    const [, , , given, named = "page", file] = idPattern.exec(id.trim()) ?? [];
    const [, folder = "", module = ""] = layout.exec(path) ?? [];
    if (file === undefined || named !== "page") continue;
    const below = posix.normalize(`/${file.replace(/(?<!\.adoc)$/, ".adoc")}`);
    yield [`${folder}modules/${given ?? module}/pages${below}`, { path }];
  }
}
