import { CliError } from "../../errors.ts";
import type { Row } from "../../database.ts";
import type { PlanEntry, PlanTable } from "./plan-table.ts";

const collisionsShown = 10;

interface PathAndId {
  /** With its row, for people. */
  path: string;
  file: string;
  isRow: boolean;
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
    AND NOT (a.action = 'unselected' AND b.action = 'unselected') ORDER BY b.number`;

// What is recorded of other files: unless they are in the plan themselves, or gone.
const withRecorded = (storesAlike: boolean): string => `
  SELECT ${columns} FROM temp.plan b JOIN files a
    ON ${sameId("a.id", "b.id", storesAlike)} AND a.path <> b.path
  WHERE b.id IS NOT NULL AND a.id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM temp.gone g WHERE g.path = a.path)
    AND NOT EXISTS (SELECT 1 FROM temp.plan q WHERE q.path = a.path)
  ORDER BY b.number`;

interface Collision {
  first: PathAndId;
  second: PathAndId;
}

type Shown = CollisionCheck["shown"];

function toPlace(
  { path: given, part }: { path: unknown; part: unknown },
  id: unknown,
  shown: Shown,
): PathAndId {
  const path = shown?.(String(given)) ?? String(given);
  return {
    path: part === 0 ? path : `${path} (row ${String(part)})`,
    file: path,
    isRow: part !== 0,
    id: String(id),
  };
}

function toPair(row: Row, shown: Shown): Collision {
  return {
    first: toPlace({ path: row["path"], part: row["part"] }, row["id"], shown),
    second: toPlace({ path: row["path2"], part: row["part2"] }, row["id2"], shown),
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
  const collisions: Collision[] = [];
  // Row by row: of a million collisions only the first are looked at.
  const take = (query: string, isReal: (row: Row) => boolean): void => {
    for (const row of database.prepare(query).iterate()) {
      if (collisions.length > collisionsShown) return;
      if (isReal(row)) collisions.push(toPair(row, check.shown));
    }
  };
  take(withinPlan(storesAlike), () => true);
  take(withRecorded(storesAlike), (row) => check.isCurrent(String(row["path"])));
  refuse(collisions);
}

/** The same for a plan in memory, with nothing recorded. */
export function refuseTwins(
  table: PlanTable,
  { storedId, shown }: Pick<CollisionCheck, "storedId" | "shown">,
): void {
  const owners = new Map<string, PlanEntry>();
  const collisions: Collision[] = [];
  for (const entry of table.entries()) {
    if (entry.id === undefined) continue;
    const key = storedId ? entry.id.replaceAll(" ", "_") : entry.id;
    const owner = owners.get(key);
    if (!owner) owners.set(key, entry);
    else if (owner.action !== "unselected" || entry.action !== "unselected") {
      const first = toPlace(owner, owner.id, shown);
      collisions.push({ first, second: toPlace(entry, entry.id, shown) });
    }
    if (collisions.length > collisionsShown) break;
  }
  refuse(collisions);
}

function hintsFor(collisions: readonly Collision[]): string[] {
  const places = collisions.flatMap(({ first, second }) => [first, second]);
  return [
    ...(places.some(({ isRow }) => isRow) ? ["give one of the rows another id"] : []),
    ...(places.some(({ isRow }) => !isRow)
      ? ["give one of the files another `id` in its front matter, or exclude it"]
      : []),
  ];
}

function refuse(collisions: readonly Collision[]): void {
  if (collisions.length === 0) return;
  const more = collisions.length > collisionsShown ? ["… and more"] : [];
  const isWithinFiles = collisions.every(({ first, second }) => first.file === second.file);
  const message = isWithinFiles
    ? "two rows of one file give one document id; nothing was sent"
    : "two files give one document id; nothing was sent";
  throw new CliError("usage", message, {
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
    hints: hintsFor(collisions),
  });
}
