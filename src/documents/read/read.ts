import type { SourceFile } from "../find/source-file.ts";
import type { Format, Parsed, Row, TextReader } from "./reader.ts";
import type { IngestionDocument } from "../../api/schemas.ts";
import { CliError, reasonOf } from "../../errors.ts";
import { readContent } from "./content.ts";
import { decodeFile } from "./decode.ts";
import { effectiveFor } from "../map/effective.ts";
import type { Trace } from "../front-matter/fields.ts";
import { contentHash } from "./file-bytes.ts";
import { extensionOf } from "./file-name.ts";
import { withoutRestriction } from "../map/access.ts";
import type { LocalImage } from "../images/images.ts";
import { refusePointer } from "./lfs.ts";
import { mapDocument } from "../map/map-document.ts";
import { loadedTextReader, loadReader } from "./load-reader.ts";
import type { Notice } from "../map/notices.ts";
import { formatOf } from "./readers.ts";
import type { FormatName } from "./reader.ts";
import { isOwnReport } from "../find/own-report.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { trustedStamp } from "../inspect/stamp.ts";

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
    } & ReadBytes)
  | ({ kind: "skipped"; reason: string } & ReadBytes);

/** Stamp and hash of exactly the bytes that were read. */
interface ReadBytes {
  /** Stamp; "" if it cannot be trusted (see trustedStamp). */
  stamp: string;
  /** Hash, see contentHash(). */
  content: string;
}

/** One record of a row file; `line` is where it begins. */
export type RowReading = { part: number; line?: number } & (
  | Reading
  | { kind: "failed"; reason: string }
);

function formatFor(path: string, named: FormatName | undefined): Format {
  const format = formatOf(path, named);
  if (!format) {
    throw new CliError("usage", `${path}: format not supported: ${extensionOf(path)}`);
  }
  return format;
}

const ownReport = "a report of this command";

interface FileBytes extends ReadBytes {
  /** Valid until the next file is read. */
  bytes: Buffer;
  mtimeMs: number;
}

function readBytes(file: SourceFile, settings: DocumentSettings): FileBytes {
  const { bytes, stamp, mtimeMs } = readContent(file, settings.maxFileBytes);
  refusePointer(bytes, file.path);
  return {
    bytes,
    mtimeMs,
    stamp: trustedStamp(stamp, Date.now()),
    content: contentHash(bytes),
  };
}

function toReading(
  file: Pick<SourceFile, "path" | "absolutePath" | "facts"> & { row?: number },
  { stamp, content, mtimeMs }: Omit<FileBytes, "bytes">,
  parsed: Parsed,
  settings: DocumentSettings,
  trace?: Trace,
): Reading {
  const mapped = mapDocument({ ...file, mtimeMs }, parsed, settings, trace);
  if (mapped.kind === "skipped") return { ...mapped, stamp, content };
  const { document, ccPairId, images, uploads, volatile, warnings, notices } = mapped;
  // A document that depends on image files can change while its own file stays the same.
  const ownStamp = mapped.readsImages ? "" : stamp;
  const reading: Reading = {
    kind: "document",
    document,
    images,
    warnings,
    stamp: ownStamp,
    content,
  };
  if (volatile.length > 0) reading.volatile = volatile;
  if (notices) reading.notices = notices;
  if (uploads.length > 0) reading.uploads = uploads;
  if (ccPairId !== undefined) reading.ccPairId = ccPairId;
  return reading;
}

/** The reader of a text file if it is loaded. Markdown and plain text always are. */
export function textReaderFor(path: string, settings: DocumentSettings): TextReader | undefined {
  const format = formatOf(path, settings.format);
  return format && loadedTextReader(format);
}

/**
 * Reads one file of a text format whose reader is loaded. Synchronous, because small local files
 * cost less without promises.
 */
export function readDocumentSync(
  file: SourceFile,
  settings: DocumentSettings,
  trace?: Trace,
  read = loadedTextReader(formatFor(file.path, settings.format)),
): Reading {
  const { path } = file;
  if (!read) throw new Error(`the reader for ${path} is not loaded`);
  const fileBytes = readBytes(file, settings);
  const text = decodeFile(fileBytes.bytes, path, settings.maxFileBytes);
  if (isOwnReport(path, text)) {
    const { stamp, content } = fileBytes;
    return { kind: "skipped", reason: ownReport, stamp, content };
  }
  const parsed = read(text, path);
  return toReading(file, fileBytes, parsed, settings, trace);
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
    return readDocumentSync(file, settings, trace, await loadReader(format));
  }
  const read = await loadReader(format);
  const { bytes, ...rest } = readBytes(file, settings);
  // A copy: the buffer is reused for the next file.
  const parsed = await read(Uint8Array.from(bytes), path);
  return toReading(file, rest, parsed, settings, trace);
}

function readRow(
  file: SourceFile,
  row: Row,
  bytes: Omit<FileBytes, "bytes">,
  settings: DocumentSettings,
  trace?: Trace,
): RowReading {
  const { path } = file;
  const { row: part, line } = row;
  if (row.kind === "failed") return { part, kind: "failed", reason: row.reason };
  if (row.kind === "text") {
    return { part, line, ...toReading({ ...file, row: part }, bytes, row.parsed, settings, trace) };
  }
  const { stamp, content } = bytes;
  const { notices, ccPairId = effectiveFor(path, settings).ccPairId } = row;
  const document = withoutRestriction(row, `${path}:${row.line}:1`, settings.dropAccess);
  const read = { kind: "document" as const, document, images: 0, warnings: [], stamp, content };
  return { part, line, ...read, notices, ...(ccPairId === undefined ? {} : { ccPairId }) };
}

/**
 * Reads the documents of a row file, one after the other. A bad row is `failed` and the other rows
 * continue. A file without rows is `skipped` as row 1. Throws CliError `usage` when the whole file
 * cannot be read. `traceOf` returns the function that receives the origins of a row's fields.
 */
export async function* readRows(
  file: SourceFile,
  settings: DocumentSettings,
  traceOf?: (row: number) => Trace | undefined,
): AsyncGenerator<RowReading> {
  const { path } = file;
  const format = formatFor(path, settings.format);
  if (format.gives !== "rows") throw new Error(`${path} holds one document`);
  const read = await loadReader(format);
  const { bytes, ...rest } = readBytes(file, settings);
  const rowOrFailure = (row: Row): RowReading => {
    try {
      return readRow(file, row, rest, settings, traceOf?.(row.row));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { part: row.row, kind: "failed", reason: reasonOf(error) };
    }
  };
  const text = decodeFile(bytes, path, settings.maxFileBytes);
  if (isOwnReport(path, text)) {
    yield { part: 1, kind: "skipped", reason: ownReport, ...rest };
    return;
  }
  let isEmpty = true;
  for (const row of read(text, path, settings.columns)) {
    isEmpty = false;
    yield rowOrFailure(row);
  }
  // Reported as row 1, so that a later first row replaces it.
  if (isEmpty) yield { part: 1, kind: "skipped", reason: "empty: no rows", ...rest };
}
