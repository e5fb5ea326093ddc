import { tombstoneMark } from "../state/records.ts";
import type { Database, Row } from "../../database.ts";
import { pagesOf } from "../state/tables.ts";
import type { ListedClass } from "./orphan-classes.ts";
import type { Orphan } from "./orphans.ts";

/** The first two are the results of `status`, before anything is removed. */
export type OrphanStatus = "gone" | "extra" | "kept" | "deleted" | "tombstoned" | "failed";

/** An orphan, or with `--extra` a document that only the service has. */
export interface UnlistedOrphan extends Omit<Orphan, "class"> {
  class: ListedClass;
}

export interface ListedOrphan extends UnlistedOrphan {
  /** From 1, in path order. */
  number: number;
  status: OrphanStatus;
  /** Whether this command removes it. */
  isSelected: boolean;
  /** Why it could not be removed, or was kept. */
  problem: string | undefined;
}

/** Orphans in a temporary table: the state itself changes while they are removed. */
export interface OrphanTable {
  readonly count: number;
  /** Number of orphans that this command removes. */
  readonly selected: number;
  list(): Generator<ListedOrphan>;
  mark(number: number, status: OrphanStatus, problem?: string): void;
  /** Takes an orphan from those that this command removes. */
  keep(number: number, why: string): void;
  /** Deletes the file records of removed orphans that no other record needs. */
  forgetFiles(): void;
}

function toOrphan(row: Row): ListedOrphan {
  const text = (name: string): string | undefined =>
    row[name] === null ? undefined : String(row[name]);
  return {
    number: Number(row["number"]),
    id: String(row["id"]),
    path: String(row["path"]),
    part: Number(row["part"]),
    storedId: text("stored_id"),
    class: String(row["class"]) as ListedClass,
    reason: String(row["reason"]),
    isSelected: row["selected"] === 1,
    status: String(row["status"]) as OrphanStatus,
    problem: text("problem"),
  };
}

// Another target may still have a document of the file: only the file record shows it is gone.
const forgetFiles = `
  DELETE FROM main.files WHERE path IN (
    SELECT path FROM temp.orphans WHERE class IN ('gone', 'excluded') AND status IN ('deleted', 'tombstoned'))
  AND path NOT IN (
    SELECT path FROM main.accepted WHERE whole <> '${tombstoneMark}'
      AND path IN (SELECT path FROM temp.orphans))`;

/**
 * Collects orphans in the connection's temporary database. `isSelected` returns whether the
 * command removes a class.
 */
export async function collectOrphans(
  database: Database,
  orphans: AsyncIterable<UnlistedOrphan>,
  isSelected: (each: ListedClass) => boolean,
): Promise<OrphanTable> {
  database.exec(`
    DROP TABLE IF EXISTS temp.orphans;
    CREATE TEMP TABLE orphans (
      number INTEGER PRIMARY KEY, id TEXT, path TEXT, part INTEGER, stored_id TEXT,
      class TEXT, reason TEXT, selected INTEGER, status TEXT, problem TEXT);`);
  const insert = database.prepare(
    "INSERT INTO temp.orphans VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
  );
  const mark = database.prepare("UPDATE temp.orphans SET status = ?, problem = ? WHERE number = ?");
  const keep = database.prepare(
    "UPDATE temp.orphans SET selected = 0, status = 'kept', problem = ? WHERE number = ?",
  );
  let count = 0;
  let selected = 0;
  for await (const { id, path, part, storedId, class: name, reason } of orphans) {
    const isRemoved = isSelected(name);
    const status = name === "extra" ? "extra" : "gone";
    insert.run(id, path, part, storedId ?? null, name, reason, isRemoved ? 1 : 0, status);
    count++;
    if (isRemoved) selected++;
  }
  return {
    count,
    get selected() {
      return selected;
    },
    *list() {
      for (const row of pagesOf(database, "temp.orphans", ["number"])) yield toOrphan(row);
    },
    mark: (number, status, problem) => mark.run(status, problem ?? null, number),
    keep(number, why) {
      keep.run(why, number);
      selected--;
    },
    forgetFiles: () => database.transaction(() => database.exec(forgetFiles)),
  };
}

// The exact id: one file yields one document, however many records name a similar id.
const isYielded = `EXISTS (SELECT 1 FROM temp.plan p WHERE p.id IS NOT NULL
  AND replace(p.id, ' ', '_') = replace(accepted.id, ' ', '_') AND p.id = accepted.id)`;

/**
 * Counts the recorded documents of a target in scope that a file yields. Other records could never be
 * orphans of the default classes: without this, records alone would raise the limit of removals.
 */
export function countYielded(
  database: Database,
  target: string,
  isInScope: (path: string) => boolean,
): number {
  let count = 0;
  const where = `target = ? AND path IS NOT NULL AND whole <> '${tombstoneMark}' AND ${isYielded}`;
  for (const row of pagesOf(database, "accepted", ["target", "id"], where, [target])) {
    if (isInScope(String(row["path"]))) count++;
  }
  return count;
}
