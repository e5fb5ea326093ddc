import { ApiError, CliError } from "../errors.ts";
import { callTo } from "./call.ts";
import type { Client } from "./client.ts";
import type { Shape } from "./answers/words.ts";
import type { Dialect } from "./dialects.ts";
import * as z from "zod/mini";
import { catch as or } from "zod/mini";
import { lenientFlag, lenientInteger, lenientText } from "./schemas.ts";

// State of the pairs and their runs: observed-service.md 4.2 and 11.4.

const StatusRecord = z.looseObject({
  cc_pair_id: or(z.nullable(z.int()), null),
  name: lenientText,
  source: lenientText,
  access_type: lenientText,
  cc_pair_status: lenientText,
  in_progress: lenientFlag,
  in_repeated_error_state: lenientFlag,
  last_status: lenientText,
  last_success: lenientText,
  docs_indexed: lenientInteger,
});

/** The state of one pair. A missing member, or one of the wrong type, is null. */
export type PairStatus = z.infer<typeof StatusRecord>;
const unreadable: PairStatus = { cc_pair_id: null };

/** A source that is asked at each question, and not indexed: it is no pair. */
const Federated = z.looseObject({ id: z.int(), cc_pair_id: z.optional(z.undefined()) });

/** The listing: a group for each source. */
const PairStatusGroups = z.array(
  z.looseObject({
    indexing_statuses: z.array(z.union([Federated, or(StatusRecord, unreadable)])),
  }),
);

const PairDetail = z.looseObject({
  id: z.int(),
  name: lenientText,
  status: lenientText,
  access_type: lenientText,
  indexing: lenientFlag,
  in_repeated_error_state: lenientFlag,
  num_docs_indexed: lenientInteger,
  last_indexed: lenientText,
  last_index_attempt_status: lenientText,
  connector: or(z.nullable(z.looseObject({ source: lenientText })), null),
});

const AttemptPage = z.looseObject({
  items: z.array(z.looseObject({ time_started: lenientText, time_updated: lenientText })),
});

const PairErrorRecord = z.looseObject({
  id: lenientInteger,
  document_id: lenientText,
  document_link: lenientText,
  entity_id: lenientText,
  failure_message: lenientText,
  is_resolved: lenientFlag,
  time_created: lenientText,
});

/** One document that a run could not index. */
export type PairError = z.infer<typeof PairErrorRecord>;

const PairErrorPage = z.looseObject({
  items: z.array(or(PairErrorRecord, {})),
  total_items: z.int(),
});

const SyncList = z.array(z.looseObject({ last_synced: lenientText, last_modified: lenientText }));

/** Some 200,000 pairs or documents. */
const longListBytes = 256 * 1024 * 1024;

type PairPath = "pair" | "pairAttempts" | "pairErrors" | "pairSync";

/** Whether the interface reports the state of pairs. */
export function canReadStatus({ dialect }: Client): boolean {
  return dialect.paths.pairStatuses !== undefined;
}

function missing({ dialect }: Client, what: string): CliError {
  return new CliError(
    "not-found",
    `cannot ${what}: the ${dialect.name} dialect has no endpoint for it`,
    {
      hints: [
        "see the admin page of the service, or name the dialect with --dialect if it is another",
      ],
    },
  );
}

async function read<T>(
  client: Client,
  what: string,
  name: PairPath,
  ccPairId: number,
  shape: Shape<T>,
  query = "",
): Promise<T> {
  const path: Dialect["paths"][PairPath] = client.dialect.paths[name];
  if (path === undefined) throw missing(client, what);
  const call = callTo(what, "GET", path(ccPairId) + query);
  return await client.call({ ...call, responseBytes: longListBytes }, shape);
}

/**
 * The state of all pairs that the caller may see, in one request. Federated sources are left
 * out: they are not indexed. Throws ApiError, and CliError `not-found` where the dialect has
 * no such listing.
 */
