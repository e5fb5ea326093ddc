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

/** The runs of each pair that were read, with the record of the listing at that time. */
export type KnownRuns = Map<number, { json: string; runs: Runs }>;

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
      `the ${client.dialect.name} interface does not report ${members}: see the admin page of the service`,
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
  { known, onFailure }: { known: KnownRuns; onFailure: (error: unknown) => null },
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

/** The complete records of private pairs, whose groups and owners only the listing of connectors has. */
async function readGroups(client: Client, found: readonly Found[], result: Status) {
  if (!found.some(({ record }) => record.access_type === "private")) return [];
  try {
    return await listConnectors(client);
  } catch (error) {
    if (!isRefused(error)) throw error;
    result.refused ??= error;
    return [];
  }
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
function toRow({ record, status }: Found, complete: ConnectorStatus | undefined): StatusRow {
  const { cc_pair_id, name, access_type: accessType, connector } = complete ?? record;
  return {
    ccPairId: cc_pair_id,
    name: name ?? null,
    source: connector?.source ?? null,
    state: status ? stateOf(status) : null,
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
  known: KnownRuns,
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
 * its id need not be listed. `known` is what earlier polls have read. Throws ApiError, and CliError
 * `not-found` for an unknown id or name.
 */
export async function readStatus(
  client: Client,
  wanted: readonly string[],
  known: KnownRuns = new Map(),
): Promise<Status> {
  const missing: string[] = [];
  const statuses = await readStatuses(client, missing);
  const records = statuses ? [] : await listConnectors(client);
  const all = statuses ?? records.map((record) => ({ record }));
  const found = await select(client, all, wanted, statuses !== undefined);
  const result: Status = { rows: [], hasStatus: statuses !== undefined, missing };
  const listed = statuses ? await readGroups(client, found, result) : records;
  const complete = new Map(listed.map((record) => [record.cc_pair_id, record]));
  result.rows = found.map((each) =>
    toRow(each, statuses ? complete.get(each.record.cc_pair_id) : each.record),
  );
  const isNamed = wanted.length > 0;
  if (statuses) result.refused = await addDetails(client, found, result, isNamed, known);
  return result;
}
