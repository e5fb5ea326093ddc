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

export interface EntryFilter {
  status?: StateEntry["status"] | undefined;
  ccPairId?: number | undefined;
}

/** SQL condition on the target of a record, and its values. */
export function pairCondition(ccPairId: number | undefined): [sql: string, values: SqlValue[]] {
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
