import { join } from "node:path";
import { openForReading, type Database } from "../../database.ts";
import type { OwnerRules } from "../../ownership.ts";
import { hasState } from "../state/state-file.ts";
import { serviceTargets } from "../state/target.ts";

export interface LocalFileSearch {
  /** Origin and path prefix of the service, as in the keys of the targets. */
  baseUrl: string;
  /** Ids as the service gives them. */
  ids: readonly string[];
  /** How the service writes an id down, where it changes ids. */
  storedId?: ((id: string) => string) | undefined;
  /** Whose state counts. */
  owner: OwnerRules;
}

/** The same id without the encoding that a service stores it with; itself where it has none. */
function decodedId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

function readPaths(database: Database, search: LocalFileSearch): Map<string, string> {
  const targets = serviceTargets(database, search.baseUrl);
  // Uses the index files_id; the stored id has "_" where the own one has spaces.
  const byId = database.prepare(
    "SELECT id, path FROM files WHERE id IS NOT NULL AND replace(id, ' ', '_') = ?",
  );
  const wasSent = database.prepare("SELECT 1 AS yes FROM accepted WHERE target = ? AND id = ?");
  const paths = new Map<string, string>();
  for (const stored of search.ids) {
    for (const given of new Set([stored, decodedId(stored)])) {
      for (const row of byId.all(given.replaceAll(" ", "_"))) {
        const id = String(row["id"]);
        // Where the rule is not known, differing by encoding alone is being the same.
        const isSame = id === stored || !search.storedId || search.storedId(id) === stored;
        if (isSame && targets.some((target) => wasSent.get(target, id))) {
          paths.set(stored, String(row["path"]));
        }
      }
    }
  }
  return paths;
}

/**
 * Which documents of a service came from local files, by the id that the service
 * gives: paths relative to the project root, as the state in `folder` has them.
 * Only reads, makes nothing, and finds nothing where there is no state or it
 * cannot be read: this only adds to what is known otherwise.
 */
export async function findLocalFiles(
  folder: string,
  search: LocalFileSearch,
): Promise<Map<string, string>> {
  let database: Database | undefined;
  try {
    if (search.ids.length === 0 || !hasState(folder, search.owner)) return new Map();
    database = await openForReading(join(folder, "state.db"));
    // A view of these names, in a file that somebody made, could compute for hours.
    const tables = database.prepare(
      "SELECT count(*) AS tables FROM sqlite_master WHERE type = 'table' AND name IN ('files', 'accepted')",
    );
    if (Number(tables.get()?.["tables"]) !== 2) return new Map();
    return readPaths(database, search);
  } catch {
    return new Map();
  } finally {
    database?.close();
  }
}
