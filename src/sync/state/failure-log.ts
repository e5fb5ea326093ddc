import type { Database } from "../../database.ts";

/** Records of one kind in the order they came, on disk: a run may have a million failures. */
export interface FailureLog<Failure> {
  add(failure: Failure): void;
  /** From the first at each call; what is added meanwhile comes too. */
  list(): Generator<Failure>;
}

const batchSize = 128;
const pageSize = 256;

/**
 * Makes an empty log in the temporary database of the state's connection. A
 * failure is plain data and comes back as JSON keeps it.
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
    // Not a transaction of the state: its lock is for those who write it.
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
