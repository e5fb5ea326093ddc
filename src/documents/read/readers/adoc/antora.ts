import { posix } from "node:path";

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
