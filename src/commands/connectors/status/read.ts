import type { Client } from "../../../api/client.ts";
import { listConnectors } from "../../../api/connectors.ts";
import {
  canReadStatus,
  listPairStatuses,
  readPairStatus,
  type PairStatus,
} from "../../../api/pair-status.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import { CliError, type ApiError } from "../../../errors.ts";
import { findConnector, findConnectorById } from "../find-connector.ts";
import { isMissingEndpoint, isRefused, readDetails, type KnownDetails } from "./details.ts";
import { noDetails, toRecord, toRow, type StatusRow } from "./rows.ts";

/** Most pairs with runs of which errors and last run are read: two requests each. */
const maxDetailed = 200;
/** Pairs that are read at a time. */
const batchSize = 4;

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
  status: PairStatus | undefined;
}

export interface StatusRequest {
  /** Ids and names; empty means all connectors. */
  wanted: readonly string[];
  /** What earlier polls have read. */
  known?: KnownDetails;
}

/** The error of an id that the service does not know, or does not show to this key. */
function unknownId(id: number, cause: ApiError): CliError {
  return new CliError("not-found", `there is no pair ${id}, or the key may not see it`, {
    cause,
    hints: ["`knowctl connectors list` shows all connectors of the key"],
  });
}

/** The pair with this id, also one that no listing has. Throws CliError `not-found`, ApiError. */
export async function findPair(client: Client, id: number): Promise<Found> {
  try {
    const status = await readPairStatus(client, id);
    return { record: toRecord(status), status };
  } catch (error) {
    if (isMissingEndpoint(error)) throw unknownId(id, error);
    throw error;
  }
}

const isId = (text: string): boolean => /^\d{1,15}$/.test(text);

async function select(
  client: Client,
  all: readonly Found[],
  wanted: readonly string[],
  hasStatus: boolean,
): Promise<Found[]> {
  if (wanted.length === 0) return [...all];
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
async function readStatuses(client: Client, missing: string[]): Promise<PairStatus[] | undefined> {
  const members = "state, documents, errors, times and queue";
  if (!canReadStatus(client)) {
    missing.push(
      `the ${client.dialect.name} interface does not report ${members}: see the admin page of the service`,
    );
    return undefined;
  }
  try {
    return await listPairStatuses(client);
  } catch (error) {
    if (!isMissingEndpoint(error)) throw error;
    missing.push(`this service is too old to report ${members}: ${error.message}`);
    return undefined;
  }
}

/** The groups and owners of private pairs, which only the listing of connectors has. */
async function readGroups(
  client: Client,
  found: readonly Found[],
  result: Status,
): Promise<ReadonlyMap<number | null, ConnectorStatus>> {
  if (!found.some(({ record }) => record.access_type === "private")) return new Map();
  try {
    const records = await listConnectors(client);
    return new Map(records.map((record) => [record.cc_pair_id, record]));
  } catch (error) {
    if (!isRefused(error)) throw error;
    result.refused ??= error;
    return new Map();
  }
}

async function describe(
  client: Client,
  found: readonly Found[],
  { wanted, known = new Map() }: StatusRequest,
  result: Status,
): Promise<void> {
  const isNamed = wanted.length > 0;
  const listed = await readGroups(client, found, result);
  const withRuns = found.filter(({ status }) => status?.last_status).length;
  const isDetailed = isNamed || withRuns <= maxDetailed;
  if (!isDetailed) {
    result.missing.push(
      `errors and lastAttemptAt are not read for more than ${maxDetailed} connectors: name the connectors`,
    );
  }
  const lacking = new Set<string>();
  const onFailure = (error: unknown): null => {
    if (isRefused(error)) result.refused ??= error;
    else if (isMissingEndpoint(error)) lacking.add(error.message);
    else throw error;
    return null;
  };
  for (let start = 0; start < found.length; start += isDetailed ? batchSize : found.length) {
    const batch = isDetailed ? found.slice(start, start + batchSize) : found;
    const details = isDetailed
      ? await Promise.all(
          batch.map(({ status }) => readDetails(client, status, isNamed, { known, onFailure })),
        )
      : [];
    for (const [index, { record, status }] of batch.entries()) {
      const full = listed.get(record.cc_pair_id);
      result.rows.push(
        toRow(full ?? record, full !== undefined, status, details[index] ?? noDetails),
      );
    }
  }
  const [first] = lacking;
  if (first !== undefined) result.missing.push(`this service does not report everything: ${first}`);
}

/**
 * Reads the state of the wanted connectors. A pair that is named by its id need not
 * be listed. Throws ApiError, and CliError `not-found` for an unknown id or name.
 */
export async function readStatus(client: Client, request: StatusRequest): Promise<Status> {
  const { wanted } = request;
  const missing: string[] = [];
  const statuses = await readStatuses(client, missing);
  const result: Status = { rows: [], hasStatus: statuses !== undefined, missing };
  if (statuses) {
    const all = statuses
      .map((status) => ({ record: toRecord(status), status }))
      .toSorted((a, b) => (a.record.cc_pair_id ?? Infinity) - (b.record.cc_pair_id ?? Infinity));
    const found = await select(client, all, wanted, true);
    await describe(client, found, request, result);
  } else {
    const all = (await listConnectors(client)).map((record) => ({ record, status: undefined }));
    const found = await select(client, all, wanted, false);
    result.rows = found.map(({ record }) => toRow(record, true, undefined, noDetails));
  }
  return result;
}
