import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { formatOf, formats, withFrontMatter } from "../../formats/formats.ts";
import { isMap, textOf, textsOf, type Value, valueAt } from "../../front-matter/values.ts";
import { readFrontMatter } from "../../front-matter/front-matter.ts";
import type { LinkStyle } from "../../site/generators.ts";
import { mayHaveAddress } from "../../site/docusaurus.ts";
import { styledLink, type PageFolder, type StyledFile } from "./link-style.ts";

/** The pages of a site by their addresses. Paths are root-relative. */
export interface Addresses {
  /** The page at an address of the site, which begins with "/". */
  at(address: string): string | undefined;
  /** The only page of that name, whatever its folder: gohugo.io, "GetPage". */
  named(name: string): string | undefined;
  /** The address of a page; undefined for another file. */
  of(path: string): string | undefined;
}

const mostPages = 20_000;
// No page is in them.
const skipped =
  /^(?:\.|node_modules$|build$|public$|resources$|static$|_site$|vendor$|_includes$|_layouts$)/;

/** Whether the front matter of a file decides its address: jekyllrb.com, "Pages", has HTML as well. */
function isPage(path: string, style: LinkStyle): boolean {
  const format = formatOf(path);
  return withFrontMatter.includes(format) || (style === "jekyll" && format === formats.html);
}

function* pagesBelow(root: string, folder: string, style: LinkStyle): Generator<string> {
  let entries;
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = posix.join(folder, entry.name);
    if (skipped.test(entry.name)) continue;
    if (entry.isDirectory()) yield* pagesBelow(root, path, style);
    else if (entry.isFile() && isPage(path, style)) yield path;
  }
}

/** An address for comparison: `/a/`, `/a/index.html` and `/a.html` are the same page. */
const comparable = (address: string): string =>
  address
    .replace(/[?#].*$/s, "")
    .replace(/(?:\/index)?\.html?$|\/+$/i, "")
    .replace(/^\/*/, "/");

function valuesOf(path: string, root: string): Pick<StyledFile, "valueOf" | "textOf"> {
  const { frontMatter } = readFrontMatter(join(root, path), path);
  const data = frontMatter?.data;
  const valueOf = (key: string): Value | undefined => data && valueAt(data, key);
  return { valueOf, textOf: (key) => textOf(valueOf(key)) };
}

function decoded(address: string): string {
  try {
    return decodeURI(address);
  } catch {
    return address;
  }
}

function build(root: string, style: LinkStyle, site: PageFolder): Addresses {
  const pages = new Map<string, string>();
  const names = new Map<string, string | undefined>();
  const addresses = new Map<string, string>();
  const others: [address: string, path: string][] = [];
  for (const path of pagesBelow(root, site.prefix, style)) {
    if (addresses.size >= mostPages) break;
    const below = path.slice(site.prefix.length);
    if (style === "docusaurus" && !mayHaveAddress(below, site.data)) continue;
    const file = { path, site, ...valuesOf(path, root) };
    const address = `/${decoded(styledLink(style, file, undefined, undefined)).replace(/^\/+/, "")}`;
    addresses.set(path, address);
    if (!pages.has(comparable(address))) pages.set(comparable(address), path);
    const folder = posix.dirname(address);
    // gohugo.io, "URL management, aliases"; the plugin jekyll-redirect-from.
    for (const each of ["aliases", "redirect_from"].flatMap((key) => textsOf(file.valueOf(key)))) {
      others.push([posix.resolve("/", folder, each), path]);
    }
    const name = posix.basename(path).replace(/\.[^.]+$/, "");
    const own = /^_?index$/i.test(name) ? posix.basename(posix.dirname(path)) : name;
    names.set(own.toLowerCase(), names.has(own.toLowerCase()) ? undefined : path);
  }
  // A page wins over the earlier address of another one.
  for (const [address, path] of others) {
    if (!pages.has(comparable(address))) pages.set(comparable(address), path);
  }
  return {
    at: (address) => pages.get(comparable(address)) ?? pages.get(comparable(address).toLowerCase()),
    named: (name) => names.get(name.toLowerCase()),
    of: (path) => addresses.get(path),
  };
}

// The front matter of pages decides their addresses.
const withAddresses: ReadonlySet<LinkStyle> = new Set([
  "docusaurus",
  "hugo",
  "jekyll",
  "starlight",
]);

const addressesOfRun = new WeakMap<object, Map<string, Addresses>>();

/**
 * The addresses of a site, for styles whose front matter decides them; undefined for other styles.
 * Reads the front matter of all its pages, once for each object of settings (`run`) and style.
 */
export function addressesOf(
  style: LinkStyle,
  site: PageFolder,
  root: string,
  run: object,
): Addresses | undefined {
  if (!withAddresses.has(style)) return undefined;
  let sites = addressesOfRun.get(run);
  if (!sites) addressesOfRun.set(run, (sites = new Map()));
  const key = `${style} ${site.prefix}`;
  let addresses = sites.get(key);
  if (!addresses) sites.set(key, (addresses = build(root, style, site)));
  return addresses;
}

/** The path of an address that begins with "/", below the base of its site: jekyllrb.com, "baseurl". */
export function belowBase(path: string, { data }: PageFolder): string {
  const base = isMap(data) ? (textOf(valueAt(data, "baseurl")) ?? "") : "";
  const clean = `/${base.replace(/^\/+|\/+$/g, "")}`;
  return clean !== "/" && path.startsWith(`${clean}/`) ? path.slice(clean.length) : path;
}
