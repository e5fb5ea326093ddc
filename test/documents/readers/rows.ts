import type { Row, RowReader } from "../../../src/documents/read/reader.ts";
import type { IngestionDocument } from "../../../src/api/schemas.ts";
import { mapDocument } from "../../../src/documents/map/map-document.ts";
import { parseColumnMap } from "../../../src/documents/read/rows/row-keys.ts";
import { compileSettings, type RawSettings } from "../../../src/documents/map/settings.ts";

export interface RowOptions {
  map?: string;
  path?: string;
  maxRowChars?: number;
  settings?: Omit<RawSettings, "root">;
}

/** Gives a reader the whole text, as for a file that fits in memory. */
export function* rowsIn(
  read: RowReader,
  text: string,
  options: RowOptions = {},
): Generator<Row, void> {
  const map = options.map === undefined ? undefined : parseColumnMap(options.map);
  const maxRowChars = options.maxRowChars ?? 64 * 1024 * 1024;
  const parser = read({ path: options.path ?? "data", map, maxRowChars });
  parser.check?.(text);
  yield* parser.push(text);
  yield* parser.end();
}

/** All rows that a reader gives. */
export function rowsOf(read: RowReader, text: string, options: RowOptions = {}): Row[] {
  return [...rowsIn(read, text, options)];
}

/** The rows of a text that arrives in pieces. */
export function* rowsOfPieces(
  read: RowReader,
  pieces: Iterable<string>,
  maxRowChars = 64 * 1024 * 1024,
): Generator<Row, void> {
  const parser = read({ path: "data", map: undefined, maxRowChars });
  for (const piece of pieces) yield* parser.push(piece);
  yield* parser.end();
}

/** The rows as they are sent: a document, or why there is none. */
export function documentsOf(
  read: RowReader,
  text: string,
  options: RowOptions = {},
): (Partial<IngestionDocument> | string)[] {
  const settings = compileSettings({ root: "/", ...options.settings });
  return rowsOf(read, text, options).map((row) => {
    if (row.kind === "failed") return row.reason;
    if (row.kind === "document") return row.document;
    const file = { path: options.path ?? "data", mtimeMs: 0 };
    const mapped = mapDocument(file, row.parsed, settings);
    return mapped.kind === "skipped" ? `skipped: ${mapped.reason}` : mapped.document;
  });
}

/** Line and text of each row; what is wrong with it. */
export function textsOf(read: RowReader, text: string, options: RowOptions = {}): string[] {
  return rowsOf(read, text, options).map((row) => {
    const what = row.kind === "text" ? JSON.stringify(row.parsed.body) : row.kind;
    return `${row.row} line ${row.line}: ${row.kind === "failed" ? row.reason : what}`;
  });
}
