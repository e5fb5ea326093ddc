import type { PlanTable } from "./plan-table.ts";

/** An accepted document that its file, once looked at, does not give any more. */
export interface Orphan {
  id: string;
  path: string | undefined;
  storedId: string | undefined;
  reason: string;
}

// Of a file in the plan, the plan knows all ids, unless it could not be read; a
// file that is not in the plan is unchanged, unless it is gone.
const query = `
  SELECT a.id AS id, a.path AS path, a.stored_id AS stored_id, g.path IS NOT NULL AS gone
  FROM accepted a LEFT JOIN temp.gone g ON g.path = a.path
  WHERE a.target = ? AND a.path IS NOT NULL
    AND NOT EXISTS (
      SELECT 1 FROM temp.plan p WHERE p.id IS NOT NULL
        AND replace(p.id, ' ', '_') = replace(a.id, ' ', '_') AND p.id = a.id)
    AND (g.path IS NOT NULL OR (
      EXISTS (SELECT 1 FROM temp.plan p WHERE p.path = a.path)
      AND NOT EXISTS (SELECT 1 FROM temp.plan p WHERE p.path = a.path AND p.action = 'failed')))
    AND NOT EXISTS (
      SELECT 1 FROM files f WHERE replace(f.id, ' ', '_') = replace(a.id, ' ', '_')
        AND f.id = a.id AND f.path <> a.path
        AND NOT EXISTS (SELECT 1 FROM temp.gone h WHERE h.path = f.path)
        AND NOT EXISTS (SELECT 1 FROM temp.plan q WHERE q.path = f.path))
  ORDER BY a.path, a.part, a.id`;

/**
 * Accepted documents of a target that no file gives any more, after a plan over
 * their paths: the file is gone, or it gives another document, or none.
 */
export function* listOrphans({ database }: PlanTable, target: string): Generator<Orphan> {
  for (const row of database.prepare(query).iterate(target)) {
    const text = (name: string): string | undefined =>
      row[name] === null ? undefined : String(row[name]);
    yield {
      id: String(row["id"]),
      path: text("path"),
      storedId: text("stored_id"),
      reason:
        row["gone"] === 1
          ? "the file is gone; the document is still there"
          : "the file gives it no more; the document is still there",
    };
  }
}
