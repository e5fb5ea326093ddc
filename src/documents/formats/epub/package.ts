import { posix } from "node:path";
import {
  attributeOf,
  ProtectedError,
  readXml,
  textIn,
  unpack,
  ZipError,
  type Archive,
} from "../office/archive.ts";
import type { Properties } from "../properties.ts";

/** A file of the book that its manifest names. */
interface Item {
  href: string;
  type: string;
  properties: readonly string[];
  fallback: string | undefined;
}

/** What the package document says (EPUB 3.3, 5; OPF 2.0.1). */
interface Package {
  /** Texts of elements of the metadata by name, in order. */
  texts: Map<string, string[]>;
  items: Map<string, Item>;
  /** Ids of the chapters in order: those outside of the reading order are last. */
  spine: string[];
  /** Hrefs of pages that readers show as cover or contents. */
  guides: Set<string>;
}

export interface Book {
  properties: Properties;
  /** Names of the chapters in the archive, in reading order, each once. */
  chapters: string[];
  /** Chapters that cannot be read, and why. */
  missing: string[];
}

const container = "META-INF/container.xml";
// EPUB 3.3, 4.2.6.3.2 (4.3): a mangled font; Adobe's older way of the same.
const fontAlgorithms = new Set([
  "http://www.idpf.org/2008/embedding",
  "http://ns.adobe.com/pdf/enc#RC",
]);

/** Refuses a book whose content is encrypted (EPUB 3.3, 4.2.6.3.2). Throws ZipError, XmlError. */
function refuseProtected(archive: Archive): void {
  const refuse = (why: string): never => {
    throw new ProtectedError(`it is protected against reading by other programs (${why})`);
  };
  if (archive.entries.has("meta-inf/rights.xml")) refuse("META-INF/rights.xml");
  const bytes = unpack(archive, "META-INF/encryption.xml");
  if (!bytes) return;
  readXml(bytes, (node, parent) => {
    const algorithm = attributeOf(node, "Algorithm") ?? "";
    // The method of a key is that of its data.
    const isOfData = node.name === "EncryptionMethod" && parent === "EncryptedData";
    if (isOfData && !fontAlgorithms.has(algorithm)) refuse("META-INF/encryption.xml");
    return false;
  });
}

function rootOf(archive: Archive): string {
  const bytes = unpack(archive, container);
  if (!bytes) throw new ZipError(`it contains no ${container}: it is no EPUB`);
  let root: string | undefined;
  readXml(bytes, (node) => {
    if (node.name === "rootfile") root ??= attributeOf(node, "full-path");
    return false;
  });
  if (root === undefined) throw new ZipError(`its ${container} names no package`);
  return root;
}

function readPackage(bytes: Uint8Array): Package {
  const found: Package = { texts: new Map(), items: new Map(), spine: [], guides: new Set() };
  const later: string[] = [];
  readXml(bytes, (node, parent) => {
    const { name } = node;
    const read = (attribute: string): string => attributeOf(node, attribute) ?? "";
    // OPF 1 has another element around.
    if (parent === "metadata" || parent === "dc-metadata") {
      const event = read("event");
      const key = name === "meta" ? read("property") : event === "" ? name : `${name} ${event}`;
      found.texts.set(key, [...(found.texts.get(key) ?? []), textIn(node).trim()]);
    } else if (name === "item") {
      found.items.set(read("id"), {
        href: read("href"),
        type: read("media-type").toLowerCase(),
        properties: read("properties").split(/\s+/),
        fallback: attributeOf(node, "fallback"),
      });
    } else if (name === "itemref") {
      (read("linear") === "no" ? later : found.spine).push(read("idref"));
    } else if (name === "reference" && /^(?:cover|toc)$/i.test(read("type"))) {
      found.guides.add(read("href").split("#", 1)[0] ?? "");
    }
    return false;
  });
  // Readers show what is outside of the reading order behind it, or where a link leads to it.
  found.spine.push(...later);
  return found;
}

/** The name in the archive that a reference from a folder means; undefined for one that leads out. */
export function placeOf(folder: string, href: string): string | undefined {
  let path: string;
  try {
    path = decodeURIComponent(href.split(/[?#]/, 1)[0] ?? "");
  } catch {
    return undefined;
  }
  if (/^(?:[a-z][a-z\d+.-]*:|[/\\])/i.test(path)) return undefined;
  const place = posix.join(folder, path);
  return place.startsWith("..") ? undefined : place;
}

const textTypes = new Set(["application/xhtml+xml", "text/html", "text/x-oeb1-document"]);

/** The item that a reader shows: of one that is no text, what stands for it. A problem is a string. */
function shownItem(items: Package["items"], id: string): Item | string {
  const first = items.get(id);
  if (!first) return `${id}: it is not in the manifest`;
  const seen = new Set<Item>();
  for (let item: Item | undefined = first; item; item = items.get(item.fallback ?? "")) {
    if (textTypes.has(item.type)) return item;
    if (seen.has(item)) return `${first.href}: its fallbacks lead back to it`;
    seen.add(item);
  }
  return `${first.href}: it is no text (${first.type})`;
}

/** Authors and titles as the package has them; the date of the last change before that of the book. */
function propertiesOf({ texts }: Package): Properties {
  const all = (name: string): string[] => texts.get(name) ?? [];
  const dates = [...all("dcterms:modified"), ...all("date modification"), ...all("date")];
  return {
    title: all("title")[0],
    author: all("creator").join(";"),
    updated: dates[0],
    keywords: all("subject").join(";"),
  };
}

/**
 * Reads which files make a book. Throws ZipError and XmlError: for a protected book, and for one
 * without a package.
 */
export function readBook(archive: Archive): Book {
  refuseProtected(archive);
  const root = rootOf(archive);
  const place = placeOf("", root);
  const bytes = unpack(archive, place);
  if (!bytes) throw new ZipError(`it contains no ${root}: its package is missing`);
  const found = readPackage(bytes);
  const folder = posix.dirname(root);
  const shown = found.spine.map((id) => shownItem(found.items, id));
  const missing = shown.filter((item) => typeof item === "string");
  const items = shown.filter((item) => typeof item !== "string");
  const pages = items.filter(({ properties }) => !properties.includes("nav"));
  const own = pages.filter(({ href }) => !found.guides.has(href));
  const chapters = new Set<string>();
  // A program names the only page of a book as its contents.
  for (const { href } of own.length > 0 ? own : pages) {
    const name = placeOf(folder, href);
    if (name === undefined) missing.push(`${href}: it leads out of the book`);
    else chapters.add(name);
  }
  return { properties: propertiesOf(found), chapters: [...chapters], missing };
}
