import type { Parsed } from "../../reader.ts";
import { CliError } from "../../../../errors.ts";
import { readBody, readNotes, type Body } from "./docx-body.ts";
import { readStyles, type Styles } from "./docx-styles.ts";
import { joinBlocks } from "./docx-text.ts";
import { frontMatterOf, cleanText, type Properties } from "../properties.ts";
import { parseXml, XmlError } from "../xml.ts";
import { listEntries, unpackEntry, ZipError, type Budget, type ZipEntry } from "../zip.ts";

// Limit for all unpacked parts together: a book of a thousand pages has about 20 MiB.
const maxUnpackedBytes = 64 * 1024 * 1024;

/** The archive of one file, with the number of bytes that may still be unpacked. */
interface Archive {
  bytes: Uint8Array;
  entries: ReadonlyMap<string, ZipEntry>;
  budget: Budget;
}

function unpack(archive: Archive, name: string | undefined): Uint8Array | undefined {
  const entry = name === undefined ? undefined : archive.entries.get(name);
  return entry && unpackEntry(archive.bytes, entry, archive.budget);
}

/** Parts that a part refers to, by the last word of the relation type (ECMA-376 part 2, 9). */
function readRelations(archive: Archive, part: string): Map<string, string> {
  const slash = part.lastIndexOf("/") + 1;
  const folder = part.slice(0, slash);
  const relations = new Map<string, string>();
  const bytes = unpack(archive, `${folder}_rels/${part.slice(slash)}.rels`);
  if (!bytes) return relations;
  parseXml(bytes, {
    open(name, attributeOf) {
      const target = attributeOf("Target");
      const isPart = name === "Relationship" && attributeOf("TargetMode") !== "External";
      if (!isPart || target === undefined) return;
      const kind = (attributeOf("Type") ?? "").split("/").at(-1) ?? "";
      relations.set(kind, target.startsWith("/") ? target.slice(1) : folder + target);
    },
    close() {},
    text() {},
  });
  return relations;
}

function readProperties(bytes: Uint8Array | undefined): Properties {
  const texts = new Map<string, string>();
  let open = "";
  if (!bytes) return {};
  parseXml(bytes, {
    open: (name) => {
      open = name;
    },
    close: () => {
      open = "";
    },
    text: (text) => {
      if (open !== "") texts.set(open, (texts.get(open) ?? "") + text);
    },
  });
  return {
    title: texts.get("title"),
    author: texts.get("creator"),
    updated: texts.get("modified"),
    keywords: texts.get("keywords"),
    subject: texts.get("subject"),
  };
}

function addNotes(
  body: Body,
  archive: Archive,
  relations: ReadonlyMap<string, string>,
  styles: Styles,
): void {
  if (body.notes.size === 0) return;
  const texts = new Map<string, string>();
  for (const kind of ["footnotes", "endnotes"]) {
    const bytes = unpack(archive, relations.get(kind));
    for (const [key, text] of bytes ? readNotes(bytes, styles) : []) texts.set(key, text);
  }
  for (const [key, number] of body.notes) {
    const text = texts.get(key) ?? "";
    if (text !== "") body.blocks.push({ text: `[^${number}]: ${text}`, isItem: false });
  }
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

function readArchive(archive: Archive, path: string): Parsed {
  const root = readRelations(archive, "");
  const main = root.get("officeDocument") ?? "word/document.xml";
  const content = unpack(archive, main);
  if (!content) throw new ZipError(`it contains no ${main}: it is no Word document`);
  const warnings: string[] = [];
  const warn = (what: string) => (why: string) => {
    warnings.push(`${path}: ${what} ignored: ${cleanText(why)}`);
  };
  const relations = readRelations(archive, main);
  const stylesBytes = unpack(archive, relations.get("styles"));
  const noStyles: Styles = new Map();
  const styles = stylesBytes
    ? readOptional(() => readStyles(stylesBytes), noStyles, warn("styles, and so headings,"))
    : noStyles;
  const body = readBody(content, styles);
  readOptional(() => addNotes(body, archive, relations, styles), undefined, warn("notes"));
  const core = unpack(archive, root.get("core-properties"));
  const properties = readOptional(() => readProperties(core), {}, warn("properties"));
  return {
    frontMatter: frontMatterOf(properties),
    body: joinBlocks(body.blocks),
    bodyLine: 1,
    isMarkdown: true,
    warnings,
    emptyReason: "empty: no text",
    ...(body.title === undefined ? {} : { title: body.title }),
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
 * Reads a Word document (ECMA-376) as Markdown: headings by style, paragraphs, lists, tables and
 * notes. Skips deleted and hidden text. The document properties become front matter. Unpacks at
 * most 64 MiB. Throws CliError `usage` with `path`.
 */
export function readDocx(bytes: Uint8Array, path: string): Promise<Parsed> {
  return new Promise((done) => {
    refuseOthers(bytes, path);
    try {
      const budget = { left: maxUnpackedBytes };
      done(readArchive({ bytes, entries: listEntries(bytes), budget }, path));
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
