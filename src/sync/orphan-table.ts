import type { Database, Row } from "../database.ts";
import { pagesOf } from "./pages.ts";
import { tombstoneMark, type Orphan } from "./orphans.ts";

export type OrphanStatus = "orphaned" | "deleted" | "tombstoned" | "failed";

export interface ListedOrphan extends Orphan {
  /** From 1, in order of the path. */
  number: number;
  status: OrphanStatus;
  /** Why it could not be removed. */
  problem: string | undefined;
}

/** Orphans on disk beside the state: the state changes while they are removed. */
export interface OrphanTable {
  readonly count: number;
  list(): Generator<ListedOrphan>;
  mark(number: number, status: OrphanStatus, problem?: string): void;
  /** Forgets the files of removed orphans that no other record needs. */
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
    isGone: row["gone"] === 1,
    status: String(row["status"]) as OrphanStatus,
    problem: text("problem"),
  };
}

// Another target may still hold a document of the file, and then needs to know that it is gone.
const forgetFiles = `
  DELETE FROM main.files WHERE path IN (
    SELECT path FROM temp.orphans WHERE gone = 1 AND status IN ('deleted', 'tombstoned'))
  AND path NOT IN (
    SELECT path FROM main.accepted WHERE whole <> '${tombstoneMark}'
      AND path IN (SELECT path FROM temp.orphans))`;

/** Collects orphans in the connection's temporary database. */
export function collectOrphans(database: Database, orphans: Iterable<Orphan>): OrphanTable {
  database.exec(`
    DROP TABLE IF EXISTS temp.orphans;
    CREATE TEMP TABLE orphans (
      number INTEGER PRIMARY KEY, id TEXT, path TEXT, part INTEGER, stored_id TEXT, gone INTEGER,
      status TEXT, problem TEXT);`);
  const insert = database.prepare(
    "INSERT INTO temp.orphans VALUES (NULL, ?, ?, ?, ?, ?, 'orphaned', NULL)",
  );
  const mark = database.prepare("UPDATE temp.orphans SET status = ?, problem = ? WHERE number = ?");
  let count = 0;
  for (const { id, path, part, storedId, isGone } of orphans) {
    insert.run(id, path, part, storedId ?? null, isGone ? 1 : 0);
    count++;
  }
  return {
    count,
    *list() {
      for (const row of pagesOf(database, "temp.orphans", ["number"])) yield toOrphan(row);
    },
    mark: (number, status, problem) => mark.run(status, problem ?? null, number),
    forgetFiles: () => database.transaction(() => database.exec(forgetFiles)),
  };
}

/** How many documents of a target lie in scope; removal notices are not counted. */
export function countAccepted(
  database: Database,
  target: string,
  isInScope: (path: string) => boolean,
): number {
  let count = 0;
  const where = `target = ? AND path IS NOT NULL AND whole <> '${tombstoneMark}'`;
  for (const row of pagesOf(database, "accepted", ["target", "id"], where, [target])) {
    if (isInScope(String(row["path"]))) count++;
  }
  return count;
}

const targetsListed = 10;

/** Keys of the targets that accepted anything: the first ten. */
export function listTargets(database: Database): string[] {
  // From one to the next: a scan of a million records would look at each.
  const next = database.prepare("SELECT min(target) AS target FROM accepted WHERE target > ?");
  const all: string[] = [];
  while (all.length < targetsListed) {
    const target = next.get(all.at(-1) ?? "")?.["target"];
    if (typeof target !== "string") break;
    all.push(target);
  }
  return all;
}
