import type { Database } from "../database.ts";
import { sameId } from "./collisions.ts";
import type { PlanTable } from "./plan-table.ts";

/** What the record of a removal notice has for its hash: no document's hash looks like this. */
export const tombstoneMark = "removed";

/** An accepted document that its file, once looked at, does not give any more. */
export interface Orphan {
  id: string;
  path: string;
  part: number;
  storedId: string | undefined;
  /** The file is not there any more; else it is, and gives other documents or none. */
  isGone: boolean;
}

export interface OrphanSearch {
  /** Key of the target. */
  target: string;
  /** The service stores ids that differ in space and underscore as one (observed-service.md 3.3). */
  storesAlike: boolean;
  /** Whether a file of this path is there, though no input took it. */
  exists: (path: string) => boolean;
}

// Of a file in the plan, the plan knows all ids, unless it was not or could not
// be read; a file that is not in the plan is unchanged, unless it is gone. What another
// file gives, or overwrites under the same stored id, is no orphan.
const query = (storesAlike: boolean): string => `
  SELECT a.id AS id, a.path AS path, a.part AS part, a.stored_id AS stored_id,
    g.path IS NOT NULL AS gone
  FROM accepted a LEFT JOIN temp.gone g ON g.path = a.path
  WHERE a.target = ? AND a.path IS NOT NULL AND a.whole <> '${tombstoneMark}'
    AND NOT EXISTS (
      SELECT 1 FROM temp.plan p WHERE p.id IS NOT NULL AND ${sameId("p.id", "a.id", storesAlike)})
    AND (g.path IS NOT NULL OR (
      EXISTS (SELECT 1 FROM temp.plan p WHERE p.path = a.path
        AND (p.id IS NOT NULL OR p.content IS NOT NULL))
      AND NOT EXISTS (SELECT 1 FROM temp.plan p WHERE p.path = a.path AND p.action = 'failed')))
    AND NOT EXISTS (
      SELECT 1 FROM files f WHERE ${sameId("f.id", "a.id", storesAlike)} AND f.path <> a.path
        AND NOT EXISTS (SELECT 1 FROM temp.gone h WHERE h.path = f.path)
        AND NOT EXISTS (SELECT 1 FROM temp.plan q WHERE q.path = f.path))
  ORDER BY a.path, a.part, a.id`;

/** Whether a folder above a path could not be read: then nobody knows what is in it. */
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

/** Why a document counts as orphaned; `isThere`: it was not removed or replaced since. */
export function orphanReason({ isGone }: Pick<Orphan, "isGone">, isThere = true): string {
  const why = isGone ? "the file is gone" : "the file gives it no more";
  return isThere ? `${why}; the document is still there` : why;
}

/**
 * Accepted documents of a target that no file gives any more, after a plan over
 * their paths: the file is gone, or it gives another document, or none. Removal
 * notices are not among them.
 */
export function* listOrphans({ database }: PlanTable, search: OrphanSearch): Generator<Orphan> {
  const isHidden = createIsHidden(database);
  for (const row of database.prepare(query(search.storesAlike)).iterate(search.target)) {
    const [path, isGone] = [String(row["path"]), row["gone"] === 1];
    // A file that is there but ignored, or of a format that must be named, is not gone.
    if (isGone && (search.exists(path) || isHidden(path))) continue;
    const storedId = row["stored_id"] === null ? undefined : String(row["stored_id"]);
    yield { id: String(row["id"]), path, part: Number(row["part"]), storedId, isGone };
  }
}
