import { posix } from "node:path";
import { CliError } from "../../../errors.ts";
import type { FrontMatter } from "../../front-matter/front-matter.ts";
import type { LeftOut, LeftOutKind } from "../../text/left-out.ts";
import type { Parsed } from "../format.ts";
import { cleanText, frontMatterOf, type Properties } from "../properties.ts";
import {
  attributeOf,
  LimitError,
  ProtectedError,
  openArchive,
  readTree,
  readXml,
  textIn,
  unpack,
  XmlError,
  ZipError,
  type Archive,
  type XmlNode,
} from "./archive.ts";

/** What a part refers to (ECMA-376 part 2, 9). */
export interface Relations {
  /** Parts by the last word of the relation type: `styles`. */
  parts: ReadonlyMap<string, string>;
  /** Parts by the id of the relation. */
  byId: ReadonlyMap<string, string>;
  /** Addresses outside of the file by the id of the relation. */
  links: ReadonlyMap<string, string>;
  /** How many relations of each type there are. */
  counts: ReadonlyMap<string, number>;
}

/** Reads what a part refers to; "" is the whole file. Names of parts never leave the archive. Throws ZipError, XmlError. */
export function readRelations(archive: Archive, part: string): Relations {
  const folder = posix.dirname(part);
  const parts = new Map<string, string>();
  const byId = new Map<string, string>();
  const links = new Map<string, string>();
  const counts = new Map<string, number>();
  const bytes = unpack(archive, posix.join(folder, "_rels", `${posix.basename(part)}.rels`));
  if (!bytes) return { parts, byId, links, counts };
  readXml(bytes, (node) => {
    const target = attributeOf(node, "Target");
    if (node.name !== "Relationship" || target === undefined) return false;
    const id = attributeOf(node, "Id") ?? "";
    const kind = (attributeOf(node, "Type") ?? "").split("/").at(-1) ?? "";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (attributeOf(node, "TargetMode") === "External") {
      if (kind === "hyperlink") links.set(id, target);
      return true;
    }
    const path = target.startsWith("/") ? target.slice(1) : posix.join(folder, target);
    parts.set(kind, path);
    byId.set(id, path);
    return true;
  });
  return { parts, byId, links, counts };
}

/** Reads docProps/core.xml. Throws XmlError. */
function readProperties(bytes: Uint8Array): Properties {
  const texts = new Map<string, string>();
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

/** Reads an optional part. A broken part is ignored with a warning, and the text is kept. */
export function readOptional<Result>(
  read: () => Result,
  fallback: Result,
  warn: (why: string) => void,
): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    warn(error.message);
    return fallback;
  }
}

/** Reads a part with readOptional(), if the archive has it. Throws ZipError. */
export const readPart = <Result>(
  { archive, warn }: Packed,
  part: string | undefined,
  what: string,
  fallback: Result,
  read: (bytes: Uint8Array) => Result,
): Result => {
  const bytes = unpack(archive, part);
  return bytes ? readOptional(() => read(bytes), fallback, warn(what)) : fallback;
};

/** Reads a part with its relations, as readPart(); undefined without it. */
export const readRelated = <Result>(
  packed: Packed,
  part: string | undefined,
  what: string,
  read: (root: XmlNode, relations: Relations) => Result,
): Result | undefined =>
  readPart(packed, part, what, undefined, (bytes) => {
    const root = readTree(bytes);
    return root && read(root, readRelations(packed.archive, part ?? ""));
  });

// Of more, the number says nothing.
const mostCounted = 1000;

/** Entries for things that a body lacks, one for each. */
export const countedOut = (kind: LeftOutKind, what: string, count: number): LeftOut[] =>
  Array.from({ length: Math.min(count, mostCounted) }, () => ({ kind, what, line: undefined }));

/** The comments of a slide or a sheet, which are `element` in their part. */
export function commentsOut(
  office: Office,
  { parts }: Relations,
  element: string,
  what: string,
): LeftOut[] {
  let count = 0;
  readPart(office, parts.get("comments"), "comments", undefined, (bytes) =>
    readXml(bytes, ({ name }) => name === element && ++count > 0),
  );
  return countedOut("comment", what, count);
}

/** The files in a slide or a sheet. */
export const embeddedOut = ({ counts }: Relations, what: string): LeftOut[] =>
  countedOut("embedded", what, (counts.get("package") ?? 0) + (counts.get("oleObject") ?? 0));

/** The macros of a file. */
export const macrosOut = ({ parts }: Relations): LeftOut[] =>
  countedOut("script", "macros", parts.has("vbaProject") ? 1 : 0);

/** What the reader of a document found. */
interface OfficePage extends Pick<Parsed, "frontMatter" | "warnings"> {
  leftOut: readonly LeftOut[];
  title?: string | undefined;
  /** What an empty document says: `its slides contain no text`. */
  empty: string;
}

/** The parsed text of a document, as pageFromHtml() makes it. No program finds its headings by an anchor. */
export function officePage(
  { body, headings }: { body: string; headings: readonly { text: string }[] },
  { leftOut, title, empty, ...found }: OfficePage,
): Parsed {
  return {
    ...found,
    body,
    bodyLine: 1,
    isMarkdown: true,
    headings: headings.map(({ text }) => ({ text, anchor: undefined })),
    emptyReason: `empty: ${empty}`,
    ...(leftOut.length > 0 ? { leftOut } : {}),
    ...(title === undefined ? {} : { title }),
  };
}

/** A format whose files are ZIP archives. */
export interface PackedFormat {
  /** `Word document` */
  noun: string;
  /** `docx` */
  extension: string;
  /** The extension of its old format, e.g. `doc`. */
  old?: string;
  /** The way on for a file that is larger than a limit. */
  whenLarge?: string;
}

