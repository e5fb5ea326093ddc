import type { Database } from "../../database.ts";
import { createRows, marks } from "../state/tables.ts";

/** The service's lists of documents, in temporary tables on disk. All ids are stored ids. */
export interface ListedTable {
  add(pair: number, ids: readonly string[]): void;
  has(pair: number, id: string): boolean;
  /** Marks an id as known: a file yields it, or the state records it. */
  know(id: string): void;
  isKnown(id: string): boolean;
  /** Counts the documents that any of the pairs has. */
  count(pairs: readonly number[]): number;
  /** Listed ids of a pair that are not known, in order. */
  unknown(pair: number): Generator<string>;
}

const idsAtOnce = 512;

const tables = `
  DROP TABLE IF EXISTS temp.listed;
  DROP TABLE IF EXISTS temp.known;
  CREATE TEMP TABLE listed (pair INTEGER, id TEXT);
  CREATE TEMP TABLE known (id TEXT PRIMARY KEY) WITHOUT ROWID;`;

// Lists come in no order: to keep an index up to date would cost more with each document.
const createIndex = "CREATE INDEX IF NOT EXISTS temp.listed_id ON listed (pair, id)";
const dropIndex = "DROP INDEX IF EXISTS temp.listed_id";

/** Creates the empty tables in the connection's temporary database. */
export function createListedTable(database: Database): ListedTable {
  database.exec(tables);
  const listedRows = createRows(database, "INSERT INTO temp.listed", 2);
  const knownRows = createRows(database, "INSERT OR IGNORE INTO temp.known", 1);
  const listed = database.prepare("SELECT 1 AS yes FROM temp.listed WHERE pair = ? AND id = ?");
  const known = database.prepare("SELECT 1 AS yes FROM temp.known WHERE id = ?");
  const next = database.prepare(
    `SELECT DISTINCT id FROM temp.listed AS l WHERE pair = ? AND id > ?
      AND NOT EXISTS (SELECT 1 FROM temp.known AS k WHERE k.id = l.id) ORDER BY id LIMIT ${idsAtOnce}`,
  );
  let isIndexed = false;
  const setIndexed = (wanted: boolean): void => {
    if (wanted) listedRows.flush();
    if (isIndexed !== wanted) database.exec(wanted ? createIndex : dropIndex);
    isIndexed = wanted;
  };
  return {
    add(pair, ids) {
      setIndexed(false);
      for (const id of ids) listedRows.add(pair, id);
    },
    has(pair, id) {
      setIndexed(true);
      return listed.get(pair, id) !== undefined;
    },
    know(id) {
      knownRows.add(id);
    },
    isKnown(id) {
      knownRows.flush();
      return known.get(id) !== undefined;
    },
    count(pairs) {
      setIndexed(true);
      const counted = database.prepare(
        `SELECT count(DISTINCT id) AS n FROM temp.listed WHERE pair IN (${marks(pairs.length)})`,
      );
      return Number(counted.get(...pairs)?.["n"]);
    },
    *unknown(pair) {
      knownRows.flush();
      setIndexed(true);
      for (let last: string | undefined = ""; last !== undefined;) {
        const ids: string[] = next.all(pair, last).map((row) => String(row["id"]));
        yield* ids;
        last = ids.at(-1);
      }
    },
  };
}
