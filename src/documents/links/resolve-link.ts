import { posix } from "node:path";
import { folderOfStyle, resolvesBelowPage } from "../map/link-style.ts";
import type { LinkStyle } from "../map/styles.ts";
import { extensionOf, withoutExtension } from "../read/file-name.ts";
import { formatOf } from "../read/readers.ts";
import type { Target, Targets } from "./targets.ts";

/** A document with links. */
export interface LinkingFile {
  /** Root-relative. */
  path: string;
  style: LinkStyle | undefined;
  targets: Targets;
  /** Called with each path that was looked at. */
  note: (path: string, stamp: string | undefined) => void;
}

export type Resolved =
  | { kind: "document"; target: Target }
  /** No document of the project: it stays as written. */
  | { kind: "other" }
  | { kind: "dead" };

const pageExtensions = [".md", ".mdx", ".markdown", ".rst", ".adoc", ".html"];
const indexNames = ["index", "README", "_index"];
const indexExtensions = [".md", ".mdx", ".html"];

const isHidden = (path: string): boolean => /(?:^|\/)\.(?!well-known(?:\/|$))[^/]/.test(path);

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The root-relative path that `path` names in `folder`; undefined outside the root. */
function joined(folder: string, path: string): string | undefined {
  const full = posix.normalize(posix.join(folder, path)).replace(/\/+$/, "");
  if (full === ".." || full.startsWith("../")) return undefined;
  return full === "." ? "" : full.replace(/^\/+/, "");
}

/** Where the path of a link may lead, as its generator or a browser reads it. */
function placesOf(path: string, { path: from, style }: LinkingFile): string[] {
  const folders: string[] = [];
  if (path.startsWith("/")) folders.push("", style === undefined ? "" : folderOfStyle(style));
  else {
    const folder = posix.dirname(from);
    const stem = withoutExtension(from);
    const isIndex = /(?:^|\/)(?:_?index|readme)$/i.test(stem);
    // The address of the page ends with "/", so a browser resolves a path without extension below it.
    const isBelow = style !== undefined && resolvesBelowPage(style) && !isIndex;
    if (isBelow && formatOf(path) === undefined) folders.push(stem);
    folders.push(folder);
  }
  const places = folders.map((folder) => joined(folder, path));
  return [...new Set(places.filter((each) => each !== undefined))];
}

/** The files that may be the page at a place without its extension, most likely ones first. */
function pagesAt(place: string, from: string, isFolder: boolean): string[] {
  const own = extensionOf(from);
  const withOwn = (extensions: readonly string[]): string[] => [
    ...new Set(formatOf(from) && own.startsWith(".") ? [own, ...extensions] : extensions),
  ];
  const files = place === "" ? [] : withOwn(pageExtensions).map((each) => place + each);
  const folder = place === "" ? "" : `${place}/`;
  const indexes = indexNames.flatMap((name) =>
    withOwn(indexExtensions).map((extension) => `${folder}${name}${extension}`),
  );
  return isFolder ? [...indexes, ...files] : [...files, ...indexes];
}

function resolveAt(
  place: string,
  isFolder: boolean,
  file: LinkingFile,
): Target | "other" | undefined {
  if (isHidden(place)) return "other";
  const exact = place === "" ? undefined : file.targets.at(place);
  if (exact?.kind === "document") {
    file.note(place, exact.stamp);
    return exact;
  }
  if (exact?.kind === "file") {
    file.note(place, exact.stamp);
    return "other";
  }
  // A page that the site has as HTML: the file has another extension.
  const isHtml = /\.html?$/i.test(place);
  const pages = isHtml
    ? pagesAt(withoutExtension(place), file.path, false)
    : formatOf(place) === undefined
      ? pagesAt(place, file.path, isFolder)
      : [];
  if (exact?.kind === "none" && (isHtml || pages.length === 0)) file.note(place, exact.stamp);
  for (const page of pages) {
    const target = file.targets.at(page);
    file.note(page, target.stamp);
    if (target.kind === "document") return target;
  }
  return exact?.kind === "folder" || place === "" ? "other" : undefined;
}

/**
 * Finds the document that the path of a link leads to, before `?` and `#`: from the folder of the
 * file, with "/" from the root. Tries extensions and index files as generators do.
 */
export function resolveLink(path: string, file: LinkingFile): Resolved {
  const decoded = decode(path);
  // oxlint-disable-next-line no-control-regex
  if (decoded === undefined || /[\0-\x1f\x7f\\]/.test(decoded)) return { kind: "other" };
  const places = placesOf(decoded, file);
  if (places.length === 0) return { kind: "other" };
  let isOther = false;
  for (const place of places) {
    const target = resolveAt(place, decoded.endsWith("/"), file);
    if (target === "other") isOther = true;
    else if (target) return { kind: "document", target };
  }
  // A site has more addresses than files, for example those of its list pages.
  return { kind: isOther || path.startsWith("/") ? "other" : "dead" };
}
