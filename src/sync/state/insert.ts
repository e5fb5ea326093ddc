import type { Database, SqlValue, Statement } from "../../database.ts";

type Row = readonly SqlValue[];

// Many rows a statement: each call of the driver costs as much as several rows. What is
// left goes in halves of it, so that not even 31 rows are 31 calls.
const rowsAtOnce = 32;
// Each way of sharing values is a statement of its own.
const mostWaysOfSharing = 8;

interface InsertForm {
  /** What stands for one row, with as many marks as values. Default: the values alone. */
  row?: string;
  /** What follows the rows. */
  tail?: string;
}

/**
 * For each column where its values come from: `own` in each row, `all` when every
 * row has the same, or an earlier column that has the same in each row.
 */
type Sources = readonly ("own" | "all" | number)[];

function sourcesOf(rows: readonly Row[], columns: number): Sources {
  const sources: Sources[number][] = [];
  for (let column = 0; column < columns; column++) {
    sources.push(isAlike(rows, column) ? "all" : (twinOf(rows, column, sources) ?? "own"));
  }
  return sources;
}

function isAlike(rows: readonly Row[], column: number): boolean {
  const first = rows[0]?.[column];
  for (const row of rows) if (row[column] !== first) return false;
  return true;
}

function twinOf(rows: readonly Row[], column: number, sources: Sources): number | undefined {
  for (let other = 0; other < column; other++) {
    if (sources[other] === "own" && areTwins(rows, column, other)) return other;
  }
  return undefined;
}

function areTwins(rows: readonly Row[], column: number, other: number): boolean {
  for (const row of rows) if (row[column] !== row[other]) return false;
  return true;
}

/** The rows of a statement with numbered marks, in the order of valuesOf(). */
function numberedRows(row: string, count: number, sources: Sources): string {
  let last = 0;
  const shared = sources.map((source) => (source === "all" ? ++last : 0));
  const one = (): string => {
    const numbers: number[] = [];
    for (const [column, source] of sources.entries()) {
      if (source === "own") numbers.push(++last);
      else numbers.push((source === "all" ? shared[column] : numbers[source]) ?? 0);
    }
    let column = 0;
    return row.replaceAll("?", () => `?${numbers[column++]}`);
  };
  return Array.from({ length: count }, one).join(",");
}

function valuesOf(rows: readonly Row[], sources: Sources): SqlValue[] {
  const values: SqlValue[] = [];
  const own: number[] = [];
  for (let column = 0; column < sources.length; column++) {
    if (sources[column] === "all") values.push(rows[0]?.[column] ?? null);
    else if (sources[column] === "own") own.push(column);
  }
  for (const row of rows) for (const column of own) values.push(row[column] ?? null);
  return values;
}

/**
 * Prepares inserting rows of `columns` values; `head` is the statement up to
 * VALUES. Returns a function that inserts any number of rows; the caller opens
 * the transaction. Of many rows, what is the same in all of them or in two of
 * their columns is handed to SQLite once: that costs as much as inserting it.
 */
export function createInsert(
  database: Database,
  head: string,
  columns: number,
  { row = `(${Array.from({ length: columns }, () => "?").join(",")})`, tail = "" }: InsertForm = {},
): (rows: readonly Row[]) => void {
  const nothingShared: Sources = Array.from({ length: columns }, () => "own");
  const prepared = new Map<string, Statement>();
  let waysOfSharing = 0;
  const insert = (rows: readonly Row[]): void => {
    let sources = rows.length === rowsAtOnce ? sourcesOf(rows, columns) : nothingShared;
    let key = `${rows.length} ${sources.join(" ")}`;
    const isNew = !prepared.has(key) && sources.some((source) => source !== "own");
    if (isNew && ++waysOfSharing > mostWaysOfSharing) {
      sources = nothingShared;
      key = `${rows.length} ${sources.join(" ")}`;
    }
    let statement = prepared.get(key);
    if (!statement) {
      const marked = numberedRows(row, rows.length, sources);
      prepared.set(key, (statement = database.prepare(`${head} VALUES ${marked} ${tail}`)));
    }
    statement.runMany(valuesOf(rows, sources));
  };
  return (rows) => {
    let at = 0;
    for (let count = rowsAtOnce; count >= 1; count /= 2) {
      for (; rows.length - at >= count; at += count) insert(rows.slice(at, at + count));
    }
  };
}
