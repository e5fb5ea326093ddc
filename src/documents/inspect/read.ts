import { type ValueMap, valueAt } from "../front-matter/values.ts";
import { type SourceFile, trustedStamp } from "../files/source-file.ts";
import type {
  Format,
  PageSite,
  Parsed,
  Surroundings,
  TextReader,
  FormatName,
} from "../formats/format.ts";
import type { IngestionDocument } from "../../api/schemas.ts";
import { CliError } from "../../errors.ts";
import { readContent } from "../files/bytes/content.ts";
import { decodeFile } from "../files/bytes/decode.ts";
import type { Trace } from "../front-matter/fields.ts";
import { contentHash, refusePointer } from "../files/bytes/file-bytes.ts";
import { extensionOf } from "../files/file-name.ts";
import type { LocalImage } from "../map/images/images.ts";
import { createIncludes } from "../parts/includes.ts";
import { createParts, type Parts } from "../parts/parts.ts";
import { effectiveFor } from "../map/effective.ts";
import { mapDocument } from "../map/map-document.ts";
import { configOf } from "../site/config.ts";
import { loadReader, readerAtHand } from "../formats/load-reader.ts";
import { isPageAtHand, loadPage } from "../page/at-hand.ts";
import { siteOf } from "../site/sites.ts";
import type { Notice } from "../payload/metadata.ts";
import { formatOf, orRefuse, wayOn } from "../formats/formats.ts";
import type { DocumentSettings } from "../map/settings.ts";

export type Reading =
  | ({
      kind: "document";
      document: IngestionDocument;
      /** Pair that a rule names for this file. */
      ccPairId?: number;
      /** Number of image references without a section. */
      images: number;
      /** Images with a section; see imagePlaceholder(). */
      uploads?: readonly LocalImage[];
      /** Fields that can change while the content stays the same; see buildPayload(). */
      volatile?: readonly (keyof IngestionDocument)[];
      warnings: string[];
      /** Facts that a run reports once for all documents. */
      notices?: readonly Notice[] | undefined;
    } & ReadBytes &
      ReadText)
  | ({ kind: "skipped"; reason: string } & ReadBytes & ReadText);

/** Stamp and hash of exactly the bytes that were read. */
interface ReadBytes {
  /** Stamp; "" if it cannot be trusted (see trustedStamp). */
  stamp: string;
  /** Hash, see contentHash(). */
  content: string;
  /** The other files that the document is made of, see partsText(). */
  parts?: string | undefined;
}

/** What the reader of the file found, for checks. */
interface ReadText {
  /** The text of the file; undefined for binary formats and rows. */
  source?: string | undefined;
  parsed?: Parsed | undefined;
}

/** The format of a file. Throws CliError `usage` for a file of another one. */
export function formatFor(path: string, named: FormatName | undefined): Format {
  const format = formatOf(path, named);
  if (!format) {
    const way = wayOn(path);
    throw new CliError("usage", `${path}: format not supported: ${extensionOf(path)}`, {
      hints: way === undefined ? [] : [way],
    });
  }
  return format;
}

const startLength = 1000;