/** A format of office programs. */
export interface OfficeFormat extends PackedFormat {
  /** The usual name of its main part, and the name of the root element there. */
  main: string;
  element: string;
}

/** An open archive of a document. */
export interface Packed {
  archive: Archive;
  warnings: string[];
  /** Adds a warning that something is ignored, and why. */
  warn: (what: string) => (why: string) => void;
}

/** An open file of an office program. */
export interface Office extends Packed {
  /** What the whole file refers to. */
  root: Relations;
  /** Name of the main part, and its content. */
  main: string;
  content: Uint8Array;
}

// Limit for all unpacked parts together: a book of a thousand pages has about 20 MiB.
const maxUnpackedBytes = 64 * 1024 * 1024;

/** Whether a main part is that of another office format. */
function isOther(content: Uint8Array, element: string): boolean {
  // UTF-16 has zeros between ASCII characters.
  const start = Buffer.from(content.subarray(0, 4000)).toString("latin1").replaceAll("\0", "");
  const found = /<(?:[\w.-]+:)?(document|presentation|workbook)\b/.exec(start)?.[1];
  return found !== undefined && found !== element;
}

function openOffice(packed: Packed, format: OfficeFormat): Office {
  const { archive } = packed;
  const root = readRelations(archive, "");
  const main = root.parts.get("officeDocument") ?? format.main;
  const content = unpack(archive, main);
  if (!content) throw new ZipError(`it contains no ${main}: it is no ${format.noun}`);
  if (isOther(content, format.element)) throw new ZipError(`it is no ${format.noun}`);
  return { ...packed, root, main, content };
}

/** The properties of a file as front matter. */
export const frontMatterIn = (office: Office): FrontMatter | undefined =>
  frontMatterOf(
    readPart(office, office.root.parts.get("core-properties"), "properties", {}, readProperties),
  );

function fail(path: string, reason: string, hint: string, cause?: unknown): never {
  throw new CliError("usage", `${path}: ${reason}`, { hints: [hint], cause });
}

const utf16 = (text: string): Buffer => Buffer.from(text, "utf16le");

/** What is in the container of the old formats, by the names in its directory ([MS-CFB] 2.6.1). */
function refuseContainer(bytes: Uint8Array, path: string, format: PackedFormat): never {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // [MS-OFFCRYPTO] 2.3.4.4: a file with a password.
  if (buffer.includes(utf16("EncryptedPackage"))) {
    fail(
      path,
      "it is protected by a password",
      `save it without a password as .${format.extension}`,
    );
  }
  const old = format.old === undefined ? "an old format" : `the old format of .${format.old}`;
  const reason = `it is in ${old}, whatever its name is`;
  fail(path, reason, `save it as .${format.extension} in an office program`);
}

function refuseOthers(bytes: Uint8Array, path: string, format: PackedFormat): void {
  const { noun, extension } = format;
  if (bytes.length === 0) fail(path, `no ${noun}: it is empty`, "save it again, or exclude it");
  const start = Buffer.from(bytes.subarray(0, 8)).toString("latin1");
  if (start === "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") refuseContainer(bytes, path, format);
  if (!start.startsWith("PK")) {
    const text = Buffer.from(bytes.subarray(0, 1000)).toString("latin1");
    // Programs write reports as pages or CSV and give them this extension.
    const isPage = /^\S{0,3}\s*<(?:!doctype html|html|table|head|meta)/i.test(text);
    const isText = !/[\0-\x08\x0e-\x1f]/.test(text);
    if (isPage) fail(path, `no ${noun}: it is HTML`, "name it .html, or use --format html");
    if (isText && extension === "xlsx") {
      fail(path, `no ${noun}: it is text`, "if it is CSV, name it .csv, or use --format csv");
    }
    const hint = `save it as .${extension}, or exclude it`;
    fail(path, `no ${noun}: it is no ZIP archive`, hint);
  }
}

/**
 * Reads the archive of a document with `read`. Unpacks at most 64 MiB. Throws CliError `usage` with
 * `path`: for a file of another format, with a password, that is damaged, or too large.
 */
export function readPacked(
  bytes: Uint8Array,
  path: string,
  format: PackedFormat,
  read: (packed: Packed) => Parsed,
): Promise<Parsed> {
  return new Promise((done) => {
    refuseOthers(bytes, path, format);
    const warnings: string[] = [];
    const warn = (what: string) => (why: string) => {
      warnings.push(`${path}: ${what} ignored: ${cleanText(why)}`);
    };
    try {
      done(read({ archive: openArchive(bytes, maxUnpackedBytes), warnings, warn }));
    } catch (error) {
      if (error instanceof ProtectedError) {
        const hint = `save it without protection as .${format.extension}, or exclude it`;
        fail(path, error.message, hint, error);
      }
      const { whenLarge } = error instanceof LimitError ? format : {};
      const hint = whenLarge ?? "open and save it in another program, or exclude it";
      if (error instanceof ZipError) fail(path, `cannot be read: ${error.message}`, hint, error);
      if (error instanceof XmlError) {
        const reason = cleanText(error.message);
        fail(path, `cannot be read: its XML is broken or refused: ${reason}`, hint, error);
      }
      throw error;
    }
  });
}

/** Reads a file of an office program (ECMA-376 part 2) with `read`, as readPacked(). */
export const readOffice = (
  bytes: Uint8Array,
  path: string,
  format: OfficeFormat,
  read: (office: Office) => Parsed,
): Promise<Parsed> => readPacked(bytes, path, format, (packed) => read(openOffice(packed, format)));
