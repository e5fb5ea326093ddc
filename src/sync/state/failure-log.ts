import type { Database } from "../../database.ts";

/** Failures in order, on disk: a run may have a million failures. */
export interface FailureLog<Failure> {
  add(failure: Failure): void;
  /** Starts at the first failure in each call; includes failures added meanwhile. */
  list(): Generator<Failure>;
}

const batchSize = 128;
const pageSize = 256;

/**
 * Creates an empty log in the temporary database of the state's connection. Failures are
 * plain data and are stored as JSON.
 */
export function createFailureLog<Failure extends object>(database: Database): FailureLog<Failure> {
  database.exec(
    "DROP TABLE IF EXISTS temp.failed; CREATE TEMP TABLE failed (number INTEGER PRIMARY KEY, record TEXT NOT NULL)",
  );
  const insert = database.prepare("INSERT INTO temp.failed (record) VALUES (?)");
  const page = database.prepare(
    `SELECT number, record FROM temp.failed WHERE number > ? ORDER BY number LIMIT ${pageSize}`,
  );
  let batch: string[] = [];
  const flush = (): void => {
    if (batch.length === 0) return;
    const records = batch;
    batch = [];
    // A plain BEGIN: transaction() would take the write lock of the state.
    database.exec("BEGIN");
    for (const record of records) insert.run(record);
    database.exec("COMMIT");
  };
  return {
    add(failure) {
      batch.push(JSON.stringify(failure));
      if (batch.length >= batchSize) flush();
    },
    *list() {
      // In pages: the same connection may write between them.
      for (let last = 0; ;) {
        flush();
        const rows = page.all(last);
        if (rows.length === 0) return;
        for (const row of rows) {
          last = Number(row["number"]);
          yield JSON.parse(String(row["record"])) as Failure;
        }
      }
    },
  };
}
