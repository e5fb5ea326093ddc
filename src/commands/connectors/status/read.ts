import type { Client } from "../../../api/client.ts";
import { listConnectors } from "../../../api/connectors.ts";
import {
  canReadStatus,
  countPairErrors,
  countWaiting,
  listPairStatuses,
  readLastAttempt,
  readPairStatus,
  type PairStatus,
} from "../../../api/pair-status.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import { ApiError, CliError } from "../../../errors.ts";
import type { Column } from "../../../output/formats/formats.ts";
import { relativeTime } from "../../../output/terminal/progress.ts";
import { readersOf } from "../../ingest/target/access.ts";
import { findConnector, findConnectorById, isId } from "../find-connector.ts";

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

/**
 * Columns of the list, one for each member. Without `hasStatus`, those that the service does not
 * report are shown only on request; so is the queue without `hasQueue`.
 */
export function statusColumns(hasStatus: boolean, hasQueue: boolean): Column<StatusRow>[] {
  return [
    { name: "ccPairId", align: "right" },
    { name: "name" },
    { name: "state", isKept: true, shown: hasStatus },
    { name: "documents", align: "right", shown: hasStatus },
    { name: "errors", align: "right", shown: hasStatus },
    { name: "queue", align: "right", shown: hasStatus && hasQueue },
    { name: "lastSuccessAt", show: relativeTime, shown: hasStatus },
    { name: "lastAttemptAt", show: relativeTime, shown: hasStatus },
    { name: "source" },
    { name: "accessType", isKept: true, shown: !hasStatus },
    { name: "readers" },
  ];
}

export interface Status {
  rows: StatusRow[];
  /** Whether the service reports states. */
  hasStatus: boolean;
  /** What the rows lack, and why; one line each. */
  missing: string[];
  /** A request that was refused: the rows lack what it would have told. */
  refused?: ApiError | undefined;
}

interface Found {
  record: ConnectorStatus;
  status?: PairStatus;
}

type Runs = Pick<StatusRow, "errors" | "lastAttemptAt">;

/** What earlier polls have read of each pair, by its id. */
export interface KnownPairs {
  /** Its runs, with the record of the listing at that time. */
  runs: Map<number, { json: string; runs: Runs }>;
  /** Seconds between its runs; null for a pair that runs once. */
  refresh: Map<number, number | null>;
}

export const nothingKnown = (): KnownPairs => ({ runs: new Map(), refresh: new Map() });

/** Most pairs with runs of which errors and last run are read: two requests each. */
const maxDetailed = 200;
/** Pairs that are read at a time. */
const batchSize = 4;
/** The states in which a run can start or fail. */
const running = new Set(["SCHEDULED", "INITIAL_INDEXING", "ACTIVE"]);

/** Whether the service has no such endpoint, or no such pair. */
const isMissing = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 404 || error.status === 405);

const isRefused = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.exit === "auth";

const dayMs = 86_400_000;
/** An active pair is stale if this many refreshes brought no success. */
const refreshesMissed = 3;

/** The age of the last success of an active pair that no run works on, in milliseconds; else 0. */
function idleMs(status: PairStatus, now: number): number {
  const { cc_pair_status: state, in_progress, last_success } = status;
  // Uploads leave no run and no success.
  if (state !== "ACTIVE" || in_progress === true || !status.last_status || !last_success) return 0;
  const isZoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(last_success);
  return now - Date.parse(isZoned ? last_success : `${last_success}Z`) || 0;
}

/** Whether the refresh of a pair must be read to tell its state. */
function needsRefresh({ status }: Found, known: KnownPairs, now: number): boolean {
  if (!status || status.cc_pair_id === null) return false;
  return idleMs(status, now) > dayMs && !known.refresh.has(status.cc_pair_id);
}

/**
 * The state in one word: the service's own, `indexing` while a run works, `failing` after
 * several failed runs, `stale` if the last success is far older than its refresh
 * (`refreshSeconds`). Null if the record names no state.
 */
