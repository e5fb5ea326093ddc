import { CliError } from "../errors.ts";
import type { Database } from "../database.ts";
import { createInsert } from "./insert.ts";

/** The ids of a plan over files none of which is recorded yet, and whether one came twice. */
export interface PlanIds {
  add(id: string): void;
  isAnyTwice(): boolean;
}

const batchSize = 512;

/**
 * Keeps the ids, as the service would store them, in a temporary table and
 * nothing beside them: in a first upload nearly every row of the plan would be
 * there only to be compared with the others.
 */
export function createPlanIds(
  database: Database,
  storedId: (id: string) => string = (id) => id,
): PlanIds {
  database.exec(
    "DROP TABLE IF EXISTS temp.ids; CREATE TEMP TABLE ids (id TEXT PRIMARY KEY) WITHOUT ROWID;",
  );
  const insert = createInsert(database, "INSERT OR IGNORE INTO temp.ids", 1);
  const count = database.prepare("SELECT count(*) AS n FROM temp.ids");
  let added = 0;
  let batch: [string][] = [];
  const flush = (): void => {
    database.exec("BEGIN");
    insert(batch);
    database.exec("COMMIT");
    batch = [];
  };
  return {
    add(id) {
      added++;
      batch.push([storedId(id)]);
      if (batch.length >= batchSize) flush();
    },
    isAnyTwice() {
      flush();
      return Number(count.get()?.["n"]) < added;
    },
  };
}

/** For ids that were there twice, but not any more when it was looked up whose they are. */
export function changedMeanwhile(): CliError {
  return new CliError("usage", "two files gave one document id; nothing was sent", {
    details: ["the files changed while they were looked at"],
    hints: ["run again when nothing writes to them"],
  });
}
