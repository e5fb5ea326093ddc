import { type SourceFile, trustedStamp } from "../files/source-file.ts";
import type { Row, RowParser } from "../formats/format.ts";
import { CliError, reasonOf } from "../../errors.ts";
import { decodeFile, decodeStream } from "../files/bytes/decode.ts";
import { effectiveFor } from "../map/effective.ts";
import type { Trace } from "../front-matter/fields.ts";
import { isLarger, openFileStream } from "../files/bytes/content.ts";
import { isOverLimit } from "../files/bytes/unpack.ts";
import { withoutRestriction } from "../payload/access.ts";
import { parseJsonDocument } from "../payload/json-document.ts";
import { loadReader } from "../formats/load-reader.ts";
import {
  formatFor,
  ownReport,
  readBytes,
  toReading,
  type FileBytes,
  type MappedFile,
  type Reading,
  isOwnReport,
} from "./read.ts";
import type { DocumentSettings } from "../map/settings.ts";

/** One record of a row file; `line` is where it begins. */
export type RowReading = { part: number; line?: number } & (
  | Reading
  | { kind: "failed"; reason: string }
);

type RowBytes = Omit<FileBytes, "bytes">;

function mapRow(
  file: MappedFile,
  row: Row,
  bytes: RowBytes,
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
  const given = parseJsonDocument(row.value, row.where);
  const { notices, ccPairId = effectiveFor(path, settings).ccPairId } = given;
  const document = withoutRestriction(given, `${path}:${row.line}:1`, settings.dropAccess);
  const read = { kind: "document" as const, document, images: 0, warnings: [], stamp, content };
  return { part, line, ...read, notices, ...(ccPairId === undefined ? {} : { ccPairId }) };
}

/** Maps one row to a document. A row that cannot be mapped is `failed`. */
export function readRow(
  file: MappedFile,
  row: Row,
  bytes: RowBytes,
  settings: DocumentSettings,
  trace?: Trace,
): RowReading {
  try {
    return mapRow(file, row, bytes, settings, trace);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { part: row.row, kind: "failed", reason: reasonOf(error) };
  }
}

/** The text of a row file. */
interface RowText {
  bytes: RowBytes;
  /** The whole text; undefined where it is larger than the limit for one file. */
  whole: string | undefined;
  /** The text of a larger file. */
  pieces: AsyncIterable<string>;
  close(): void;
}

async function openStream(file: SourceFile): Promise<RowText> {
  const stream = await openFileStream(file);
  const { content, mtimeMs } = stream;
  const stamp = trustedStamp(stream.stamp, Date.now());
  return {
    bytes: { stamp, content, mtimeMs },
    whole: undefined,
    pieces: decodeStream(stream.chunks(), file.path),
    close: () => stream.close(),
  };
}

async function openText(file: SourceFile, settings: DocumentSettings): Promise<RowText> {
  const { maxFileBytes } = settings;
  if (isLarger(file, maxFileBytes)) return await openStream(file);
  const { bytes, ...rest } = readBytes(file, settings);
  try {
    const whole = decodeFile(bytes, file.path, maxFileBytes);
    const pieces = (async function* () {
      yield whole;
    })();
    return { bytes: rest, whole, pieces, close: () => {} };
  } catch (error) {
    if (!isOverLimit(error)) throw error;
    return await openStream(file);
  }
}

/** The rows of each piece: one promise per piece, not per row. Undefined for an own report. */
async function* rowsIn(
  { whole, pieces }: RowText,
  path: string,
  parser: RowParser,
): AsyncGenerator<Iterable<Row> | undefined, void> {
  let isFirst = true;
  for await (const piece of pieces) {
    if (isFirst && isOwnReport(path, piece)) {
      yield undefined;
      return;
    }
    if (isFirst && whole !== undefined) parser.check?.(whole);
    isFirst = false;
    yield parser.push(piece);
  }
  yield parser.end();
}

/**
 * Reads the documents of a row file of any size, one after the other. A bad row is `failed` and the
 * other rows continue. A file without rows is `skipped` as row 1. Throws CliError `usage` when the
 * file cannot be read, or not to its end: the rows before stay valid. `traceOf` returns the function
 * that receives the origins of a row's fields.
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
  const text = await openText(file, settings);
  try {
    const parser = read({ path, map: settings.columns, maxRowChars: settings.maxFileBytes });
    let isEmpty = true;
    for await (const rows of rowsIn(text, path, parser)) {
      if (!rows) {
        yield { part: 1, kind: "skipped", reason: ownReport, ...text.bytes };
        return;
      }
      for (const row of rows) {
        isEmpty = false;
        yield readRow(file, row, text.bytes, settings, traceOf?.(row.row));
      }
    }
    // Reported as row 1, so that a later first row replaces it.
    if (isEmpty) yield { part: 1, kind: "skipped", reason: "empty: no rows", ...text.bytes };
  } finally {
    text.close();
  }
}
