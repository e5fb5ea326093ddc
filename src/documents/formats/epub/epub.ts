import { TextDecoder } from "node:util";
import { pageFromHtml } from "../../page/page.ts";
import type { LeftOut } from "../../text/left-out.ts";
import type { Page, Parsed } from "../format.ts";
import { unpack, ZipError, type Archive } from "../office/archive.ts";
import { readPacked, type Packed } from "../office/package.ts";
import { cleanText, frontMatterOf } from "../properties.ts";
import { readBook, placeOf } from "./package.ts";
import { decodePercent } from "../../files/file-name.ts";
import { posix } from "node:path";
import {
  attributeOf,
  isElement,
  parseHtml,
  textOf,
  walkTree,
  type PageNode,
} from "../../page/tree.ts";
import { asHtml } from "../html.ts";

interface Chapter {
  name: string;
  document: PageNode;
  /** Numbers of the notes that it is the first to refer to. */
  notes: number[];
}

interface Target {
  node: PageNode;
  /** Its id, which no other element of the book has. */
  id: string;
}

/** What links of the book lead to. */
interface Book {
  chapters: Chapter[];
  /** By `name#id`, and by name alone the first heading. */
  targets: Map<string, Target>;
  /** Notes by their elements, with their numbers. */
  notes: Map<PageNode, number>;
}

/** Words of `epub:type` (EPUB Structural Semantics Vocabulary 1.1) and of DPUB-ARIA roles. */
const kindsOf = (node: PageNode): string[] =>
  [attributeOf(node, "epub:type"), attributeOf(node, "role")?.replaceAll("doc-", "")]
    .join(" ")
    .split(/\s+/);

const isA = (node: PageNode, kinds: ReadonlySet<string>): boolean =>
  kindsOf(node).some((kind) => kinds.has(kind));

const noteKinds = new Set(["footnote", "endnote", "rearnote", "note"]);
const referenceKinds = new Set(["noteref"]);
const backKinds = new Set(["backlink"]);
const coverKinds = new Set(["cover"]);

function bodyOf(document: PageNode): PageNode {
  let body = document;
  walkTree(document, (node) => {
    if (isElement(node) && node.localName === "body") body = node;
    return body === document;
  });
  return body;
}

function elementsOf(root: PageNode): PageNode[] {
  const found: PageNode[] = [];
  walkTree(root, (node) => {
    if (isElement(node)) found.push(node);
    return true;
  });
  return found;
}

/** A page that readers show before the book: of this type with a few words, or with a picture only. */
function isCover({ name, document }: Pick<Chapter, "name" | "document">): boolean {
  const body = bodyOf(document);
  const length = textOf(body).trim().length;
  if (length === 0 && /(?:^|\/)cover[^/]*$/i.test(name)) return true;
  const tops = [body, ...elementsOf(body).slice(0, 3)];
  return length < 200 && tops.some((node) => isA(node, coverKinds));
}

/** Gives each place an id of its own, and notes where links can lead. */
function addTargets(
  { targets }: Book,
  { name, document }: Chapter,
  number: number,
  used: Set<string>,
): void {
  for (const node of elementsOf(document)) {
    const isHeading = /^h[1-6]$/.test(node.localName) && !targets.has(name);
    const old = attributeOf(node, "id") ?? (isHeading ? `chapter-${number}` : "");
    if (old === "") continue;
    const id = used.has(old) ? `${old}-${number}` : old;
    used.add(id);
    node.setAttribute("id", id);
    const target = { node, id };
    if (!targets.has(`${name}#${old}`)) targets.set(`${name}#${old}`, target);
    if (isHeading) targets.set(name, target);
  }
}

/** The note that an element is or stands in; undefined for none. */
function noteAt(node: PageNode): PageNode | undefined {
  for (
    let at: PageNode | null = node, up = 0;
    at && isElement(at) && up < 4;
    at = at.parentNode, up++
  ) {
    if (isA(at, noteKinds)) return at;
  }
  return undefined;
}

/** Turns a link into one to a place of the document, or into the mark of a note. */
function placeLink(book: Book, chapter: Chapter, link: PageNode): void {
  const href = attributeOf(link, "href") ?? "";
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(href)) return;
  const [path = "", fragment = ""] = href.split("#");
  const name = path === "" ? chapter.name : placeOf(posix.dirname(chapter.name), path);
  const target = book.targets.get(
    fragment === "" ? (name ?? "") : `${name}#${decodePercent(fragment)}`,
  );
  const isReference = isA(link, referenceKinds);
  const note = target && (noteAt(target.node) ?? (isReference ? target.node : undefined));
  if (note && (isReference || noteAt(link) === undefined)) {
    const number = book.notes.get(note) ?? book.notes.size + 1;
    if (!book.notes.has(note)) chapter.notes.push(number);
    book.notes.set(note, number);
    link.outerHTML = `<sup data-note="${number}"></sup>`;
  } else if (isA(link, backKinds) || (noteAt(link) && /^(?:[\s↩↑^]|\p{M})*$/u.test(textOf(link)))) {
    link.outerHTML = "";
  } else if (target) link.setAttribute("href", `#${target.id}`);
  else link.removeAttribute("href");
}

