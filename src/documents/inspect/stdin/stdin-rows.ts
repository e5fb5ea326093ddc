import type { FormatName, Row } from "../../formats/format.ts";
import { CliError, reasonOf } from "../../../errors.ts";
import { decodeStream } from "../../files/bytes/decode.ts";
import { loadReader } from "../../formats/load-reader.ts";
import { refuseMissing, rowOfJson } from "../../formats/json.ts";
import { type DocumentSettings, settingsOfRow } from "../../map/settings.ts";
import { formats } from "../../formats/formats.ts";
import { createRowMapper } from "../../formats/rows.ts";
import { readRow } from "../read-rows.ts";
import { idIn } from "../../payload/json-document.ts";
import { prepareLines, stdinName } from "./lines.ts";
import { textOf } from "../../front-matter/values.ts";
import { toPrepared, type PayloadSetup } from "../inspect.ts";
import type { Prepared } from "../inspection.ts";
import { withoutFile } from "./whole-text.ts";

/** Formats with rows, by their names in `--format`. */
export type RowFormat = {
  [Name in FormatName]: (typeof formats)[Name]["gives"] extends "rows" ? Name : never;
}[FormatName];

/** Whether files of the format contain rows. */
export function isRowFormat(name: FormatName): name is RowFormat {
  return formats[name].gives === "rows";
}

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
  const where = `${stdinName}:${line}:1`;
  const failed = (reason: string, id?: string): Prepared => ({
    kind: "failed",
    path: "",
    part: line,
    id,
    reason,
  });
  const rowId = row.kind === "text" ? idOf(row, settings) : undefined;
  if (row.kind === "text" && rowId === undefined) {
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

/** NDJSON, line by line: bytes that are no text fail their own line only. */
async function* prepareLineRows(
  chunks: AsyncIterable<Uint8Array>,
  settings: DocumentSettings,
  setup: PayloadSetup,
): AsyncGenerator<Prepared[], void> {
  const mapper = createRowMapper(stdinName, settings.columns, "member");
  let hasRows = false;
  yield* prepareLines(chunks, setup, (text, line) => {
    const row = rowOfJson(text, { path: stdinName, row: line, line, column: 1 }, mapper);
    hasRows ||= row.kind === "text";
    return prepareRow(row, settings, setup);
  });
  if (hasRows) refuseMissing(stdinName, mapper);
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
 * Reads the rows of a stream (UTF-8 or UTF-16, also packed with gzip) like those of a file, but
 * without rules by path; each needs an id. Yields rows as they arrive and holds one at most. A bad
 * row is `failed` and the others continue; a fault of the stream itself is `failed` as the last.
 * `path` is always ""; `part` is the line on which the row begins.
 */
export async function* prepareRows(
  chunks: AsyncIterable<Uint8Array>,
  format: RowFormat,
  runSettings: DocumentSettings,
  setup: PayloadSetup,
): AsyncGenerator<Prepared[], void> {
  const settings = withoutFile(runSettings);
  try {
    if (format === "ndjson") yield* prepareLineRows(chunks, settings, setup);
    else yield* prepareParsed(chunks, format, settings, setup);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    yield [{ kind: "failed", path: "", part: 0, reason: reasonOf(error) }];
  }
}
