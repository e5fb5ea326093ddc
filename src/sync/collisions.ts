import { CliError } from "../errors.ts";
import type { Row } from "../database.ts";
import type { PlanTable } from "./plan-table.ts";

const collisionsShown = 10;

interface PathAndId {
  path: string;
  id: string;
}

/**
 * SQL for whether two ids are one to the service. Where it stores ids that differ in space
 * and underscore as one (`storesAlike`), by that alone; in either case by the index on it.
 */
export function sameId(one: string, other: string, storesAlike: boolean): string {
  const isAlike = `replace(${one}, ' ', '_') = replace(${other}, ' ', '_')`;
  return storesAlike ? isAlike : `${isAlike} AND ${one} = ${other}`;
}

const columns = `
  a.id AS id, a.path AS path, a.part AS part, b.id AS id2, b.path AS path2, b.part AS part2`;

// Two that the run leaves alone are not its concern.
const withinPlan = (storesAlike: boolean): string => `
  SELECT ${columns} FROM temp.plan b JOIN temp.plan a
    ON ${sameId("a.id", "b.id", storesAlike)} AND a.number < b.number
  WHERE b.id IS NOT NULL AND a.id IS NOT NULL
    AND NOT (a.action = 'untaken' AND b.action = 'untaken') ORDER BY b.number`;

// What is recorded of other files: unless they are in the plan themselves, or gone.
const withRecorded = (storesAlike: boolean): string => `
  SELECT ${columns} FROM temp.plan b JOIN files a
    ON ${sameId("a.id", "b.id", storesAlike)} AND a.path <> b.path
  WHERE b.id IS NOT NULL AND a.id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM temp.gone g WHERE g.path = a.path)
    AND NOT EXISTS (SELECT 1 FROM temp.plan q WHERE q.path = a.path)
  ORDER BY b.number`;

function toPair(row: Row, shown: CollisionCheck["shown"]): { first: PathAndId; second: PathAndId } {
  const place = (given: unknown, part: unknown): string => {
    const path = shown?.(String(given)) ?? String(given);
    return part === 0 ? path : `${path} (row ${String(part)})`;
  };
  return {
    first: { path: place(row["path"], row["part"]), id: String(row["id"]) },
    second: { path: place(row["path2"], row["part2"]), id: String(row["id2"]) },
  };
}

export interface CollisionCheck {
  /** The id under which the service stores a document; undefined where it stores them as they are. */
  storedId?: ((id: string) => string) | undefined;
  /** A root-relative path as people read it. */
  shown?: ((path: string) => string) | undefined;
  /** Whether a recorded file still is as it was recorded. */
  isCurrent: (path: string) => boolean;
}

/**
 * Throws CliError `usage` when two files of the plan, or one of the plan and
 * one that was uploaded before and still is there, give documents that the
 * service would store as one: the later would overwrite the earlier.
 */
export function refuseCollisions({ database }: PlanTable, check: CollisionCheck): void {
  const storesAlike = check.storedId !== undefined;
  const collisions: ReturnType<typeof toPair>[] = [];
  // Row by row: of a million collisions only the first are looked at.
  const take = (query: string, isReal: (row: Row) => boolean): void => {
    for (const row of database.prepare(query).iterate()) {
      if (collisions.length > collisionsShown) return;
      if (isReal(row)) collisions.push(toPair(row, check.shown));
    }
  };
  take(withinPlan(storesAlike), () => true);
  take(withRecorded(storesAlike), (row) => check.isCurrent(String(row["path"])));
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
