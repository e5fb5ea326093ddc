import { toOrigin, tombstoneMark, type IdOrigin } from "../state/records.ts";
import type { Database, Row } from "../../database.ts";
import { sameId } from "../plan/collisions.ts";
import type { OrphanClass } from "./orphan-classes.ts";
import type { PlanTable } from "../plan/plan-table.ts";

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

/** Whether a folder above a path could not be read, so that its contents are unknown. */
function createIsHidden(database: Database): (path: string) => boolean {
  const failed = database.prepare(
    "SELECT 1 AS yes FROM temp.plan WHERE path = ? AND action = 'failed' LIMIT 1",
  );
  return (path) => {
    if (failed.get(".")) return true;
    for (let end = path.indexOf("/"); end !== -1; end = path.indexOf("/", end + 1)) {
      if (failed.get(path.slice(0, end))) return true;
    }
    return false;
  };
}

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
