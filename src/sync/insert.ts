import type { Database, SqlValue, Statement } from "../database.ts";

// Many rows a statement: each call of the driver costs as much as several rows.
const rowsAtOnce = 32;

/**
 * Prepares inserting rows of `columns` values; `head` is the statement up to
 * VALUES. Returns a function that inserts any number of rows; the caller opens
 * the transaction.
 */
export function createInsert(
  database: Database,
  head: string,
  columns: number,
): (rows: readonly (readonly SqlValue[])[]) => void {
  const row = `(${Array.from({ length: columns }, () => "?").join(",")})`;
  const one = database.prepare(`${head} VALUES ${row}`);
  let many: Statement | undefined;
  return (rows) => {
    const rest = rows.length % rowsAtOnce;
    const whole = rows.length - rest;
    let values: SqlValue[] = [];
    for (let at = 0; at < whole; at++) {
      for (const value of rows[at] ?? []) values.push(value);
      if (values.length < rowsAtOnce * columns) continue;
      many ??= database.prepare(
        `${head} VALUES ${Array.from({ length: rowsAtOnce }, () => row).join(",")}`,
      );
      many.runMany(values);
      values = [];
    }
    for (let at = whole; at < rows.length; at++) one.run(...(rows[at] ?? []));
  };
}
