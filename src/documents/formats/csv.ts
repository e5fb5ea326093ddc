import { CsvError, parse } from "csv-parse/sync";
import { CliError, reasonOf } from "../../errors.ts";
import { mebibytes } from "../files/bytes/unpack.ts";
import type { Row, RowParser, RowSource } from "./format.ts";
import { createRowMapper, listColumns, type RowMapper } from "./rows.ts";
import { droppedKeys, type ValueMap } from "../front-matter/values.ts";

/** One record of a CSV file. */
export interface Cells {
  cells: string[];
  /** Line of the file on which the record begins. */
  line: number;
  /** Whether a quote opens a value and text follows the next one: the value took rows below. */
  isTorn: boolean;
}

const windowChars = 256 * 1024;
/** With more columns, the file is no table, or the delimiter is wrong. */
export const maxColumns = 10_000;

/**
 * The most frequent delimiter in the first line, outside quotes; by default a comma. Undefined
 * where the text ends before that line does.
 */
export function guessDelimiter(text: string, start: number, isEnd: boolean): string | undefined {
  const counts = new Map([",", ";", "\t", "|"].map((each) => [each, 0]));
  let isQuoted = false;
  let at = start;
  for (; at < text.length && (isQuoted || text[at] !== "\n"); at++) {
    const character = text[at] ?? "";
    const count = counts.get(character);
    if (character === '"') isQuoted = !isQuoted;
    else if (count !== undefined && !isQuoted) counts.set(character, count + 1);
  }
  // A quote that is never closed must not hold back the whole file.
  if (at === text.length && at - start < windowChars && !isEnd) return undefined;
  return [...counts].reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}

const tooWide = new Error("too many columns");

function refuseWide(cell: string, { index }: { index: number }): string {
  if (index > maxColumns) throw tooWide;
  return cell;
}

interface Parse {
  records: { cells: string[]; end: number }[];
  /** Whether the next record has too many columns. */
  isTooWide: boolean;
}

/** Parses complete lines, up to a record whose quote they do not close. */
function parseLines(bytes: Buffer, delimiter: string): Parse {
  const records: Parse["records"] = [];
  // A line of megabytes may be one value or millions of values, which would use all memory.
  const counted = bytes.length > 4 * windowChars && { cast: refuseWide };
  try {
    parse(bytes, {
      delimiter,
      record_delimiter: "\n",
      // Quotes that do not enclose a value are text: `5" pipe`.
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      ...counted,
      on_record: (cells: string[], { bytes: end }) => {
        records.push({ cells, end });
        return null;
      },
    });
  } catch (error) {
    if (error === tooWide) return { records, isTooWide: true };
    if (!(error instanceof CsvError) || error.code !== "CSV_QUOTE_NOT_CLOSED") throw error;
  }
  return { records, isTooWide: false };
}

const newline = 10;

/**
 * Whether a value of several lines begins with the quote that opened it. The parser keeps such a
 * quote as text, as in `"Hotel" Ritz`. Where it is text of the value, it stands there doubled.
 */
function isTorn(cells: readonly string[], bytes: Buffer, start: number, end: number): boolean {
  return cells.some((cell) => {
    if (!cell.startsWith('"') || !cell.includes("\n")) return false;
    const head = /^"[^"\n]*/.exec(cell)?.[0] ?? "";
    return !bytes.subarray(start, end).includes(`""${head}`);
  });
}

function failRecord(message: string, hint: string): never {
  throw new CliError("usage", message, { hints: [hint] });
}

/** Where and how the records of a file begin. */
export interface RecordsOptions {
  path: string;
  /** Line of the first record. */
  line: number;
  delimiter: string;
  /** A longer record fails the file. */
  maxChars: number;
}

/** Splits a text into records, piece by piece; holds only the record that is not complete. */
export interface RecordParser {
  /** The records that are complete with this piece. `isEnd`: no further piece follows. */
  push(text: string, isEnd: boolean): Generator<Cells, void>;
}

/**
 * Creates a RecordParser, which throws CliError `usage` for a quote that is never closed, and for a
 * row of megabytes with too many columns. csv-parse has a stream of its own; windows of whole lines
 * through its synchronous parser tell the line and the end of each record, and cost no event each.
 */
export function createRecords(options: RecordsOptions): RecordParser {
  const { path, delimiter } = options;
  const maxChars = Math.max(options.maxChars, windowChars);
  let { line } = options;
  let text = "";
  // The window grows over a value that is longer. `needed` characters must be there to try again.
  let size = windowChars;
  let needed = 0;

  /** End of the complete lines of a window; 0 where no line ends yet. */
  const windowEnd = (at: number, isEnd: boolean): number => {
    if (isEnd && at + size >= text.length) return text.length;
    const cut = text.lastIndexOf("\n", at + size - 1) + 1;
    return cut > at ? cut : text.indexOf("\n", at) + 1 || (isEnd ? text.length : 0);
  };
  /** After a window without a whole record; `length` is all that there is from its start. */
  const grow = (length: number): void => {
    if (Math.min(size, length) >= maxChars) {
      const problem = `the row has no end within ${mebibytes(maxChars)}`;
      failRecord(`${path}:${line}:1: ${problem}`, 'close its quote; write " within quotes as ""');
    }
    if (length > size) size = Math.min(size * 2, maxChars);
    else {
      // A short text is parsed again as soon as more arrives: a slow pipe must not wait.
      needed = length < windowChars ? length + 1 : Math.min(length * 2, maxChars);
      size = Math.max(needed, windowChars);
    }
  };
  function* linesOf(bytes: Buffer, { records }: Parse): Generator<Cells, number> {
    let done = 0;
    for (const { cells, end } of records) {
      for (; bytes[done] === newline; done++) line++;
      yield { cells, line, isTorn: isTorn(cells, bytes, done, end) };
      for (; done < end; done++) if (bytes[done] === newline) line++;
    }
    for (; bytes[done] === newline; done++) line++;
    return done;
  }
  return {
    *push(piece, isEnd) {
      text = text === "" ? piece : text + piece;
      let at = 0;
      while (at < text.length && (isEnd || text.length - at >= needed)) {
        const end = windowEnd(at, isEnd);
        if (end === 0) {
          grow(text.length - at);
          continue;
        }
        const bytes = Buffer.from(text.slice(at, end));
        const parsed = parseLines(bytes, delimiter);
        const done = yield* linesOf(bytes, parsed);
        if (done === bytes.length) {
          at = end;
          size = windowChars;
          needed = 0;
        } else if (parsed.isTooWide) {
          const problem = `more than ${maxColumns} columns`;
          failRecord(`${path}:${line}:1: ${problem}`, "correct the row or the delimiter");
        } else if (isEnd && end === text.length) {
          const problem = "a quote opens in this row and is never closed";
          failRecord(`${path}:${line}:1: ${problem}`, 'write " within quotes as ""');
        } else if (parsed.records.length > 0) {
          at += bytes.toString("utf8", 0, done).length;
          size = windowChars;
          needed = 0;
        } else {
          // Blank lines before the record.
          at += bytes.toString("utf8", 0, done).length;
          grow(text.length - at);
        }
      }
      text = text.slice(at);
    },
  };
}

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
