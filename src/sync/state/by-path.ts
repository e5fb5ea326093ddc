import type { Database } from "../../database.ts";
import { tombstoneMark } from "./records.ts";

// SQLite would choose the primary key, and read every document of the target for each path.
const accepted = "accepted INDEXED BY accepted_path";

/** Returns a function that finds the number of the last options of a file, of documents and failures. */
export function createLastOptions(
  database: Database,
): (target: string, path: string) => { number: number; atMs: number } | undefined {
  const last = database.prepare(
    `SELECT options, at FROM (
       SELECT options, sent_at AS at FROM ${accepted} WHERE target = ?1 AND path = ?2
       UNION ALL SELECT options, failed_at FROM failures WHERE target = ?1 AND path = ?2)
     WHERE options IS NOT NULL ORDER BY at DESC LIMIT 1`,
  );
  return (target, path) => {
    const row = last.get(target, path);
    return row && { number: Number(row["options"]), atMs: Number(row["at"]) };
  };
}

/** A part of a file, and its id. */
interface Part {
  path: string;
  part: number;
  id: string;
}

/** Returns a function that finds a recorded document of a part of a file that has another id. */
export function createOtherIds(
  database: Database,
): (target: string, part: Part) => { id: string; options: number | undefined } | undefined {
  const other = database.prepare(
    `SELECT id, options FROM ${accepted}
      WHERE target = ? AND path = ? AND part = ? AND id <> ? AND whole <> '${tombstoneMark}' LIMIT 1`,
  );
  return (target, { path, part, id }) => {
    const row = other.get(target, path, part, id);
    if (!row) return undefined;
    const options = row["options"] === null ? undefined : Number(row["options"]);
    return { id: String(row["id"]), options };
  };
}

/** Returns a function that lists the ids of the documents of a file that the service has. */
export function createIdsOfPath(database: Database): (target: string, path: string) => string[] {
  const sent = database.prepare(
    `SELECT id FROM ${accepted} WHERE target = ? AND path = ? AND whole <> '${tombstoneMark}'`,
  );
  return (target, path) => sent.all(target, path).map((row) => String(row["id"]));
}

/** Returns a function that checks whether a path, or one below it, is recorded. */
export function createHasPath(database: Database): (target: string, path: string) => boolean {
  // "0" follows "/": the range holds every path below the folder.
  const recorded = database.prepare(
    `SELECT 1 AS yes FROM ${accepted}
      WHERE target = ?1 AND (path = ?2 OR (path > ?2 || '/' AND path < ?2 || '0')) LIMIT 1`,
  );
  return (target, path) => recorded.get(target, path) !== undefined;
}