function stateOf(
  status: PairStatus,
  refreshSeconds: number | null | undefined,
  now: number,
): string | null {
  const { cc_pair_status: state } = status;
  if (!state) return null;
  if (running.has(state) && status.in_repeated_error_state === true) return "failing";
  if (running.has(state) && status.in_progress === true) return "indexing";
  const dueMs = (refreshSeconds ?? 0) * 1000 * refreshesMissed;
  if (dueMs > 0 && idleMs(status, now) > Math.max(dueMs, dayMs)) return "stale";
  return state.toLowerCase();
}

/** A pair of the listing of states, in the form of the other listing. */
function toFound(status: PairStatus): Found {
  const { cc_pair_id, access_type, source } = status;
  // This listing has no null names.
  const record = { cc_pair_id, name: status.name || null, access_type, connector: { source } };
  return { record, status };
}

/** The pair with this id, also one that no listing has. Throws CliError `not-found`, ApiError. */
export async function findPair(client: Client, id: number): Promise<Found> {
  try {
    return toFound(await readPairStatus(client, id));
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new CliError("not-found", `there is no pair ${id}, or the key may not see it`, {
      cause: error,
      hints: ["`knowctl connectors list` shows all connectors of the key"],
    });
  }
}

async function select(
  client: Client,
  all: readonly Found[],
  wanted: readonly string[],
  hasStatus: boolean,
): Promise<readonly Found[]> {
  if (wanted.length === 0) return all;
  const records = all.map(({ record }) => record);
  const chosen = new Map<number, Found>();
  for (const text of wanted) {
    const id = isId(text) ? Number(text) : findConnector(records, text).cc_pair_id;
    const found = all.find(({ record }) => record.cc_pair_id === id);
    if (!found && !hasStatus) findConnectorById(records, id);
    chosen.set(id, found ?? (await findPair(client, id)));
  }
  return [...chosen.values()];
}

/** Reads the states; undefined, with the reason in `missing`, where the service has none. */
async function readStatuses(client: Client, missing: string[]): Promise<Found[] | undefined> {
  const members = "state, documents, errors, times and queue";
  if (!canReadStatus(client)) {
    missing.push(
      `the ${client.dialect.name} dialect does not report ${members}: see the admin page of the service`,
    );
    return undefined;
  }
  try {
    return (await listPairStatuses(client))
      .map(toFound)
      .toSorted((a, b) => (a.record.cc_pair_id ?? Infinity) - (b.record.cc_pair_id ?? Infinity));
  } catch (error) {
    if (!isMissing(error)) throw error;
    missing.push(`this service is too old to report ${members}: ${error.message}`);
    return undefined;
  }
}

/** Errors and last run of a pair. Reads nothing again while the record of the listing stays the same. */
async function readRuns(
  client: Client,
  id: number,
  status: PairStatus,
  { known, onFailure }: { known: KnownPairs["runs"]; onFailure: (error: unknown) => null },
): Promise<Runs> {
  // Without a run there is no error: uploads leave neither (observed-service.md 11.4).
  if (!status.last_status) return { errors: 0, lastAttemptAt: null };
  const json = JSON.stringify(status);
  const before = known.get(id);
  // The record changes when a run starts or ends.
  if (before?.json === json && status.in_progress !== true) return before.runs;
  const [errors, last] = await Promise.all([
    countPairErrors(client, id).catch(onFailure),
    readLastAttempt(client, id).catch(onFailure),
  ]);
  const runs = { errors, lastAttemptAt: last ?? null };
  known.set(id, { json, runs });
  return runs;
}

