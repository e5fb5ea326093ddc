import type { Parsed } from "../format.ts";
import type { LeftOut } from "../../text/left-out.ts";
import { CliError } from "../../../errors.ts";
import {
  attributeOf,
  descendantsOf,
  openArchive,
  readXml,
  textIn,
  unpack,
  XmlError,
  ZipError,
  type Archive,
} from "./archive.ts";
import type { Parts } from "./docx-blocks.ts";
import { readBody, readNotes, type Body } from "./docx-body.ts";
import { noNumbering, readNumbering, readStyles, type Styles } from "./docx-styles.ts";
import { pageFromHtml } from "../../page/page.ts";
import { frontMatterOf, cleanText, type Properties } from "../properties.ts";

/** What a part refers to (ECMA-376 part 2, 9). */
interface Relations {
  /** Parts by the last word of the relation type: `styles`. */
  parts: ReadonlyMap<string, string>;
  /** Parts, and addresses outside of the file, by the id of the relation. */
  byId: ReadonlyMap<string, string>;
  links: ReadonlyMap<string, string>;
}

function readRelations(archive: Archive, part: string): Relations {
  const slash = part.lastIndexOf("/") + 1;
  const folder = part.slice(0, slash);
  const parts = new Map<string, string>();
  const byId = new Map<string, string>();
  const links = new Map<string, string>();
  const bytes = unpack(archive, `${folder}_rels/${part.slice(slash)}.rels`);
  if (!bytes) return { parts, byId, links };
  readXml(bytes, (node) => {
    const target = attributeOf(node, "Target");
    if (node.name !== "Relationship" || target === undefined) return false;
    const id = attributeOf(node, "Id") ?? "";
    const kind = (attributeOf(node, "Type") ?? "").split("/").at(-1) ?? "";
    if (attributeOf(node, "TargetMode") === "External") {
      if (kind === "hyperlink") links.set(id, target);
      return true;
    }
    const path = target.startsWith("/") ? target.slice(1) : folder + target;
    parts.set(kind, path);
    byId.set(id, path);
    return true;
  });
  return { parts, byId, links };
}

/** The texts in the boxes of a diagram (ECMA-376 part 1, 21.4.3). Throws XmlError. */
function readDiagram(bytes: Uint8Array): string[] {
  const texts: string[] = [];
  readXml(bytes, (node) => {
    if (node.name !== "pt") return false;
    // Paragraphs of one box are apart.
    const words = [...descendantsOf(node)].map((each) =>
      each.name === "p" ? " " : each.name === "t" ? textIn(each) : "",
    );
    const text = words.join("").replace(/\s+/g, " ").trim();
    if (text !== "") texts.push(text);
    return true;
  });
  return texts;
}

// Limit for all unpacked parts together: a book of a thousand pages has about 20 MiB.
const maxUnpackedBytes = 64 * 1024 * 1024;

function readProperties(bytes: Uint8Array | undefined): Properties {
  const texts = new Map<string, string>();
  if (!bytes) return {};
  readXml(bytes, (node) => {
    texts.set(node.name, (texts.get(node.name) ?? "") + textIn(node));
    return true;
  });
  return {
    title: texts.get("title"),
    author: texts.get("creator"),
    updated: texts.get("modified"),
    keywords: texts.get("keywords"),
    subject: texts.get("subject"),
  };
}

/** The referenced notes as HTML, in the order of their numbers. */
function notesHtml(body: Body, archive: Archive, relations: Relations, parts: Parts): string {
  if (body.notes.size === 0) return "";
  const texts = new Map<string, string>();
  for (const kind of ["footnotes", "endnotes"]) {
    const name = relations.parts.get(kind);
    const bytes = unpack(archive, name);
    if (!bytes || name === undefined) continue;
    const { links } = readRelations(archive, name);
    for (const [key, text] of readNotes(bytes, { ...parts, links })) texts.set(key, text);
  }
  const notes = [...body.notes].map(([key, number]) => [number, texts.get(key) ?? ""] as const);
  return notes.map(([number, html]) => `<aside data-note="${number}">${html}</aside>`).join("");
}

/** Reads an optional part. A broken part is ignored with a warning, and the text is kept. */
function readOptional<Result>(read: () => Result, fallback: Result, warn: (why: string) => void) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    warn(error.message);
    return fallback;
  }
}

