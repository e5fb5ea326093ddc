import { CliError } from "../../errors.ts";
import type { Database } from "../../database.ts";
import { createInsert } from "../state/insert.ts";

/** Finds duplicate ids in a plan without any recorded file. */
export interface PlanIds {
  add(id: string): void;
  /** The id of a document that `pending` yields from now on. */
  addPending(id: string, path: string, part: number): void;
  hasDuplicates(): boolean;
}

interface PlanIdsRequest {
  database: Database;
  /** Maps an id to the id that the service stores; undefined where it stores ids unchanged. */
  storedId: ((id: string) => string) | undefined;
  /** Prefix that turns a path into an id. */
  idPrefix: string;
  /** The documents passed to addPending() so far. */
  pending: () => Iterable<{ id: string; path: string; part: number }>;
}

const batchSize = 512;
// ASCII only: normalisation cannot make two such paths equal.
const plainPath = /^[!-~]+$/;

/**
 * Keeps only the ids, as the service would store them, in a temporary table. Plan rows would
 * cost more: in a first upload nearly all of them would exist only for this comparison.
 * Ids equal to their paths are unique, because paths are. They are kept only once another
 * kind of id appears.
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
    hasDuplicates() {
      flush();
      return Number(count.get()?.["n"]) < kept;
    },
  };
}

/** The error for duplicate ids that a second plan, made to name the files, did not find again. */
export function changedMeanwhile(): CliError {
  return new CliError("usage", "two files had the same document id; nothing was sent", {
    details: ["the files changed while knowctl read them"],
    hints: ["run again when no program writes to them"],
  });
}