export async function listPairStatuses(client: Client): Promise<PairStatus[]> {
  const what = "read the state of the connectors";
  const path = client.dialect.paths.pairStatuses;
  if (path === undefined) throw missing(client, what);
  const call = callTo(what, "POST", path, { get_all_connectors: true });
  const groups = await client.call({ ...call, responseBytes: longListBytes }, PairStatusGroups);
  return groups.flatMap(({ indexing_statuses: found }) =>
    found.flatMap((each): PairStatus[] => (each.cc_pair_id === undefined ? [] : [each])),
  );
}

/** The state of one pair, also of a pair that no listing has. Throws ApiError. */
export async function readPairStatus(client: Client, ccPairId: number): Promise<PairStatus> {
  const what = `read connector ${ccPairId}`;
  const pair = await read(client, what, "pair", ccPairId, PairDetail);
  return {
    cc_pair_id: ccPairId,
    name: pair.name,
    source: pair.connector?.source,
    access_type: pair.access_type,
    cc_pair_status: pair.status,
    in_progress: pair.indexing,
    in_repeated_error_state: pair.in_repeated_error_state,
    last_status: pair.last_index_attempt_status,
    last_success: pair.last_indexed,
    docs_indexed: pair.num_docs_indexed,
  };
}

/** When the last run of a pair started, as the service writes it; undefined without a run. Throws ApiError. */
export async function readLastAttempt(
  client: Client,
  ccPairId: number,
): Promise<string | undefined> {
  const what = `read the last run of connector ${ccPairId}`;
  const query = "?page_num=0&page_size=1";
  const { items } = await read(client, what, "pairAttempts", ccPairId, AttemptPage, query);
  return items[0]?.time_started ?? items[0]?.time_updated ?? undefined;
}

async function readErrors(
  client: Client,
  ccPairId: number,
  { page, size, resolved }: { page: number; size: number; resolved: boolean },
) {
  const query = `?include_resolved=${resolved}&page_num=${page}&page_size=${size}`;
  const what = `read the errors of connector ${ccPairId}`;
  return await read(client, what, "pairErrors", ccPairId, PairErrorPage, query);
}

/** The number of documents that the runs of a pair could not index until now. Throws ApiError. */
export async function countPairErrors(client: Client, ccPairId: number): Promise<number> {
  return (await readErrors(client, ccPairId, { page: 0, size: 1, resolved: false })).total_items;
}

const errorPageSize = 100;

/**
 * The documents that the runs of a pair could not index, newest first; with `resolved` also
 * those that a later run indexed. Requests each page when it is due. An unknown pair has none.
 * Throws ApiError, also for pages that repeat or end too early, and CliError `not-found` where the dialect has
 * no such listing.
 */
export async function* listPairErrors(
  client: Client,
  ccPairId: number,
  { resolved }: { resolved: boolean },
): AsyncGenerator<PairError> {
  let read = 0;
  let before: string | undefined;
  for (let page = 0; ; page++) {
    const found = await readErrors(client, ccPairId, { page, size: errorPageSize, resolved });
    const text = JSON.stringify(found.items);
    if (found.items.length > 0 && text === before) {
      throw damagedErrors(client, ccPairId, "the service repeats a page");
    }
    before = text;
    yield* found.items;
    read += found.items.length;
    if (read >= found.total_items) return;
    if (found.items.length > 0) continue;
    const reason = `the service lists ${read} of ${found.total_items} errors`;
    throw damagedErrors(client, ccPairId, reason);
  }
}

function damagedErrors(client: Client, ccPairId: number, reason: string): ApiError {
  const url = client.url(client.dialect.paths.pairErrors?.(ccPairId) ?? "/");
  const message = `read the errors of connector ${ccPairId}: GET ${url}: ${reason}`;
  return new ApiError("server-error", message, { method: "GET", url, status: 200 });
}

/**
 * The number of documents of a pair whose last change the service has not written into the
 * index yet. Throws ApiError.
 */
export async function countWaiting(client: Client, ccPairId: number): Promise<number> {
  const what = `read the queue of connector ${ccPairId}`;
  const documents = await read(client, what, "pairSync", ccPairId, SyncList);
  return documents.filter(({ last_synced: synced, last_modified: modified }) => {
    if (!synced) return true;
    return Boolean(modified) && Date.parse(synced) < Date.parse(modified!);
  }).length;
}
