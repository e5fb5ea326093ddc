import { CsvError, parse } from "csv-parse/sync";
import { CliError } from "../../errors.ts";

/** One record of a CSV file. */
export interface Cells {
  cells: string[];
  /** Line of the file on which the record begins. */
  line: number;
}

const windowChars = 256 * 1024;
/** With more columns, the file is no table, or the delimiter is wrong. */
export const maxColumns = 10_000;

/** The most frequent delimiter in the first line, outside quotes; by default a comma. */
export function guessDelimiter(text: string, start: number): string {
  const counts = new Map([",", ";", "\t", "|"].map((each) => [each, 0]));
  let isQuoted = false;
  for (let at = start; at < text.length && (isQuoted || text[at] !== "\n"); at++) {
    const character = text[at] ?? "";
    const count = counts.get(character);
    if (character === '"') isQuoted = !isQuoted;
    else if (count !== undefined && !isQuoted) counts.set(character, count + 1);
  }
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

function fail(message: string, hint: string): never {
  throw new CliError("usage", message, { hints: [hint] });
}

/**
 * Yields all records from `start`. Parses piece by piece, so that only few records are in memory.
 * Throws CliError `usage` for a quote that is never closed, and for a row of megabytes with too
 * many columns.
 */
export function* recordsOf(
  text: string,
  path: string,
  { start, line: firstLine, delimiter }: { start: number; line: number; delimiter: string },
): Generator<Cells, void> {
  let line = firstLine;
  let size = windowChars;
  for (let at = start; at < text.length;) {
    const cut = at + size < text.length ? text.lastIndexOf("\n", at + size - 1) + 1 : text.length;
    const end = cut > at ? cut : text.indexOf("\n", at) + 1 || text.length;
    const bytes = Buffer.from(text.slice(at, end));
    const { records, isTooWide } = parseLines(bytes, delimiter);
    let done = 0;
    for (const { cells, end: recordEnd } of records) {
      for (; bytes[done] === newline; done++) line++;
      yield { cells, line };
      for (; done < recordEnd; done++) if (bytes[done] === newline) line++;
    }
    for (; bytes[done] === newline; done++) line++;
    if (done === bytes.length) {
      at = end;
      size = windowChars;
    } else if (isTooWide) {
      fail(
        `${path}:${line}:1: more than ${maxColumns} columns`,
        "correct the row or the delimiter",
      );
    } else if (end === text.length) {
      const problem = "a quote opens in this row and is never closed";
      fail(`${path}:${line}:1: ${problem}`, 'write " within quotes as ""');
    } else {
      // A value is longer than the window: double the window.
      size = records.length > 0 ? windowChars : (end - at) * 2;
      at += bytes.toString("utf8", 0, done).length;
    }
  }
}
