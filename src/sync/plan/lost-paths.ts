import type { Database } from "../../database.ts";
import { pagesOf } from "../state/pages.ts";

/** Paths of the recorded files in order, each once; without files those of accepted documents. */
function* recordedPaths(database: Database): Generator<string> {
  // From one path to the next: a file of rows has a million records.
  const next = database.prepare("SELECT min(path) AS path FROM files WHERE path > ?");
  let last = "";
  for (;;) {
    const path = next.get(last)?.["path"];
    if (typeof path !== "string") break;
    yield (last = path);
  }
  if (last !== "") return;
  for (const { path } of pagesOf(database, "accepted", ["target", "id"], "path > ''")) {
    yield String(path);
  }
}

/**
 * The first recorded path where none of the recorded paths exists; undefined where one does, or
 * where none is recorded. Most states are answered by their first path.
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
