import type { Database } from "../../database.ts";
import { pagesOf } from "../state/tables.ts";

/** Distinct paths of the recorded files in order; without files, paths of accepted documents. */
function* recordedPaths(database: Database): Generator<string> {
  // Seek from one path to the next: a file of rows may have a million records.
  const next = database.prepare("SELECT min(path) AS path FROM files WHERE path > ?");
  let last = "";
  for (;;) {
    const path = next.get(last)?.["path"];
    if (typeof path !== "string") break;
    yield (last = path);
  }
  if (last !== "") return;
  for (const { path } of pagesOf(database, "accepted", ["target", "path", "id"], "path > ''")) {
    yield String(path);
  }
}

/**
 * Returns the first recorded path when no recorded path exists. Returns undefined when one
 * exists or none is recorded. In most states the first path already decides.
 */
export function findLostPath(
  database: Database,
  exists: (path: string) => boolean,
): string | undefined {
  let first: string | undefined;
  for (const path of recordedPaths(database)) {
    if (exists(path)) return undefined;
    first ??= path;
  }
  return first;
}
