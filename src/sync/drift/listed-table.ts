import type { Database, SqlValue } from "../../database.ts";
import { createInsert } from "../state/insert.ts";

/** The service's lists of documents, in temporary tables on disk. All ids are stored ids. */
export interface ListedTable {
  add(pair: number, ids: readonly string[]): void;
  has(pair: number, id: string): boolean;
  /** Marks an id as known: a file yields it, or the state records it. */
  know(id: string): void;
  isKnown(id: string): boolean;
  count(pair: number): number;
  /** Listed ids of a pair that are not known, in order. */
  unknown(pair: number): Generator<string>;
}

const batchSize = 512;

/** Creates the empty tables in the connection's temporary database. */
export function createListedTable(database: Database): ListedTable {
  database.exec(`
    DROP TABLE IF EXISTS temp.listed;
    DROP TABLE IF EXISTS temp.known;
    CREATE TEMP TABLE listed (pair INTEGER, id TEXT, PRIMARY KEY (pair, id)) WITHOUT ROWID;
    CREATE TEMP TABLE known (id TEXT PRIMARY KEY) WITHOUT ROWID;`);
  const insertListed = createInsert(database, "INSERT OR IGNORE INTO temp.listed", 2);
  const insertKnown = createInsert(database, "INSERT OR IGNORE INTO temp.known", 1);
  const listed = database.prepare("SELECT 1 AS yes FROM temp.listed WHERE pair = ? AND id = ?");
  const known = database.prepare("SELECT 1 AS yes FROM temp.known WHERE id = ?");
  const counted = database.prepare("SELECT count(*) AS n FROM temp.listed WHERE pair = ?");
  const next = database.prepare(
    `SELECT id FROM temp.listed AS l WHERE pair = ? AND id > ?
      AND NOT EXISTS (SELECT 1 FROM temp.known AS k WHERE k.id = l.id) ORDER BY id LIMIT ${batchSize}`,
  );
  const inTransaction = (work: () => void): void => {
    // A plain BEGIN: transaction() would take the write lock of the state.
    database.exec("BEGIN");
    work();
    database.exec("COMMIT");
  };
  let batch: SqlValue[][] = [];
  const flush = (): void => {
    const rows = batch;
    batch = [];
    if (rows.length > 0) inTransaction(() => insertKnown(rows));
  };
  return {
    add(pair, ids) {
      inTransaction(() => insertListed(ids.map((id) => [pair, id])));
    },
    has: (pair, id) => listed.get(pair, id) !== undefined,
    know(id) {
      batch.push([id]);
      if (batch.length >= batchSize) flush();
    },
    isKnown(id) {
      flush();
      return known.get(id) !== undefined;
    },
    count: (pair) => Number(counted.get(pair)?.["n"]),
    *unknown(pair) {
      flush();
      let rows = next.all(pair, "");
      while (rows.length > 0) {
        for (const row of rows) yield String(row["id"]);
        rows = next.all(pair, String(rows.at(-1)?.["id"]));
      }
    },
  };
}
