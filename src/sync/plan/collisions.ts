import { CliError } from "../../errors.ts";
import type { Row } from "../../database.ts";
import type { PlanTable } from "./plan-table.ts";

const collisionsShown = 10;

interface PathAndId {
  /** With its row, for people. */
  path: string;
  file: string;
  isRow: boolean;
  id: string;
}

/**
 * SQL condition: two ids are the same for the service. With `storesAlike`, ids that differ only
 * in space and underscore are the same. Both forms use the index on replace().
 */
export function sameId(one: string, other: string, storesAlike: boolean): string {
  const isAlike = `replace(${one}, ' ', '_') = replace(${other}, ' ', '_')`;
  return storesAlike ? isAlike : `${isAlike} AND ${one} = ${other}`;
}

const columns = `
  a.id AS id, a.path AS path, a.part AS part, b.id AS id2, b.path AS path2, b.part AS part2`;

// Ignore collisions between two files that the run does not send.
const withinPlan = (storesAlike: boolean): string => `
  SELECT ${columns} FROM temp.plan b JOIN temp.plan a
    ON ${sameId("a.id", "b.id", storesAlike)} AND a.number < b.number
  WHERE b.id IS NOT NULL AND a.id IS NOT NULL
    AND NOT (a.action = 'unselected' AND b.action = 'unselected') ORDER BY b.number`;

// Recorded files that are neither in the plan nor gone.
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
  { path: rootPath, part }: { path: unknown; part: unknown },
  id: unknown,
  shown: Shown,
): PathAndId {
  const path = shown?.(String(rootPath)) ?? String(rootPath);
  return {
    path: part === 0 ? path : `${path} (row ${String(part)})`,
    file: path,
    isRow: part !== 0,
    id: String(id),
  };
}

function toCollision(row: Row, shown: Shown): Collision {
  return {
    first: toPlace({ path: row["path"], part: row["part"] }, row["id"], shown),
    second: toPlace({ path: row["path2"], part: row["part2"] }, row["id2"], shown),
  };
}

export interface CollisionCheck {
  /** Maps an id to the id that the service stores; undefined where it stores ids unchanged. */
  storedId?: ((id: string) => string) | undefined;
  /** Formats a root-relative path for messages. */
  shown?: ((path: string) => string) | undefined;
  /** Whether no path was named, and so all files of the project are compared. */
  readsWholeRoot?: boolean;
  /** Whether the command sends documents: then the message says that it sent none. */
  sends?: boolean;
  /** Whether a recorded file is still unchanged. */
  isCurrent: (path: string) => boolean;
}

/**
 * Throws CliError `usage` when two files yield documents that the service would store
 * as one: the later would overwrite the earlier. Both files are in the plan, or one is
 * in the plan and the other was uploaded before and still exists.
 */
export function refuseCollisions({ database }: PlanTable, check: CollisionCheck): void {
  const storesAlike = check.storedId !== undefined;
  const collisions: Collision[] = [];
  // Row by row: there may be a million collisions, and only the first ones are shown.
  const collect = (query: string, isReal: (row: Row) => boolean): void => {
    for (const row of database.prepare(query).iterate()) {
      if (collisions.length > collisionsShown) return;
      if (!isReal(row)) continue;
      const collision = toCollision(row, check.shown);
      // Ten files with one id are nine collisions, not one for each pair of them.
      if (collisions.at(-1)?.second.path !== collision.second.path) collisions.push(collision);
    }
  };
  collect(withinPlan(storesAlike), () => true);
  collect(withRecorded(storesAlike), (row) => check.isCurrent(String(row["path"])));
  refuse(collisions, check);
}

// Docusaurus, for example, has the same id in each language and version.
const otherKey =
  "if `id` names something else on your site, read ids from another key: `knowctl config set ingest.frontMatter.id document_id`";

const isFromFrontMatter = (first: PathAndId, second: PathAndId): boolean =>
  first.id === second.id && !first.isRow && !second.isRow;

const namePath =
  "no path was named, so all files of the project were compared: name the folders that you upload";

function hintsFor(
  collisions: readonly Collision[],
  { readsWholeRoot = false }: Pick<CollisionCheck, "readsWholeRoot">,
): string[] {
  const places = collisions.flatMap(({ first, second }) => [first, second]);
  return [
    ...(readsWholeRoot ? [namePath] : []),
    ...(places.some(({ isRow }) => isRow) ? ["set another id in one of the rows"] : []),
    ...(places.some(({ isRow }) => !isRow)
      ? ["set another `id` in the front matter of one file, or exclude that file"]
      : []),
    ...(collisions.some(({ first, second }) => isFromFrontMatter(first, second)) ? [otherKey] : []),
  ];
}

function refuse(
  collisions: readonly Collision[],
  check: Pick<CollisionCheck, "readsWholeRoot" | "sends">,
): void {
  if (collisions.length === 0) return;
  const more = collisions.length > collisionsShown ? ["… and more"] : [];
  const isWithinFiles = collisions.every(({ first, second }) => first.file === second.file);
  const what = isWithinFiles ? "two rows of one file" : "two files";
  const end = check.sends === true ? "; nothing was sent" : "";
  throw new CliError("usage", `${what} have the same document id${end}`, {
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
    hints: hintsFor(collisions, check),
  });
}
