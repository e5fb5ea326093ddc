import type { Database, SqlValue, Statement } from "../database.ts";

// Many rows a statement: each call of the driver costs as much as several rows.
const rowsAtOnce = 32;

interface InsertForm {
  /** What stands for one row, with as many marks as values. Default: the values alone. */
  row?: string;
  /** What follows the rows. */
  tail?: string;
}

/**
 * Prepares inserting rows of `columns` values; `head` is the statement up to
 * VALUES. Returns a function that inserts any number of rows; the caller opens
 * the transaction.
 */
export function createInsert(
  database: Database,
  head: string,
  columns: number,
  { row = `(${Array.from({ length: columns }, () => "?").join(",")})`, tail = "" }: InsertForm = {},
): (rows: readonly (readonly SqlValue[])[]) => void {
  const one = database.prepare(`${head} VALUES ${row} ${tail}`);
  let many: Statement | undefined;
  return (rows) => {
    const rest = rows.length % rowsAtOnce;
    const whole = rows.length - rest;
    let values: SqlValue[] = [];
    for (let at = 0; at < whole; at++) {
      for (const value of rows[at] ?? []) values.push(value);
      if (values.length < rowsAtOnce * columns) continue;
      many ??= database.prepare(
        `${head} VALUES ${Array.from({ length: rowsAtOnce }, () => row).join(",")} ${tail}`,
      );
      many.runMany(values);
      values = [];
    }
    for (let at = whole; at < rows.length; at++) one.run(...(rows[at] ?? []));
  };
}
