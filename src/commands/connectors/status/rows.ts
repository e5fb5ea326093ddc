import type { PairStatus } from "../../../api/pair-status.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import type { Column } from "../../../output/formats/formats.ts";
import { relativeTime } from "../../../output/terminal/time.ts";
import { readersOf } from "../../ingest/target/access.ts";

/** One connector in `connectors status`. Null: the service does not report it, or there is none. */
export interface StatusRow {
  ccPairId: number | null;
  name: string | null;
  source: string | null;
  state: string | null;
  accessType: string | null;
  documents: number | null;
  errors: number | null;
  lastSuccessAt: string | null;
  lastAttemptAt: string | null;
  /** Documents whose last change waits for the index; null unless the connector was named. */
  queue: number | null;
  readers: string;
}

/** The row of a command that reads nothing, to check --fields and --filter before any request. */
export const sampleRow: StatusRow = {
  ccPairId: 0,
  name: "",
  source: "",
  state: "",
  accessType: "",
  documents: 0,
  errors: 0,
  lastSuccessAt: "",
  lastAttemptAt: "",
  queue: 0,
  readers: "",
};

/** What only requests about one pair tell. */
export type Details = Pick<StatusRow, "errors" | "lastAttemptAt" | "queue">;

export const noDetails: Details = { errors: null, lastAttemptAt: null, queue: null };

/** The states in which a run can start or fail. */
const running = new Set(["SCHEDULED", "INITIAL_INDEXING", "ACTIVE"]);

/**
 * The state in one word: the service's own, `indexing` while a run works, `failing` after
 * several failed runs. Null if the record names no state.
 */
function stateOf(status: PairStatus): string | null {
  const { cc_pair_status: state } = status;
  if (!state) return null;
  if (running.has(state) && status.in_repeated_error_state === true) return "failing";
  if (running.has(state) && status.in_progress === true) return "indexing";
  return state.toLowerCase();
}

/** Who can read the pair's documents. Uploads to a pair of type sync are found by nobody. */
function readersOfPair(record: ConnectorStatus, isComplete: boolean): string {
  const { access_type: type } = record;
  if (type === "private" && !isComplete)
    return "private: cannot determine who reads these documents";
  if (type === "sync" && record.connector?.source !== "ingestion_api") {
    return "sync: everybody whom the source allows reads these documents";
  }
  return readersOf(record);
}

/** The row of a pair. `record` is the one of the listing where `isListed`. */
export function toRow(
  record: ConnectorStatus,
  isListed: boolean,
  status: PairStatus | undefined,
  details: Details,
): StatusRow {
  return {
    ccPairId: record.cc_pair_id,
    name: record.name ?? null,
    source: record.connector?.source ?? null,
    state: status ? stateOf(status) : null,
    accessType: record.access_type ?? null,
    documents: status?.docs_indexed ?? null,
    errors: details.errors,
    lastSuccessAt: status?.last_success ?? null,
    lastAttemptAt: details.lastAttemptAt,
    queue: details.queue,
    readers: readersOfPair(record, isListed),
  };
}

/** A pair of the listing of states, in the form of the other listing. */
export function toRecord(status: PairStatus): ConnectorStatus {
  return {
    cc_pair_id: status.cc_pair_id,
    // This listing has no null names.
    name: status.name || null,
    access_type: status.access_type,
    connector: { source: status.source },
  };
}

/**
 * Columns of the list. Without `hasStatus`, those that the service does not report are shown
 * only on request; so is the queue without `hasQueue`.
 */
export function createColumns(
  now: () => number,
  { hasStatus, hasQueue }: { hasStatus: boolean; hasQueue: boolean },
): Column<StatusRow>[] {
  const show = (value: unknown): string => relativeTime(String(value), now());
  const right = { align: "right" } as const;
  const kept = { isKept: true } as const;
  const ofStatus = { shown: hasStatus };
  return [
    { name: "ccPairId", value: (row) => row.ccPairId, ...right },
    { name: "name", value: (row) => row.name },
    { name: "state", value: (row) => row.state, ...kept, ...ofStatus },
    { name: "documents", value: (row) => row.documents, ...right, ...ofStatus },
    { name: "errors", value: (row) => row.errors, ...right, ...ofStatus },
    { name: "queue", value: (row) => row.queue, ...right, shown: hasStatus && hasQueue },
    { name: "lastSuccessAt", value: (row) => row.lastSuccessAt, show, ...ofStatus },
    { name: "lastAttemptAt", value: (row) => row.lastAttemptAt, show, ...ofStatus },
    { name: "source", value: (row) => row.source },
    { name: "accessType", value: (row) => row.accessType, ...kept, shown: !hasStatus },
    { name: "readers", value: (row) => row.readers },
  ];
}