/** The complete records, where they are needed: only they have groups, owners and refresh. */
async function readRecords(
  client: Client,
  found: readonly Found[],
  result: Status,
  { known, now }: { known: KnownPairs; now: number },
): Promise<ConnectorStatus[]> {
  const isPrivate = found.some(({ record }) => record.access_type === "private");
  const open = found.filter((each) => needsRefresh(each, known, now));
  if (!isPrivate && open.length === 0) return [];
  let records: ConnectorStatus[] = [];
  try {
    records = await listConnectors(client);
  } catch (error) {
    if (isPrivate && isRefused(error)) result.refused ??= error;
    else if (isPrivate || !(error instanceof ApiError)) throw error;
    else result.missing.push(`stale connectors are not marked: ${error.message}`);
  }
  const refresh = new Map(records.map((each) => [each.cc_pair_id, each.connector?.refresh_freq]));
  for (const { record } of open) {
    const { cc_pair_id: id } = record;
    if (id !== null) known.refresh.set(id, refresh.get(id) ?? null);
  }
  return records;
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

/** The row of a pair; `complete` is its record in the listing of connectors, if that was read. */
function toRow(
  { record, status }: Found,
  complete: ConnectorStatus | undefined,
  stateIn: (status: PairStatus) => string | null,
): StatusRow {
  const { cc_pair_id, name, access_type: accessType, connector } = complete ?? record;
  return {
    ccPairId: cc_pair_id,
    name: name ?? null,
    source: connector?.source ?? null,
    state: status ? stateIn(status) : null,
    accessType: accessType ?? null,
    documents: status?.docs_indexed ?? null,
    errors: null,
    lastSuccessAt: status?.last_success ?? null,
    lastAttemptAt: null,
    queue: null,
    readers: readersOfPair(complete ?? record, complete !== undefined),
  };
}

/** Adds what only requests about one pair tell: its errors and last run, and its queue if it is named. */
async function addDetails(
  client: Client,
  found: readonly Found[],
  { rows, missing, ...result }: Status,
  isNamed: boolean,
  known: KnownPairs["runs"],
): Promise<ApiError | undefined> {
  if (!isNamed && found.filter(({ status }) => status?.last_status).length > maxDetailed) {
    missing.push(
      `errors and lastAttemptAt are not read for more than ${maxDetailed} connectors: name the connectors`,
    );
    return result.refused;
  }
  let { refused } = result;
  const lacking = new Set<string>();
  const onFailure = (error: unknown): null => {
    if (isRefused(error)) refused ??= error;
    else if (isMissing(error)) lacking.add(error.message);
    else throw error;
    return null;
  };
  const add = async ({ status }: Found, index: number): Promise<void> => {
    const id = status?.cc_pair_id ?? null;
    if (!status || id === null) return;
    const [runs, queue] = await Promise.all([
      readRuns(client, id, status, { known, onFailure }),
      isNamed ? countWaiting(client, id).catch(onFailure) : null,
    ]);
    Object.assign(rows[index]!, runs, { queue });
  };
  for (let start = 0; start < found.length; start += batchSize) {
    const batch = found.slice(start, start + batchSize);
    await Promise.all(batch.map((each, index) => add(each, start + index)));
  }
  const [first] = lacking;
  if (first !== undefined) missing.push(`this service does not report everything: ${first}`);
  return refused;
}

/**
 * Reads the state of the wanted connectors (ids and names; none means all). A pair that is named by
 * its id need not be listed. `now` is milliseconds since the epoch, `known` is what earlier polls
 * have read. Throws ApiError, and CliError `not-found` for an unknown id or name.
 */
export async function readStatus(
  client: Client,
  wanted: readonly string[],
  now: number,
  known = nothingKnown(),
): Promise<Status> {
  const missing: string[] = [];
  const statuses = await readStatuses(client, missing);
  const records = statuses ? [] : await listConnectors(client);
  const all = statuses ?? records.map((record) => ({ record }));
  const found = await select(client, all, wanted, statuses !== undefined);
  const result: Status = { rows: [], hasStatus: statuses !== undefined, missing };
  const listed = statuses ? await readRecords(client, found, result, { known, now }) : records;
  const stateIn = (status: PairStatus): string | null =>
    stateOf(status, known.refresh.get(status.cc_pair_id ?? 0), now);
  const complete = new Map(listed.map((record) => [record.cc_pair_id, record]));
  result.rows = found.map((each) =>
    toRow(each, statuses ? complete.get(each.record.cc_pair_id) : each.record, stateIn),
  );
  const isNamed = wanted.length > 0;
  if (statuses) result.refused = await addDetails(client, found, result, isNamed, known.runs);
  return result;
}