/** How a report of this tool begins, by file extension. */
const reportStarts: Readonly<Record<string, RegExp>> = {
  json: /^\{\s*"version": ?\d+,\s*"(?:type": ?"ingest-report"|command": ?"(?:status"|eval |lint"|verify"))/,
  xml: /<testsuites name="knowctl /,
  html: /<meta name="generator" content="knowctl [a-z]+ report">/,
};

/** Whether a file is a report of an earlier run of any command, and so no document, by the start of its text. */
export function isOwnReport(path: string, text: string): boolean {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return reportStarts[extension]?.test(text.slice(0, startLength)) === true;
}

/** Why a report of an earlier run is skipped. */
export const ownReport = "a report of knowctl";

/** A file as it was read. */
export interface FileBytes extends ReadBytes {
  /** Valid until the next file is read. */
  bytes: Buffer;
  mtimeMs: number;
}

/** Reads the bytes of one file. Throws CliError `usage`. */
export function readBytes(file: SourceFile, settings: DocumentSettings): FileBytes {
  const { bytes, stamp, mtimeMs } = readContent(file, settings.maxFileBytes);
  refusePointer(bytes, file.path);
  return {
    bytes,
    mtimeMs,
    stamp: trustedStamp(stamp, Date.now()),
    content: contentHash(bytes),
  };
}

/** The file that a document is made of; without `absolutePath`, there is none. */
export interface MappedFile extends Pick<SourceFile, "path" | "facts"> {
  absolutePath?: string;
  row?: number;
}

/** Maps what a reader found to a document. Throws CliError `usage` for an invalid value. */
export function toReading(
  file: MappedFile,
  { stamp, content, mtimeMs }: Omit<FileBytes, "bytes">,
  parsed: Parsed,
  settings: DocumentSettings,
  trace?: Trace,
  parts?: Parts,
): Reading {
  const mapped = mapDocument({ ...file, mtimeMs }, parsed, settings, trace, parts);
  const partsRead = parts?.text();
  const read: ReadBytes = {
    stamp: partsRead === undefined || parts?.isTrusted() ? stamp : "",
    content,
    parts: partsRead,
  };
  if (mapped.kind === "skipped") return { ...mapped, ...read, parsed };
  const { document, ccPairId, images, uploads, volatile, warnings, notices } = mapped;
  const reading: Reading = {
    kind: "document",
    document,
    images,
    warnings,
    stamp: read.stamp,
    content,
    parts: partsRead,
    parsed,
  };
  if (volatile.length > 0) reading.volatile = volatile;
  if (notices) reading.notices = notices;
  if (uploads.length > 0) reading.uploads = uploads;
  if (ccPairId !== undefined) reading.ccPairId = ccPairId;
  return reading;
}

/** Whether a page may show HTML of its site's layouts: those of Hugo alone are read. */
const hasLayouts = (path: string, settings: DocumentSettings): boolean =>
  siteOf(path, settings)?.generator === "hugo";

/** The reader of a file that needs no promise. Those of Markdown and plain text do not, once all is loaded. */
export function textReaderFor(path: string, settings: DocumentSettings): TextReader | undefined {
  const format = formatOf(path, settings.format);
  if (!format || (!isPageAtHand() && hasLayouts(path, settings))) return undefined;
  return readerAtHand(format);
}

/** The site of a page for its reader. Its configuration becomes a part of the document when a value is asked for. */
function pageSite(path: string, settings: DocumentSettings, parts: Parts): PageSite | undefined {
  const { site } = effectiveFor(path, settings);
  if (!site) return undefined;
  const { generator, prefix } = site;
  const data = (): ValueMap => {
    const config = configOf(site, settings);
    for (const each of config.paths) parts.note(each);
    return config.data;
  };
  return { generator, prefix, data, value: (name) => valueAt(data(), name, generator === "hugo") };
}

/** A text file as it was read, and how its document is made. */
interface TextFile {
  text: string;
  around: Surroundings;
  /** The reading of a file that is no document. */
  skipped: Reading | undefined;
  toReading(parsed: Parsed): Reading;
}

function openText(file: SourceFile, settings: DocumentSettings, trace?: Trace): TextFile {
  const { path } = file;
  const fileBytes = readBytes(file, settings);
  const text = decodeFile(fileBytes.bytes, path, settings.maxFileBytes);
  const { stamp, content } = fileBytes;
  const parts = createParts(settings.root);
  const includes = createIncludes(settings.root, parts, settings);
  const { componentAttributes, keepsHidden, attributes } = settings;
  const site = pageSite(path, settings, parts);
  return {
    text,
    around: { includes, componentAttributes, keepsHidden, site, attributes },
    skipped: isOwnReport(path, text)
      ? { kind: "skipped", reason: ownReport, stamp, content }
      : undefined,
    toReading(parsed) {
      const reading = toReading(file, fileBytes, parsed, settings, trace, parts);
      reading.source = text;
      return reading;
    },
  };
}

/**
 * Reads one file of a text format whose reader needs no promise: small local files cost less without
 * one.
 */
export function readDocumentSync(
  file: SourceFile,
  settings: DocumentSettings,
  trace?: Trace,
  read = readerAtHand(formatFor(file.path, settings.format)),
): Reading {
  const { path } = file;
  if (!read) throw new Error(`the reader for ${path} needs a promise`);
  const opened = openText(file, settings, trace);
  return opened.skipped ?? opened.toReading(read(opened.text, path, opened.around));
}

/**
 * Reads one file. Returns the document to send, or the reason to skip it. Throws CliError `usage`
 * with the path, and for bad content with line and column.
 */
export async function readDocument(
  file: SourceFile,
  settings: DocumentSettings,
  trace?: Trace,
): Promise<Reading> {
  const { path } = file;
  const format = formatFor(path, settings.format);
  if (format.gives === "rows") {
    throw new CliError("usage", `${path}: contains many documents, not one`);
  }
  if (format.gives === "text") {
    if (hasLayouts(path, settings)) await loadPage();
    const read = await loadReader(format);
    const opened = openText(file, settings, trace);
    if (opened.skipped) return opened.skipped;
    return opened.toReading(
      await orRefuse(format, path, () => read(opened.text, path, opened.around)),
    );
  }
  const read = await loadReader(format);
  const { bytes, ...rest } = readBytes(file, settings);
  // A copy: the buffer is reused for the next file.
  const parsed = await orRefuse(format, path, () => read(Uint8Array.from(bytes), path));
  return toReading(file, rest, parsed, settings, trace, createParts(settings.root));
}

/** The text of a file, and the hash of its bytes. */
interface SourceText {
  text: string;
  content: string;
}

/**
 * Reads the text of a file with one document again, as its reader sees it. Undefined for rows, for
 * binary formats, and for a file that can no longer be read.
 */
export function readSourceText(
  file: Pick<SourceFile, "path" | "absolutePath">,
  settings: DocumentSettings,
): SourceText | undefined {
  const { path } = file;
  if (formatOf(path, settings.format)?.gives !== "text") return undefined;
  try {
    const unknown = { sizeBytes: 0, stamp: "", mtimeMs: 0 };
    const { bytes, content } = readBytes({ ...file, ...unknown }, settings);
    return { text: decodeFile(bytes, path, settings.maxFileBytes), content };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return undefined;
  }
}
