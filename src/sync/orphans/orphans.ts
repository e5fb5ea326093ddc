import { toOrigin, tombstoneMark, type IdOrigin } from "../state/records.ts";
import type { Database, Row } from "../../database.ts";
import { sameId } from "../plan/collisions.ts";
import type { OrphanClass, ListedClass } from "./orphan-classes.ts";
import { createIsHidden, type PlanTable } from "../plan/plan-table.ts";
import { pagesOf } from "../state/tables.ts";
import { CliError, messageOf } from "../../errors.ts";
import { isDocumentFault } from "../run/failures.ts";

/** An accepted document that the plan over the files does not yield. */
export interface Missing {
  id: string;
  path: string;
  part: number;
  storedId: string | undefined;
  /** Number of the options recorded with it, see OptionsStore. */
  options: number | undefined;
  origin: IdOrigin | undefined;
  /** The plan read its file. */
  isRead: boolean;
  /** No input found its file. */
  isUnfound: boolean;
}

/** An accepted document that the folder no longer yields, and why. */
export interface Orphan extends Pick<Missing, "id" | "path" | "part" | "storedId"> {
  class: OrphanClass;
  /** Message for people, e.g. `the file is gone`. */
  reason: string;
}

// The plan knows all ids of a file that it read. A document is no orphan when another file
// yields it, or overwrites it under the same stored id.
const query = (storesAlike: boolean): string => `
  SELECT a.id AS id, a.path AS path, a.part AS part, a.stored_id AS stored_id,
    a.options AS options, a.origin AS origin, g.path IS NOT NULL AS unfound,
    EXISTS (SELECT 1 FROM temp.plan p WHERE p.path = a.path
      AND (p.id IS NOT NULL OR p.content IS NOT NULL)) AS is_read
  FROM accepted a LEFT JOIN temp.gone g ON g.path = a.path
  WHERE a.target = ? AND a.path > '' AND a.whole <> '${tombstoneMark}'
    AND NOT EXISTS (
      SELECT 1 FROM temp.plan p WHERE p.id IS NOT NULL AND ${sameId("p.id", "a.id", storesAlike)})
    AND NOT EXISTS (SELECT 1 FROM temp.plan p WHERE p.path = a.path AND p.action = 'failed')
    AND NOT EXISTS (
      SELECT 1 FROM files f WHERE ${sameId("f.id", "a.id", storesAlike)} AND f.path <> a.path
        AND NOT EXISTS (SELECT 1 FROM temp.gone h WHERE h.path = f.path)
        AND NOT EXISTS (SELECT 1 FROM temp.plan q WHERE q.path = f.path))
  ORDER BY a.path, a.part, a.id`;

function toMissing(row: Row): Missing {
  const { stored_id: storedId, options } = row;
  return {
    id: String(row["id"]),
    path: String(row["path"]),
    part: Number(row["part"]),
    storedId: storedId === null || storedId === undefined ? undefined : String(storedId),
    options: options === null || options === undefined ? undefined : Number(options),
    origin: toOrigin(row["origin"]),
    isRead: row["is_read"] === 1,
    isUnfound: row["unfound"] === 1,
  };
}

/**
 * Lists accepted documents of a target that the plan does not yield, ordered by path. Omits
 * tombstones and documents of unreadable files. `storesAlike`: the service treats ids that
 * differ only in space and underscore as the same id (observed-service.md 3.3).
 */
export function* listMissing(
  { database }: PlanTable,
  target: string,
  storesAlike: boolean,
): Generator<Missing> {
  const isHidden = createIsHidden(database);
  for (const row of database.prepare(query(storesAlike)).iterate(target)) {
    const missing = toMissing(row);
    if (missing.isRead || !isHidden(missing.path)) yield missing;
  }
}

/** The first two are the results of `status`, before anything is removed. */
type OrphanStatus = "gone" | "extra" | "kept" | "deleted" | "tombstoned" | "failed";

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

interface RemoveRequest {
  orphans: OrphanTable;
  /** Removes one document from the service and then from the state. */
  remove: (orphan: ListedOrphan) => Promise<"deleted" | "tombstoned">;
  /** Whether the service is considered down. */
  isGivenUp: () => boolean;
  /** Maximum number of requests in flight. */
  concurrency: number;
  /** Stops starting new documents; requests in flight are awaited. */
  signal: AbortSignal;
  onDone: (status: "removed" | "failed") => void;
}

/**
 * Removes the selected orphans with bounded concurrency and marks the result of each. A failure
 * of one document does not stop the others. Any other failure stops the removal, and is thrown
 * after the requests in flight have ended.
 */
export async function removeOrphans(request: RemoveRequest): Promise<void> {
  const { orphans, signal } = request;
  const waiting = orphans.list();
  let fatal: { error: unknown } | undefined;
  const removeOne = async (orphan: ListedOrphan): Promise<void> => {
    try {
      orphans.mark(orphan.number, await request.remove(orphan));
      request.onDone("removed");
    } catch (error) {
      orphans.mark(orphan.number, "failed", messageOf(error));
      request.onDone("failed");
      const isOwnFailure =
        isDocumentFault(error) || (error instanceof CliError && error.exit === "usage");
      if (!isOwnFailure || request.isGivenUp()) fatal ??= { error };
    }
  };
  const workers = Array.from({ length: request.concurrency }, async () => {
    while (!fatal && !signal.aborted) {
      const next = waiting.next();
      if (next.done) return;
      if (next.value.isSelected) await removeOne(next.value);
    }
  });
  await Promise.all(workers);
  orphans.forgetFiles();
  signal.throwIfAborted();
  if (fatal) throw fatal.error;
}
