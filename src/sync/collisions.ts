import { CliError } from "../errors.ts";
import type { Row } from "../database.ts";
import type { PlanTable } from "./plan-table.ts";

const collisionsShown = 10;
const candidatesRead = 10_000;

interface PathAndId {
  path: string;
  id: string;
}

// "a b" and "a_b" may be stored as one: candidates are found by that, then compared exactly.
const withinPlan = `
  SELECT a.id AS id, a.path AS path, a.part AS part, b.id AS id2, b.path AS path2, b.part AS part2
  FROM temp.plan b JOIN temp.plan a
    ON replace(a.id, ' ', '_') = replace(b.id, ' ', '_') AND a.number < b.number
  WHERE b.id IS NOT NULL AND a.id IS NOT NULL ORDER BY b.number LIMIT ${candidatesRead}`;

// What is recorded of other files: unless they are in the plan themselves, or gone.
const withRecorded = `
  SELECT f.id AS id, f.path AS path, f.part AS part, p.id AS id2, p.path AS path2, p.part AS part2
  FROM temp.plan p JOIN files f
    ON replace(f.id, ' ', '_') = replace(p.id, ' ', '_') AND f.path <> p.path
  WHERE p.id IS NOT NULL AND f.id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM temp.gone g WHERE g.path = f.path)
    AND NOT EXISTS (SELECT 1 FROM temp.plan q WHERE q.path = f.path)
  ORDER BY p.number LIMIT ${candidatesRead}`;

function toPair(row: Row): { first: PathAndId; second: PathAndId } {
  const place = (path: unknown, part: unknown): string =>
    part === 0 ? String(path) : `${String(path)} (row ${String(part)})`;
  return {
    first: { path: place(row["path"], row["part"]), id: String(row["id"]) },
    second: { path: place(row["path2"], row["part2"]), id: String(row["id2"]) },
  };
}

export interface CollisionCheck {
  /** The id under which the service stores a document; undefined where it stores them as they are. */
  storedId?: ((id: string) => string) | undefined;
  /** Whether a recorded file still is as it was recorded. */
  isCurrent: (path: string) => boolean;
}

/**
 * Throws CliError `usage` when two files of the plan, or one of the plan and
 * one that was uploaded before and still is there, give documents that the
 * service would store as one: the later would overwrite the earlier.
 */
export function refuseCollisions(
  { database }: PlanTable,
  { storedId = (id) => id, isCurrent }: CollisionCheck,
): void {
  const isOne = ({ first, second }: ReturnType<typeof toPair>): boolean =>
    storedId(first.id) === storedId(second.id);
  const collisions = [
    ...database.prepare(withinPlan).all().map(toPair).filter(isOne),
    ...database
      .prepare(withRecorded)
      .all()
      .filter((row) => isCurrent(String(row["path"])))
      .map(toPair)
      .filter(isOne),
  ];
  if (collisions.length === 0) return;
  const more = collisions.length > collisionsShown ? ["… and more"] : [];
  throw new CliError("usage", "two files give one document id; nothing was sent", {
    details: [
      ...collisions
        .slice(0, collisionsShown)
        .map(({ first, second }) =>
          first.id === second.id
            ? `${first.id}: ${first.path} and ${second.path}`
            : `${first.path} and ${second.path}: the service stores "${first.id}" and "${second.id}" as one`,
        ),
      ...more,
    ],
    hints: ["give one of them another `id` in its front matter, or exclude it"],
  });
}