function readParts(
  archive: Archive,
  relations: Relations,
  warn: (what: string) => (why: string) => void,
): Parts {
  const { parts, byId, links } = relations;
  const read = <Result>(
    part: string | undefined,
    reader: (bytes: Uint8Array) => Result,
    fallback: Result,
    what: string,
  ): Result => {
    const bytes = unpack(archive, part);
    return bytes ? readOptional(() => reader(bytes), fallback, warn(what)) : fallback;
  };
  const noStyles: Styles = new Map();
  const diagrams = new Set(byId.keys());
  return {
    styles: read(parts.get("styles"), readStyles, noStyles, "styles, and so headings,"),
    numbering: read(parts.get("numbering"), readNumbering, noNumbering, "numbers of lists"),
    links,
    // Each diagram is read once.
    readDiagram: (id) =>
      diagrams.delete(id) ? read(byId.get(id), readDiagram, [], "a diagram") : [],
  };
}

// Of more, the number says nothing.
const mostHidden = 1000;

const hiddenTexts = (count: number): LeftOut[] =>
  Array.from({ length: Math.min(count, mostHidden) }, () => {
    return { kind: "hidden", what: "hidden text", line: undefined };
  });

function readArchive(archive: Archive, path: string): Parsed {
  const root = readRelations(archive, "");
  const main = root.parts.get("officeDocument") ?? "word/document.xml";
  const content = unpack(archive, main);
  if (!content) throw new ZipError(`it contains no ${main}: it is no Word document`);
  const warnings: string[] = [];
  const warn = (what: string) => (why: string) => {
    warnings.push(`${path}: ${what} ignored: ${cleanText(why)}`);
  };
  const relations = readRelations(archive, main);
  const parts = readParts(archive, relations, warn);
  const body = readBody(content, parts);
  const notes = readOptional(() => notesHtml(body, archive, relations, parts), "", warn("notes"));
  const core = unpack(archive, root.parts.get("core-properties"));
  const properties = readOptional(() => readProperties(core), {}, warn("properties"));
  const page = pageFromHtml(body.html + notes, { path });
  const title = page.headings[body.levels.indexOf(1)]?.text;
  return {
    frontMatter: frontMatterOf(properties),
    body: page.body,
    bodyLine: 1,
    isMarkdown: true,
    // No program finds a heading of a document by an anchor.
    headings: page.headings.map(({ text }) => ({ text, anchor: undefined })),
    warnings,
    emptyReason: "empty: no text",
    ...(body.unseen > 0 ? { leftOut: hiddenTexts(body.unseen) } : {}),
    ...(title === undefined ? {} : { title }),
  };
}

function fail(path: string, reason: string, hint: string, cause?: unknown): never {
  throw new CliError("usage", `${path}: ${reason}`, { hints: [hint], cause });
}

function refuseOthers(bytes: Uint8Array, path: string): void {
  if (bytes.length === 0)
    fail(path, "no Word document: it is empty", "save it again, or exclude it");
  const start = Buffer.from(bytes.subarray(0, 8)).toString("latin1");
  // Word stores a file with a password in the container of its old format ([MS-OFFCRYPTO] 1.3).
  if (start === "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
    const reason = "password-protected (or an old .doc)";
    fail(path, reason, "save it without a password as .docx");
  }
  if (!start.startsWith("PK")) {
    fail(path, "no Word document: it is no ZIP archive", "save it as .docx, or exclude it");
  }
}

/**
 * Reads a Word document (ECMA-376) as Markdown, through HTML: headings by style, links, lists and
 * headings with their numbers, tables, notes, formulas, check boxes, and the words of pictures and
 * diagrams. Skips deleted and hidden text. The document properties become front matter. Unpacks at most 64 MiB. Throws CliError `usage`
 * with `path`.
 */
export function readDocx(bytes: Uint8Array, path: string): Promise<Parsed> {
  return new Promise((done) => {
    refuseOthers(bytes, path);
    try {
      done(readArchive(openArchive(bytes, maxUnpackedBytes), path));
    } catch (error) {
      const hint = "open and save it in an office program, or exclude it";
      if (error instanceof ZipError) fail(path, `cannot be read: ${error.message}`, hint, error);
      if (error instanceof XmlError) {
        const reason = cleanText(error.message);
        fail(path, `cannot be read: its XML is broken or refused: ${reason}`, hint, error);
      }
      throw error;
    }
  });
}
