import type { IngestionDocument } from "../api/schemas.ts";
import { CliError } from "../errors.ts";
import { readContent, type Content } from "./content.ts";
import { decodeFile } from "./decode.ts";
import type { Trace } from "./fields.ts";
import type { SourceFile } from "./find.ts";
import type { LocalImage } from "./images.ts";
import { mapDocument } from "./map-document.ts";
import {
  extensionOf,
  formatOf,
  loadedTextReader,
  loadReader,
  type Format,
  type Parsed,
} from "./readers.ts";
import type { DocumentSettings } from "./settings.ts";

export type Reading =
  | {
      kind: "document";
      document: IngestionDocument;
      /** Pair that a rule names for this file. */
      ccPairId?: number;
      /** Image references that no section stands for. */
      images: number;
      /** Images that sections stand for; see imagePlaceholder(). */
      uploads?: readonly LocalImage[];
      warnings: string[];
      /** Stamp of exactly the bytes that were read; "" when the document depends on images, too. */
      stamp: string;
    }
  | { kind: "skipped"; reason: string };

function formatFor(path: string): Format {
  const format = formatOf(path);
  if (!format) {
    throw new CliError("usage", `${path}: format not supported: ${extensionOf(path)}`);
  }
  return format;
}

function toReading(
  file: SourceFile,
  content: Pick<Content, "stamp" | "mtimeMs">,
  parsed: Parsed,
  settings: DocumentSettings,
  trace?: Trace,
): Reading {
  const { stamp, mtimeMs } = content;
  const { path, absolutePath } = file;
  const mapped = mapDocument({ path, mtimeMs, absolutePath }, parsed, settings, trace);
  if (mapped.kind === "skipped") return mapped;
  const { document, ccPairId, images, uploads, warnings } = mapped;
  // What depends on other files is never taken for unchanged because its own file is.
  const own = mapped.readsImages ? "" : stamp;
  const reading: Reading = { kind: "document", document, images, warnings, stamp: own };
  if (uploads.length > 0) reading.uploads = uploads;
  if (ccPairId !== undefined) reading.ccPairId = ccPairId;
  return reading;
}

/**
 * Reads one file of a text format whose reader is loaded, as those of Markdown
 * and plain text always are: small local files cost less without promises.
 */
export function readDocumentSync(
  file: SourceFile,
  settings: DocumentSettings,
  trace?: Trace,
): Reading {
  const read = loadedTextReader(formatFor(file.path));
  if (!read) throw new Error(`the reader for ${file.path} is not loaded`);
  const content = readContent(file, settings.maxFileBytes);
  const parsed = read(decodeFile(content.bytes, file.path, settings.maxFileBytes), file.path);
  return toReading(file, content, parsed, settings, trace);
}

/**
 * Reads one file into the document that is sent, or the reason why it is none.
 * Throws CliError `usage` naming the file, for bad content with line and column.
 */
export async function readDocument(
  file: SourceFile,
  settings: DocumentSettings,
  trace?: Trace,
): Promise<Reading> {
  const format = formatFor(file.path);
  if (format.gives === "rows") {
    throw new CliError("usage", `${file.path}: holds many documents, not one`);
  }
  if (format.gives === "text") {
    await loadReader(format);
    return readDocumentSync(file, settings, trace);
  }
  const read = await loadReader(format);
  const { bytes, stamp, mtimeMs } = readContent(file, settings.maxFileBytes);
  // A copy: the buffer is used again for the next file.
  const parsed = await read(Uint8Array.from(bytes), file.path);
  return toReading(file, { stamp, mtimeMs }, parsed, settings, trace);
}
