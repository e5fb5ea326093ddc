import type { Database } from "../../database.ts";

/** Items in order, on disk: a run may have a million. */
export interface Log<Item> {
  add(item: Item): void;
  /** Starts at the first item in each call; includes items added meanwhile. */
  list(): Generator<Item>;
}

const batchSize = 128;
const batchChars = 1024 * 1024;
const pageSize = 64;

/**
 * Creates an empty log in the temporary database of the state's connection. Items are plain data and
 * are stored as JSON. One connection has one log of each name.
 */
export function createLog<Item extends object>(database: Database, name: string): Log<Item> {
  database.exec(
    `DROP TABLE IF EXISTS temp.${name}; CREATE TEMP TABLE ${name} (number INTEGER PRIMARY KEY, item TEXT NOT NULL)`,
  );
  const insert = database.prepare(`INSERT INTO temp.${name} (item) VALUES (?)`);
  const page = database.prepare(
    `SELECT number, item FROM temp.${name} WHERE number > ? ORDER BY number LIMIT ${pageSize}`,
  );
  let batch: string[] = [];
  let chars = 0;
  const flush = (): void => {
    if (batch.length === 0) return;
    const items = batch;
    batch = [];
    chars = 0;
    // A plain BEGIN: transaction() would take the write lock of the state.
    database.exec("BEGIN");
    for (const item of items) insert.run(item);
    database.exec("COMMIT");
  };
  return {
    add(item) {
      const json = JSON.stringify(item);
      chars += json.length;
      if (batch.push(json) >= batchSize || chars >= batchChars) flush();
    },
    *list() {
      // In pages: the same connection may write between them.
      for (let last = 0; ;) {
        flush();
        const rows = page.all(last);
        if (rows.length === 0) return;
        for (const row of rows) {
          last = Number(row["number"]);
          yield JSON.parse(String(row["item"])) as Item;
        }
      }
    },
  };
}
