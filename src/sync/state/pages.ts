import type { Database, Row, SqlValue } from "../../database.ts";

const pageSize = 1024;

/**
 * Yields the rows of a table in the order of `keys`, its unique columns. Reads in pages, so
 * that memory stays constant and the same connection may write between two pages. `where`
 * is a condition on the row with its `values`. `columns` contain the keys.
 */
export function* pagesOf(
  database: Database,
  table: string,
  keys: readonly string[],
  where = "TRUE",
  values: readonly SqlValue[] = [],
  columns = "*",
): Generator<Row> {
  const names = keys.join(", ");
  const marks = keys.map(() => "?").join(", ");
  const query = (after: string): string =>
    `SELECT ${columns} FROM ${table} WHERE ${where} ${after} ORDER BY ${names} LIMIT ${pageSize}`;
  let rows = database.prepare(query("")).all(...values);
  const next = database.prepare(query(`AND (${names}) > (${marks})`));
  for (;;) {
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < pageSize) return;
    rows = next.all(...values, ...keys.map((key) => last[key] ?? null));
  }
}
