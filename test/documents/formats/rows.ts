import type { Row, RowReader } from "../../../src/documents/formats/format.ts";
import type { IngestionDocument } from "../../../src/api/schemas.ts";
import { readRow, type RowReading } from "../../../src/documents/inspect/read-rows.ts";
import { parseColumnMap } from "../../../src/documents/formats/rows.ts";
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

/** What a row becomes: a document, or why there is none. */
function readingOf(row: Row, { path = "data", settings }: RowOptions): RowReading {
  const bytes = { stamp: "", content: "", mtimeMs: 0 };
  return readRow(
    { path, facts: undefined },
    row,
    bytes,
    compileSettings({ root: "/", ...settings }),
  );
}

/** The rows as they are sent: a document, or why there is none. */
export function documentsOf(
  read: RowReader,
  text: string,
  options: RowOptions = {},
): (Partial<IngestionDocument> | string)[] {
  return rowsOf(read, text, options).map((row) => {
    const reading = readingOf(row, options);
    if (reading.kind === "document") return reading.document;
    return reading.kind === "failed" ? reading.reason : `skipped: ${reading.reason}`;
  });
}

/** Line and text of each row; what is wrong with it. */
export function textsOf(read: RowReader, text: string, options: RowOptions = {}): string[] {
  return rowsOf(read, text, options).map((row) => {
    const reading = row.kind === "json" ? readingOf(row, options) : row;
    const what = row.kind === "text" ? JSON.stringify(row.parsed.body) : reading.kind;
    return `${row.row} line ${row.line}: ${reading.kind === "failed" ? reading.reason : what}`;
  });
}
