import { posix } from "node:path";
import { textOf, valueAt } from "../../front-matter/values.ts";
import { belowBase } from "./addresses.ts";
import type { LinkStyle } from "../../site/generators.ts";
import type { PageFolder } from "./link-style.ts";
import type { Targets } from "./targets.ts";

/** What decides where the links of a file lead as a browser reads them. */
interface File {
  /** Root-relative. */
  path: string;
  style: LinkStyle | undefined;
  site: PageFolder;
  targets: Targets;
}

/**
 * The addresses that a link may mean as a browser reads it; none where pages have no known ones.
 * docusaurus.io, "trailingSlash": the page of a folder may have an address without "/" at its end.
 */
export function addressesFrom(path: string, { path: from, style, site, targets }: File): string[] {
  if (path.startsWith("/")) return [belowBase(path, site)];
  const own = style && targets.addresses?.(style, site)?.of(from);
  if (own === undefined) return [];
  const above = posix.join(posix.dirname(own), path);
  if (!own.endsWith("/")) return [above];
  return [posix.join(own, path), ...(style === "docusaurus" ? [above] : [])];
}

/**
 * Whether a link leads to a file that the generator copies: the address of the page decides what leads there.
 * jekyllrb.com, "Static files", and "Collections", whose files lose the `_` of their folder; gohugo.io, "Static files";
 * sphinx-doc.org, `html_extra_path`.
 */
export function isCopied(path: string, file: File): boolean {
  const { style, targets, site } = file;
  const places = {
    jekyll: (address: string) => [address, address.replace(/^\/?/, "_")],
    hugo: (address: string) => [`static/${address}`],
    sphinx: (address: string) => {
      const folders = valueAt(site.data, "html_extra_path");
      const names = Array.isArray(folders) ? folders.map((each) => textOf(each) ?? "") : [];
      return names.map((name) => posix.join(name, address));
    },
  };
  if (style !== "jekyll" && style !== "hugo" && style !== "sphinx") return false;
  const folder = posix.relative(site.prefix, posix.dirname(file.path));
  const addresses = style === "sphinx" ? [posix.join(folder, path)] : addressesFrom(path, file);
  return addresses
    .flatMap(places[style])
    .some((place) => targets.at(posix.join(site.prefix, place)).kind !== "none");
}
