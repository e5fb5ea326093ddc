import { CliError, reasonOf } from "../../../errors.ts";
import { createByteLines, type ByteLine } from "../../files/bytes/byte-lines.ts";
import { decodeStream, decodeText } from "../../files/bytes/decode.ts";
import { recodeStream, unpackStream } from "../../files/bytes/unpack.ts";
import type { FormatName, Row } from "../../formats/format.ts";
import { formats } from "../../formats/formats.ts";
import { refuseMissing, rowOfJson } from "../../formats/json.ts";
import { loadReader } from "../../formats/load-reader.ts";
import { createRowMapper } from "../../formats/rows.ts";
import { textOf } from "../../front-matter/values.ts";
import { settingsOfRow, type DocumentSettings } from "../../map/settings.ts";
import { idIn } from "../../payload/json-document.ts";
import { toPrepared, type PayloadSetup } from "../inspect.ts";
import type { Prepared } from "../inspection.ts";
import { readRow } from "../read-rows.ts";
import { stdinName, withoutFile } from "./whole-text.ts";

/** Formats with rows, by their names in `--format`. */
export type RowFormat = {
  [Name in FormatName]: (typeof formats)[Name]["gives"] extends "rows" ? Name : never;
}[FormatName];

/** Whether files of the format contain rows. */
export function isRowFormat(name: FormatName): name is RowFormat {
  return formats[name].gives === "rows";
}

// The same limit as for a file.
const maxLineBytes = 64 * 1024 * 1024;
const rowsPerBatch = 64;
const noBytes = { stamp: "", content: "", mtimeMs: 0 };

/** The id of a row, which stdin must name: without a file, a number alone would name nothing. */
function idOf(row: Row & { kind: "text" }, settings: DocumentSettings): string | undefined {
  const { frontMatter, rowKeys } = row.parsed;
  const { id } = rowKeys ? settingsOfRow(settings, rowKeys).keys : settings.keys;
  const texts = id.map((key) => textOf(frontMatter?.data[key])?.trim());
  return texts.find((text) => text !== undefined && text !== "");
}

/** Maps one row of stdin. `part` is its line. */
function prepareRow(row: Row, settings: DocumentSettings, setup: PayloadSetup): Prepared {
  const { line } = row;
  const failed = (reason: string, id?: string): Prepared => {
    return { kind: "failed", path: "", part: line, id, reason };
  };
  const rowId = row.kind === "text" ? idOf(row, settings) : undefined;
  if (row.kind === "text" && rowId === undefined) {
    const where = `${stdinName}:${line}:1`;
    return failed(`${where}: a row from stdin needs an id; name its column: --map id=COLUMN`);
  }
  const id = row.kind === "json" ? idIn(row.value) : rowId;
  const reading = readRow({ path: stdinName, facts: undefined }, row, noBytes, settings);
  if (reading.kind === "failed") return failed(reading.reason, id);
  const prepared = toPrepared("", line, reading, setup);
  return prepared.kind === "failed" ? { ...prepared, id } : prepared;
}

function* batchesOf(
  rows: Iterable<Row>,
  settings: DocumentSettings,
  setup: PayloadSetup,
): Generator<Prepared[], void> {
  let batch: Prepared[] = [];
  let fault: unknown;
  try {
    for (const row of rows) {
      batch.push(prepareRow(row, settings, setup));
      if (batch.length < rowsPerBatch) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    fault = error;
  }
  // The rows before a fault are sent.
  if (batch.length > 0) yield batch;
  if (fault !== undefined) throw fault;
}

const isBlank = (bytes: Buffer): boolean =>
  bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));

/** The row in a line; bytes that are no text fail their own line only. */
function rowOfLine({ line, bytes }: ByteLine, toRow: (text: string, line: number) => Row): Row {
  const where = `${stdinName}:${line}:1`;
  try {
    if (bytes) return toRow(decodeText(bytes, where), line);
    const reason = `${where}: the line is longer than 64 MiB; write one document per line, or split the document`;
    return { row: line, line, kind: "failed", reason };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { row: line, line, kind: "failed", reason: reasonOf(error) };
  }
}

/**
 * The documents of NDJSON, line by line: a line is sent as soon as it arrives, and blank lines are
 * skipped. Without `hasRows`, each line is a document.
 */
async function* prepareLines(
  chunks: AsyncIterable<Uint8Array>,
  settings: DocumentSettings,
  setup: PayloadSetup,
  hasRows: boolean,
): AsyncGenerator<Prepared[], void> {
  const mapper = hasRows ? createRowMapper(stdinName, settings.columns, "member") : undefined;
  let isMapped = false;
  const toRow = (text: string, line: number): Row => {
    const row = rowOfJson(text, { path: stdinName, row: line, line, column: 1 }, mapper);
    isMapped ||= row.kind === "text";
    return row;
  };
  const lines = createByteLines(maxLineBytes);
  function* rowsIn(found: readonly ByteLine[]): Generator<Row, void> {
    for (const line of found) {
      if (!line.bytes || !isBlank(line.bytes)) yield rowOfLine(line, toRow);
    }
  }
  for await (const chunk of recodeStream(unpackStream(chunks, stdinName), stdinName)) {
    yield* batchesOf(rowsIn(lines.push(chunk)), settings, setup);
  }
  yield* batchesOf(rowsIn(lines.end()), settings, setup);
  if (mapper && isMapped) refuseMissing(stdinName, mapper);
}

async function* prepareParsed(
  chunks: AsyncIterable<Uint8Array>,
  format: RowFormat,
  settings: DocumentSettings,
  setup: PayloadSetup,
): AsyncGenerator<Prepared[], void> {
  const { columns: map, maxFileBytes: maxRowChars } = settings;
  const parser = (await loadReader(formats[format]))({ path: stdinName, map, maxRowChars });
  for await (const piece of decodeStream(chunks, stdinName)) {
    yield* batchesOf(parser.push(piece), settings, setup);
  }
  yield* batchesOf(parser.end(), settings, setup);
}

/**
 * Reads the documents of a stream (UTF-8 or UTF-16, also packed with gzip): of `documents`, each line
 * is an IngestionDocument or `{document, cc_pair_id}`; rows are read like those of a file, but
 * without rules by path, and each needs an id. Yields documents as they arrive and holds one row at
 * most. A bad row is `failed` with `stdin:line:column` and the others continue; a fault of the stream
 * itself is `failed` as the last. `path` is always ""; `part` is the line on which the row begins.
 */
export async function* prepareRows(
  chunks: AsyncIterable<Uint8Array>,
  format: RowFormat | "documents",
  runSettings: DocumentSettings,
  setup: PayloadSetup,
): AsyncGenerator<Prepared[], void> {
  const settings = withoutFile(runSettings);
  try {
    if (format === "documents" || format === "ndjson") {
      yield* prepareLines(chunks, settings, setup, format === "ndjson");
    } else yield* prepareParsed(chunks, format, settings, setup);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    yield [{ kind: "failed", path: "", part: 0, reason: reasonOf(error) }];
  }
}
