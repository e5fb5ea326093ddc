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
  const query = (after: string): string =>
    `SELECT ${columns} FROM ${table} WHERE ${where} ${after} ORDER BY ${names} LIMIT ${pageSize}`;
  let rows = database.prepare(query("")).all(...values);
  const next = database.prepare(query(`AND (${names}) > (${marks(keys.length)})`));
  for (;;) {
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < pageSize) return;
    rows = next.all(...values, ...keys.map((key) => last[key] ?? null));
  }
}

/** Parameters of a statement: `?, ?, ?`. */
export function marks(count: number): string {
  return Array.from({ length: count }, () => "?").join(", ");
}

/** Rows for a temporary table, which are inserted many at a time. */
export interface Rows {
  add(...row: SqlValue[]): void;
  /** Inserts what was added. Call it before the table is read. */
  flush(): void;
}

const rowsAtOnce = 512;

/** Creates empty Rows of so many columns; `head` is the statement before VALUES. */
export function createRows(database: Database, head: string, columns: number): Rows {
  const insert = database.prepare(`${head} VALUES (${marks(columns)})`);
  let rows: SqlValue[][] = [];
  const flush = (): void => {
    const added = rows;
    rows = [];
    if (added.length === 0) return;
    // A plain BEGIN: transaction() would take the write lock of the state.
    database.exec("BEGIN");
    for (const row of added) insert.run(...row);
    database.exec("COMMIT");
  };
  return {
    flush,
    add(...row) {
      if (rows.push(row) >= rowsAtOnce) flush();
    },
  };
}

/** Items in order, on disk: a run may have a million. */
export interface Log<Item> {
  add(item: Item): void;
  /** Starts at the first item in each call; includes items added meanwhile. */
  list(): Generator<Item>;
}

const charsAtOnce = 1024 * 1024;

/**
 * Creates an empty log in the temporary database of the state's connection. Items are plain data and
 * are stored as JSON. One connection has one log of each name.
 */
export function createLog<Item extends object>(database: Database, name: string): Log<Item> {
  database.exec(
    `DROP TABLE IF EXISTS temp.${name}; CREATE TEMP TABLE ${name} (number INTEGER PRIMARY KEY, item TEXT NOT NULL)`,
  );
  const rows = createRows(database, `INSERT INTO temp.${name}`, 2);
  // A few at a time: an item may be large.
  const page = database.prepare(
    `SELECT number, item FROM temp.${name} WHERE number > ? ORDER BY number LIMIT 64`,
  );
  let chars = 0;
  return {
    add(item) {
      const json = JSON.stringify(item);
      rows.add(null, json);
      chars += json.length;
      if (chars < charsAtOnce) return;
      rows.flush();
      chars = 0;
    },
    *list() {
      for (let last = 0; ;) {
        rows.flush();
        const found = page.all(last);
        if (found.length === 0) return;
        for (const row of found) {
          last = Number(row["number"]);
          yield JSON.parse(String(row["item"])) as Item;
        }
      }
    },
  };
}
