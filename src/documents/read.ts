import type { IngestionDocument } from "../api/schemas.ts";
import { CliError } from "../errors.ts";
import { readContent } from "./content.ts";
import { decodeText } from "./decode.ts";
import type { Trace } from "./fields.ts";
import type { SourceFile } from "./find.ts";
import { mapDocument } from "./map-document.ts";
import { formatOf, readerFor } from "./readers.ts";
import type { DocumentSettings } from "./settings.ts";

export type Reading =
  | {
      kind: "document";
      document: IngestionDocument;
      /** Pair that a rule names for this file. */
      ccPairId?: number;
      /** Image references that were not uploaded. */
      images: number;
      warnings: string[];
      /** Stamp of exactly the bytes that were read. */
      stamp: string;
    }
  | { kind: "skipped"; reason: string };

/**
 * Reads one file into the document that is sent, or the reason why it is none.
 * Synchronous: small local files cost less that way. Throws CliError `usage`
 * naming the file, for bad content with line and column.
 */
export function readDocument(file: SourceFile, settings: DocumentSettings, trace?: Trace): Reading {
  const reader = readerFor(file.path);
  if (!reader) {
    throw new CliError("usage", `${file.path}: format not supported: ${formatOf(file.path)}`);
  }
  const { bytes, stamp, mtimeMs } = readContent(file, settings.maxFileBytes);
  const parsed = reader(decodeText(bytes, file.path), file.path);
  const mapped = mapDocument({ path: file.path, mtimeMs }, parsed, settings, trace);
  if (mapped.kind === "skipped") return mapped;
  const { document, ccPairId, images, warnings } = mapped;
  const reading = { kind: "document" as const, document, images, warnings, stamp };
  return ccPairId === undefined ? reading : { ...reading, ccPairId };
}
