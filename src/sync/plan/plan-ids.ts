import { CliError } from "../../errors.ts";
import type { Database } from "../../database.ts";
import { createInsert } from "../state/insert.ts";

/** The ids of a plan over files none of which is recorded yet, and whether one came twice. */
export interface PlanIds {
  add(id: string): void;
  /** That of a document which `pending` gives from now on. */
  addPending(id: string, path: string, part: number): void;
  isAnyTwice(): boolean;
}

interface PlanIdsRequest {
  database: Database;
  /** The id under which the service stores a document; undefined where it stores them as they are. */
  storedId: ((id: string) => string) | undefined;
  /** What a document's own path is its id with. */
  idPrefix: string;
  /** The documents of addPending() so far. */
  pending: () => Iterable<{ id: string; path: string; part: number }>;
}

const batchSize = 512;
// No two paths are one when they are normalised.
const plainPath = /^[!-~]+$/;

/**
 * Keeps the ids, as the service would store them, in a temporary table and
 * nothing beside them: in a first upload nearly every row of the plan would be
 * there only to be compared with the others. Ids that are the paths of their files
 * differ as these do: they are kept only from the first other id on.
 */
export function createPlanIds(request: PlanIdsRequest): PlanIds {
  const { database, idPrefix, storedId = (id: string) => id } = request;
  database.exec(
    "DROP TABLE IF EXISTS temp.ids; CREATE TEMP TABLE ids (id TEXT PRIMARY KEY) WITHOUT ROWID;",
  );
  const insert = createInsert(database, "INSERT OR IGNORE INTO temp.ids", 1);
  const count = database.prepare("SELECT count(*) AS n FROM temp.ids");
  let keepsAll = false;
  let kept = 0;
  let batch: [string][] = [];
  const flush = (): void => {
    database.exec("BEGIN");
    insert(batch);
    database.exec("COMMIT");
    batch = [];
  };
  const keep = (id: string): void => {
    kept++;
    batch.push([storedId(id)]);
    if (batch.length >= batchSize) flush();
  };
  const isPath = (id: string, path: string, part: number): boolean =>
    part === 0 && plainPath.test(path) && id === idPrefix + path && storedId(id) === id;
  const add = (id: string): void => {
    if (!keepsAll) {
      keepsAll = true;
      for (const each of request.pending()) {
        if (isPath(each.id, each.path, each.part)) keep(each.id);
      }
    }
    keep(id);
  };
  return {
    add,
    addPending(id, path, part) {
      if (keepsAll) keep(id);
      else if (!isPath(id, path, part)) add(id);
    },
    isAnyTwice() {
      flush();
      return Number(count.get()?.["n"]) < kept;
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
