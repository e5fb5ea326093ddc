import type { Database, SqlValue, Statement } from "../../database.ts";

type Row = readonly SqlValue[];

// Many rows per statement: each driver call costs as much as several rows. The remaining rows
// use statements of 16, 8, 4, 2 and 1 rows, so that 31 rows are not 31 calls.
const rowsAtOnce = 32;
// Each pattern of shared values needs its own prepared statement.
const mostSharingPatterns = 8;

interface InsertForm {
  /** SQL of one row, with one `?` per value. Default: the values alone. */
  row?: string;
  /** SQL after the rows. */
  tail?: string;
}

/**
 * Where the values of each column come from. `own`: each row has its own value. `all`: all
 * rows share one value. A number: the earlier column with the same value in each row.
 */
type Sources = readonly ("own" | "all" | number)[];

function sourcesOf(rows: readonly Row[], columns: number): Sources {
  const sources: Sources[number][] = [];
  for (let column = 0; column < columns; column++) {
    sources.push(
      isSameInAllRows(rows, column) ? "all" : (equalColumnOf(rows, column, sources) ?? "own"),
    );
  }
  return sources;
}

function isSameInAllRows(rows: readonly Row[], column: number): boolean {
  const first = rows[0]?.[column];
  for (const row of rows) if (row[column] !== first) return false;
  return true;
}

function equalColumnOf(rows: readonly Row[], column: number, sources: Sources): number | undefined {
  for (let other = 0; other < column; other++) {
    if (sources[other] === "own" && areEqualColumns(rows, column, other)) return other;
  }
  return undefined;
}

function areEqualColumns(rows: readonly Row[], column: number, other: number): boolean {
  for (const row of rows) if (row[column] !== row[other]) return false;
  return true;
}

/** SQL of all rows with numbered parameters, in the order of valuesOf(). */
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
 * Prepares inserts of rows with `columns` values; `head` is the statement before VALUES.
 * Returns a function that inserts any number of rows. The caller opens the transaction.
 * A value that all rows or two columns share is bound once: binding a value costs as much
 * as inserting it.
 */
export function createInsert(
  database: Database,
  head: string,
  columns: number,
  { row = `(${Array.from({ length: columns }, () => "?").join(",")})`, tail = "" }: InsertForm = {},
): (rows: readonly Row[]) => void {
  const nothingShared: Sources = Array.from({ length: columns }, () => "own");
  const prepared = new Map<string, Statement>();
  let sharingPatterns = 0;
  const insert = (rows: readonly Row[]): void => {
    let sources = rows.length === rowsAtOnce ? sourcesOf(rows, columns) : nothingShared;
    let key = `${rows.length} ${sources.join(" ")}`;
    const isNew = !prepared.has(key) && sources.some((source) => source !== "own");
    if (isNew && ++sharingPatterns > mostSharingPatterns) {
      sources = nothingShared;
      key = `${rows.length} ${sources.join(" ")}`;
    }
    let statement = prepared.get(key);
    if (!statement) {
      const rowsSql = numberedRows(row, rows.length, sources);
      prepared.set(key, (statement = database.prepare(`${head} VALUES ${rowsSql} ${tail}`)));
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
