import { decodePercent } from "../../documents/files/file-name.ts";
import { join } from "node:path";
import { openForReading, type Database } from "../../database.ts";
import { checkSchema } from "./file/state-schema.ts";
import { stateFailure } from "./state-failure.ts";
import { hasState } from "./file/state-file.ts";
import type { StateRules } from "./file/state-folder.ts";
import { createIdsOfPath } from "./by-path.ts";
import { serviceTargets } from "./target.ts";

/** Failures of one kind. Contains no name and no text of a document. */
export interface FailureCount {
  /** HTTP status; null for a local failure: a file, the network. */
  httpStatus: number | null;
  /** Whether a retry without changes may succeed. */
  retryable: boolean;
  count: number;
  /** Time of the newest failure, ISO 8601. */
  last: string;
}

/**
 * Counts the recorded failures by kind, the 20 most frequent kinds first. `folder` must contain
 * a state. Changes nothing. Throws CliError `local` when the state cannot be read.
 */
export async function countFailures(folder: string): Promise<FailureCount[]> {
  const path = join(folder, "state.db");
  const database = await openForReading(path);
  try {
    checkSchema(database, path);
    const rows = database
      .prepare(
        "SELECT status, retryable, count(*) AS count, max(failed_at) AS last FROM failures GROUP BY status, retryable ORDER BY count DESC LIMIT 20",
      )
      .all();
    return rows.map((row) => ({
      httpStatus: row["status"] === null ? null : Number(row["status"]),
      retryable: row["retryable"] === 1,
      count: Number(row["count"]),
      last: new Date(Number(row["last"])).toISOString(),
    }));
  } catch (error) {
    throw stateFailure(path, error);
  } finally {
    database.close();
  }
}

/** A state to read, and the service of its records. */
export interface RecordPlace {
  /** The state folder. */
  folder: string;
  /** Origin and path prefix of the service, as in the keys of the targets. */
  baseUrl: string;
  /** Which states to use. */
  rules: StateRules;
  /** Called when the state must not be used or cannot be read, with the reason. */
  onRefused: (reason: string) => void;
}

interface LocalFileSearch {
  /** Ids from the service. */
  ids: readonly string[];
  /** Maps an id to the id that the service stores; undefined where it stores ids unchanged. */
  storedId?: ((id: string) => string) | undefined;
}

function readPaths(
  database: Database,
  targets: readonly string[],
  search: LocalFileSearch,
): Map<string, string> {
  // replace() matches the index files_id; a stored id has "_" where the sent id has a space.
  const byId = database.prepare(
    "SELECT id, path FROM files WHERE id IS NOT NULL AND replace(id, ' ', '_') = ?",
  );
  const wasSent = database.prepare("SELECT 1 AS yes FROM accepted WHERE target = ? AND id = ?");
  const paths = new Map<string, string>();
  for (const stored of search.ids) {
    for (const candidate of new Set([stored, decodePercent(stored)])) {
      for (const row of byId.all(candidate.replaceAll(" ", "_"))) {
        const id = String(row["id"]);
        // Without storedId, ids that differ only in their encoding count as the same.
        const isSame = id === stored || !search.storedId || search.storedId(id) === stored;
        if (isSame && targets.some((target) => wasSent.get(target, id))) {
          paths.set(stored, String(row["path"]));
        }
      }
    }
  }
  return paths;
}

function readIds(
  database: Database,
  targets: readonly string[],
  paths: readonly string[],
): Map<string, string[]> {
  const idsOf = createIdsOfPath(database);
  const found = paths.map((path): [string, string[]] => [
    path,
    targets.flatMap((target) => idsOf(target, path)),
  ]);
  return new Map(found.filter(([, ids]) => ids.length > 0));
}

/**
 * What `read` finds for the targets of the service. Only reads, and creates nothing. Returns an empty map
 * when there is no state, or after place.onRefused().
 */
async function readRecord<Value>(
  place: RecordPlace,
  read: (database: Database, targets: readonly string[]) => Map<string, Value>,
): Promise<Map<string, Value>> {
  const path = join(place.folder, "state.db");
  let database: Database | undefined;
  try {
    if (!hasState(place.folder, place.rules)) return new Map();
    database = await openForReading(path);
    checkSchema(database, path);
    return read(database, serviceTargets(database, place.baseUrl));
  } catch (error) {
    place.onRefused(stateFailure(path, error).message);
    return new Map();
  } finally {
    database?.close();
  }
}

/** Maps ids of the service to local files: paths relative to the project root. */
export async function findLocalFiles(
  place: RecordPlace,
  search: LocalFileSearch,
): Promise<Map<string, string>> {
  if (search.ids.length === 0) return new Map();
  return await readRecord(place, (database, targets) => readPaths(database, targets, search));
}

/** The ids that the service accepted of each of the files, for those that it has documents of. */
export async function findSentIds(
  place: RecordPlace,
  paths: readonly string[],
): Promise<Map<string, string[]>> {
  return await readRecord(place, (database, targets) => readIds(database, targets, paths));
}
