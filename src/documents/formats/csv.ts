import type { Row, RowParser, RowSource } from "./format.ts";
import { CliError, reasonOf } from "../../errors.ts";
import {
  createRecords,
  guessDelimiter,
  maxColumns,
  type Cells,
  type RecordParser,
} from "./rows/csv-records.ts";
import { createRowMapper, listColumns, type RowMapper } from "./rows/row.ts";
import { droppedKeys, type ValueMap } from "../front-matter/values.ts";

function fail(path: string, line: number, problem: string, hint: string): never {
  throw new CliError("usage", `${path}:${line}:1: ${problem}`, { hints: [hint] });
}

interface Header {
  /** The name of each column; undefined if the column is dropped. */
  names: (string | undefined)[];
  warnings: string[];
  mapper: RowMapper;
}

function readHeader({ cells, line }: Cells, path: string, mapper: RowMapper): Header {
  if (cells.length > maxColumns) {
    const hint = "remove columns, or correct the delimiter";
    fail(path, line, `more than ${maxColumns} columns`, hint);
  }
  const titles = cells.map((cell, index) => cell.trim() || `column_${index + 1}`);
  const all = new Set(titles);
  const kept = new Set<string>();
  const warnings: string[] = [];
  const names = titles.map((title) => {
    const name = mapper.nameOf(title, (other) => all.has(other));
    if (kept.has(name)) {
      fail(path, line, `two columns for ${name}`, "give each column a name of its own");
    }
    kept.add(name);
    if (!droppedKeys.has(name)) return name;
    warnings.push(`${path}:${line}: column ${name} is ignored: the name is reserved`);
    return undefined;
  });
  const [missing] = mapper.missing();
  if (missing !== undefined) {
    const hint = `columns here: ${listColumns(titles)}`;
    fail(path, line, `no column ${missing}, which --map names`, hint);
  }
  if (!names.some((name) => name !== undefined && mapper.isText(name))) {
    const hint = `name it: --map text=COLUMN; columns here: ${listColumns(titles)}`;
    fail(path, line, "no column text, body or content for the text", hint);
  }
  return { names, warnings, mapper };
}

function dataOf(cells: readonly string[], { names, mapper }: Header): ValueMap {
  const data = Object.create(null) as ValueMap;
  for (const [index, cell] of cells.entries()) {
    const name = names[index];
    // An empty cell sets no field. An empty text means that the row has no text.
    if (name !== undefined && (cell !== "" || mapper.isText(name))) data[name] = cell;
  }
  return data;
}

const separatorLine = /^"?sep=([^"\n\r])"?[ \t]*(?:\n|$)/i;

function rowOf({ cells, line, isTorn }: Cells, row: number, path: string, header: Header): Row {
  const { names, mapper, warnings } = header;
  if (isTorn) {
    const problem = "a quote opens in this row and its value goes on in the rows below";
    const reason = `${path}:${line}:1: ${problem}; write " within quotes as ""`;
    return { row, line, kind: "failed", reason };
  }
  if (cells.length !== names.length) {
    const found = `expected ${names.length} columns, found ${cells.length}`;
    const hint = "quote values that contain the delimiter or a line break";
    return { row, line, kind: "failed", reason: `${path}:${line}:1: ${found}; ${hint}` };
  }
  try {
    const parsed = mapper.toParsed(dataOf(cells, header), line);
    return { row, line, kind: "text", parsed: row === 1 ? { ...parsed, warnings } : parsed };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { row, line, kind: "failed", reason: reasonOf(error) };
  }
}

/** Skips the byte order mark and a line that names the delimiter. */
function startOf(text: string): { start: number; line: number; named: string | undefined } {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  // Excel writes and reads this line to name the delimiter.
  const separator = separatorLine.exec(text.slice(start, start + 20));
  const length = separator?.[0].length ?? 0;
  return { start: start + length, line: separator ? 2 : 1, named: separator?.[1] };
}

function createTable(source: RowSource, fixedDelimiter: string | undefined): RowParser {
  const { path, map, maxRowChars } = source;
  const mapper = createRowMapper(path, map, "column");
  let records: RecordParser | undefined;
  // The text before the first line is complete: that line decides the delimiter.
  let head = "";
  let header: Header | undefined;
  let row = 0;
  const open = (isEnd: boolean): RecordParser | undefined => {
    if (!isEnd && !head.includes("\n") && head.length < maxRowChars) return undefined;
    const { start, line, named } = startOf(head);
    const delimiter = named ?? fixedDelimiter ?? guessDelimiter(head, start, isEnd);
    if (delimiter === undefined) return undefined;
    head = head.slice(start);
    return createRecords({ path, line, delimiter, maxChars: maxRowChars });
  };
  function* read(text: string, isEnd: boolean): Generator<Row, void> {
    head += text;
    records ??= open(isEnd);
    if (!records) return;
    const piece = head;
    head = "";
    for (const record of records.push(piece, isEnd)) {
      const { cells } = record;
      // A line with only blanks.
      const isBlank = cells.length === 1 && cells[0]?.trim() === "";
      if (!header) {
        if (!isBlank) header = readHeader(record, path, mapper);
      } else if (!isBlank || header.names.length === 1) {
        row++;
        yield rowOf(record, row, path, header);
      }
    }
  }
  return { push: (text) => read(text, false), end: () => read("", true) };
}

/**
 * Reads CSV with a header line; each row is a document. The delimiter is the most frequent of `,`,
 * `;`, tab and `|` in the header, or the one in a first line `sep=;`. A row with too few or too
 * many values is a failed row, and so is one with a quote that only a row below closes. Throws
 * CliError `usage` for an invalid header, and for a quote that is never closed.
 */
export function readCsv(source: RowSource): RowParser {
  return createTable(source, undefined);
}

/** Like readCsv(), with tabs. */
export function readTsv(source: RowSource): RowParser {
  return createTable(source, "\t");
}