/** EPUB 3.3 and WAI-ARIA 1.2, "presentation": nobody misses it. */
const isOrnament = (node: PageNode): boolean =>
  /^(?:presentation|none)$/.test(attributeOf(node, "role") ?? "") ||
  attributeOf(node, "aria-hidden") === "true";

/**
 * The chapters of a book as HTML for page/, each with the notes that it is the first to refer to, and
 * the addresses of the pictures of the book.
 */
function chaptersHtml(
  texts: readonly { name: string; text: string }[],
  path: string,
): { html: string[]; pictures: string[] } {
  const parsed = texts.map(({ name, text }) => ({
    name,
    document: parseHtml(asHtml(text), path),
    notes: [],
  }));
  const chapters: Chapter[] = parsed.filter((each) => !isCover(each));
  const book: Book = { chapters, targets: new Map(), notes: new Map() };
  const used = new Set<string>();
  const pictures: string[] = [];
  for (const [at, chapter] of chapters.entries()) addTargets(book, chapter, at + 1, used);
  for (const chapter of chapters) {
    for (const node of elementsOf(chapter.document)) {
      if (node.localName === "a" && attributeOf(node, "href") !== undefined)
        placeLink(book, chapter, node);
      if (node.localName !== "img" && node.localName !== "image") continue;
      // Only its words: no other program finds a picture within the book.
      const address = ["src", "href", "xlink:href"].map((name) => attributeOf(node, name));
      if (!isOrnament(node)) pictures.push(address.find((each) => each !== undefined) ?? "");
      node.removeAttribute("src");
    }
  }
  const notes = [...book.notes.keys()];
  for (const note of notes) if (note.localName !== "body") note.remove();
  const html = chapters.map((chapter) => {
    const own = chapter.notes.map(
      (number) => `<aside data-note="${number}">${notes[number - 1]?.innerHTML ?? ""}</aside>`,
    );
    return bodyOf(chapter.document).innerHTML + own.join("");
  });
  return { html, pictures };
}

/** The text of a chapter: UTF-8, UTF-16 with a byte order mark, or what its first line names. */
function decode(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  const label = start.startsWith("\xFF\xFE")
    ? "utf-16le"
    : start.startsWith("\xFE\xFF")
      ? "utf-16be"
      : /^(?:\xEF\xBB\xBF)?\s*<\?xml[^>]*\sencoding=["']([\w-]+)/.exec(start)?.[1];
  try {
    return new TextDecoder(label ?? "utf-8").decode(bytes);
  } catch {
    return new TextDecoder("utf-8").decode(bytes);
  }
}

function textsOf(archive: Archive, names: readonly string[], missing: string[]) {
  const found = names.flatMap((name) => {
    const bytes = unpack(archive, name);
    if (!bytes) missing.push(`${name}: no such file`);
    return bytes ? [{ name, text: decode(bytes) }] : [];
  });
  const [first] = names;
  if (first === undefined || found.length > 0) return found;
  throw new ZipError(`it contains none of its chapters (first: ${cleanText(first)})`);
}

function warningOf(path: string, missing: readonly string[]): string {
  const more = missing.length > 3 ? `; and ${missing.length - 3} more` : "";
  return cleanText(`${path}: chapters are left out: ${missing.slice(0, 3).join("; ")}${more}`);
}

function readChapters({ archive, warnings }: Packed, path: string): Parsed {
  const { properties, chapters, missing } = readBook(archive);
  const { html, pictures } = chaptersHtml(textsOf(archive, chapters, missing), path);
  const pages = html.map((each) => pageFromHtml(each, { path }));
  const leftOut: LeftOut[] = [
    ...missing.map((what) => ({ kind: "include" as const, what, line: undefined })),
    ...pictures.map((address) => ({
      kind: "embedded" as const,
      what: address.slice(0, 60),
      line: undefined,
    })),
    ...pages.flatMap((page) => page.leftOut),
  ];
  const headings = pages.flatMap((page) => page.headings);
  const texts = pages.map(({ body }) => body).filter((body) => body !== "");
  const title = headings[0]?.text;
  return {
    frontMatter: frontMatterOf(properties),
    body: texts.join("\n"),
    bodyLine: 1,
    isMarkdown: true,
    headings,
    ids: pages.flatMap(({ ids }) => ids),
    pages: texts.map((text): Page => ({ text, label: "", fragment: "" })),
    warnings: missing.length === 0 ? warnings : [...warnings, warningOf(path, missing)],
    emptyReason: "empty: no text",
    ...(leftOut.length > 0 ? { leftOut } : {}),
    ...(title === undefined ? {} : { title }),
  };
}

/**
 * Reads a book (EPUB 2 and 3) as Markdown: its chapters in reading order, without cover and contents,
 * with the notes at the end of the chapter that refers to them, and links between chapters as links
 * within the document. Pictures are counted: only their words are text. The properties of the book become front matter. Throws CliError `usage` with
 * `path`, also for a book that is protected.
 */
export const readEpub = (bytes: Uint8Array, path: string): Promise<Parsed> =>
  readPacked(bytes, path, { noun: "EPUB", extension: "epub" }, (packed) =>
    readChapters(packed, path),
  );
