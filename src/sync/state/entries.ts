import type { Database, SqlValue } from "../../database.ts";
import { pagesOf } from "./tables.ts";
import { toAccepted, toFailure, tombstoneMark } from "./records.ts";

/** A record of the state in the output of `state list`. */
export interface StateEntry {
  /** `removed`: a removal notice was sent in its place. */
  status: "sent" | "failed" | "removed";
  /** Origin, path prefix and pair. */
  target: string;
  ccPairId: number | null;
  /** Null for a document from stdin. */
  path: string | null;
  /** Number of the row in a file of rows. */
  row: number | null;
  id: string | null;
  storedId: string | null;
  /** Time of the upload or failure, ISO 8601. */
  time: string;
  /** The sent `doc_updated_at`. */
  updatedAt: string | null;
  /** Only for a failure. */
  reason: string | null;
  /** Whether a retry without changes may succeed. */
  retryable: boolean | null;
  httpStatus: number | null;
}

interface EntryFilter {
  status?: StateEntry["status"] | undefined;
  ccPairId?: number | undefined;
}

/** SQL condition on the target of a record, and its values. */
function pairCondition(ccPairId: number | undefined): [sql: string, values: SqlValue[]] {
  // A target ends with its pair, see Target in target.ts.
  return ccPairId === undefined
    ? ["TRUE", []]
    : ["substr(target, -length(?)) = ?", [`#${ccPairId}`, `#${ccPairId}`]];
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

function pairOf(target: string): number | null {
  const pair = /#(\d+)$/.exec(target)?.[1];
  return pair === undefined ? null : Number(pair);
}

/** Lists the records of the state in pages: failures first, each kind in order. */
export function* listRecords(
  database: Database,
  { status, ccPairId }: EntryFilter,
): Generator<StateEntry> {
  const [where, values] = pairCondition(ccPairId);
  if (status === undefined || status === "failed") {
    const keys = ["target", "path", "part", "id"];
    for (const row of pagesOf(database, "failures", keys, where, values)) {
      const { target, path, part, id, reason, retryable, ...each } = toFailure(row);
      yield {
        status: "failed",
        target,
        ccPairId: pairOf(target),
        path: path || null,
        row: part || null,
        id: id || null,
        storedId: null,
        time: timeOf(each.failedAtMs),
        updatedAt: null,
        reason,
        retryable,
        httpStatus: each.status ?? null,
      };
    }
  }
  if (status === "failed") return;
  for (const row of pagesOf(database, "accepted", ["target", "id"], where, values)) {
    const { target, path, part, id, whole, storedId, updatedAt, sentAtMs } = toAccepted(row);
    const sentAs = whole === tombstoneMark ? "removed" : "sent";
    if (status !== undefined && status !== sentAs) continue;
    yield {
      status: sentAs,
      target,
      ccPairId: pairOf(target),
      path: path ?? null,
      row: part || null,
      id,
      storedId: storedId ?? null,
      time: timeOf(sentAtMs),
      updatedAt: updatedAt ?? null,
      reason: null,
      retryable: null,
      httpStatus: null,
    };
  }
}

/** Records to forget: all, or the records that paths or ids name. */
export interface ForgetRequest {
  /** Each name is an id, a file or a folder, in alternative spellings. Empty means all. */
  names: readonly (readonly string[])[];
  /** Only failures, which uploads that were stopped are among. */
  onlyFailed: boolean;
  /** Only records of this pair. */
  ccPairId: number | undefined;
}

export interface Forgotten {
  documents: number;
  failures: number;
  /** Positions of names without records. */
  unknown: number[];
}

// "0" follows "/" in text order, so the range from "folder/" to "folder0" is all paths below a folder.
function nameCondition(spellings: readonly string[]): [sql: string, values: SqlValue[]] {
  const one = "id = ? OR path = ? OR (path >= ? AND path < ?)";
  const values = spellings.flatMap((each) => {
    const folder = each.replace(/\/+$/, "");
    return [each, folder, `${folder}/`, `${folder}0`];
  });
  return [`(${spellings.map(() => one).join(" OR ")})`, values];
}

function count(database: Database, table: string, where: string, values: SqlValue[]): number {
  const row = database.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).get(...values);
  return Number(row?.["n"]);
}

/** Counts the records that forget() would delete. */
export function countForgotten(database: Database, request: ForgetRequest): Forgotten {
  const result: Forgotten = { documents: 0, failures: 0, unknown: [] };
  const [pairSql, pairValues] = pairCondition(request.ccPairId);
  const names = request.names.length === 0 ? [undefined] : request.names;
  const stopped = count(database, "uploads", `${pairSql} AND ended = 0`, pairValues);
  for (const [index, spellings] of names.entries()) {
    const [nameSql, values] = spellings ? nameCondition(spellings) : ["TRUE", []];
    const [where, allValues] = [`${pairSql} AND ${nameSql}`, [...pairValues, ...values]];
    const documents = request.onlyFailed ? 0 : count(database, "accepted", where, allValues);
    const failed = count(database, "failures", where, allValues);
    const failures = failed + (spellings ? 0 : stopped);
    if (documents + failures === 0 && spellings) result.unknown.push(index);
    result.documents += documents;
    result.failures += failures;
  }
  return result;
}

/**
 * Deletes records in one transaction, so that the documents are sent again under the same
 * ids. Deleting all records also deletes the records of uploaded images. Returns how many it
 * deleted: a record that several names match counts once.
 */
export function forget(database: Database, request: ForgetRequest): Omit<Forgotten, "unknown"> {
  const deleted = { documents: 0, failures: 0 };
  const [pairSql, pairValues] = pairCondition(request.ccPairId);
  const names = request.names.length === 0 ? [undefined] : request.names;
  const isEverything =
    request.names.length === 0 && !request.onlyFailed && request.ccPairId === undefined;
  database.transaction(() => {
    // Files first: the triggers on `accepted` then have no files to search.
    if (isEverything) database.exec("DELETE FROM files; DELETE FROM images;");
    const drop = (table: string, where: string, values: SqlValue[]): number => {
      const number = count(database, table, where, values);
      database.prepare(`DELETE FROM ${table} WHERE ${where}`).run(...values);
      return number;
    };
    if (request.names.length === 0) {
      deleted.failures += drop("uploads", `${pairSql} AND ended = 0`, pairValues);
      if (!request.onlyFailed) drop("uploads", pairSql, pairValues);
    }
    for (const spellings of names) {
      const [nameSql, values] = spellings ? nameCondition(spellings) : ["TRUE", []];
      const [where, allValues] = [`${pairSql} AND ${nameSql}`, [...pairValues, ...values]];
      deleted.failures += drop("failures", where, allValues);
      if (!request.onlyFailed) deleted.documents += drop("accepted", where, allValues);
    }
  });
  return deleted;
}
