import type { Database, SqlValue } from "../../database.ts";
import { createInsert } from "../state/insert.ts";
import { pagesOf } from "../state/pages.ts";
import type { DriftResult } from "./drift-rule.ts";
import { insertTogether } from "./listed-table.ts";

/** A document on which folder, state and service differ. */
export interface Drifted {
  result: DriftResult;
  /** The id; of an extra document, made of its stored id. */
  id: string;
  /** Path of its file, relative to the project root; undefined for a document without a known file. */
  path: string | undefined;
  /** The pair whose list was compared; for `elsewhere` the pair of the record. */
  ccPairId: number;
}

/** Differences in a temporary table: there may be one for each document. The first pair of each is kept. */
export interface DriftTable {
  add(drifted: Drifted): void;
  count(result: DriftResult): number;
  /** Differences with this result, in order of path and id. */
  list(result: DriftResult): Generator<Drifted>;
}

const batchSize = 512;

/** Creates the empty table in the connection's temporary database. */
export function createDriftTable(database: Database): DriftTable {
  database.exec(`
    DROP TABLE IF EXISTS temp.drift;
    CREATE TEMP TABLE drift (
      result TEXT, path TEXT, id TEXT, pair INTEGER, PRIMARY KEY (result, path, id)
    ) WITHOUT ROWID;`);
  const insert = createInsert(database, "INSERT OR IGNORE INTO temp.drift", 4);
  const counted = database.prepare("SELECT count(*) AS n FROM temp.drift WHERE result = ?");
  let batch: SqlValue[][] = [];
  const flush = (): void => {
    const rows = batch;
    batch = [];
    if (rows.length > 0) insertTogether(database, () => insert(rows));
  };
  return {
    add({ result, path, id, ccPairId }) {
      batch.push([result, path ?? "", id, ccPairId]);
      if (batch.length >= batchSize) flush();
    },
    count(result) {
      flush();
      return Number(counted.get(result)?.["n"]);
    },
    *list(result) {
      flush();
      const keys = ["path", "id"];
      for (const row of pagesOf(database, "temp.drift", keys, "result = ?", [result])) {
        const path = String(row["path"]);
        const ccPairId = Number(row["pair"]);
        yield { result, id: String(row["id"]), path: path === "" ? undefined : path, ccPairId };
      }
    },
  };
}
