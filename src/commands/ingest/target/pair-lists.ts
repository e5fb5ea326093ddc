import type { Client } from "../../../api/client.ts";
import { listConnectors } from "../../../api/connectors.ts";
import { listDocuments } from "../../../api/listed-documents.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import { ApiError, CliError } from "../../../errors.ts";
import type { Session } from "../session.ts";
import type { ListedTable } from "../../../sync/status/listed-table.ts";

/** In a ListedTable: the documents of all pairs. No pair has this number (observed-service.md 3.9). */
export const everyPair = 0;

/** Parts of a progress line that waits for a list. */
export const waiting = {
  total: undefined,
  counts: { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 },
  retries: 0,
  slowBecause: undefined,
};

// Documents that were sent without a pair are in this one (observed-service.md 3.9).
const defaultPair = 1;

/** Adds what a refusal may mean: the service answers an unknown pair in the same way. */
function explainRefusal(error: unknown, ccPairId: number): unknown {
  if (!(error instanceof ApiError) || error.status !== 403 || ccPairId === everyPair) return error;
  const { exit, message, method, url, status, code, details } = error;
  const hints = [
    ...error.hints,
    `the service also answers 403 if it has no pair ${ccPairId}: see \`knowctl connectors list\``,
  ];
  return new ApiError(exit, message, { method, url, status, code, details, hints, cause: error });
}

/** With `progress` it says what it waits for. */
type Listing = { connected: { client: Client } } & Partial<Pick<Session, "progress">>;

/**
 * Adds the service's list of a pair, or of all pairs. Throws ApiError; then the list is not
 * complete and proves nothing.
 */
export async function addList(
  { signal }: { signal: AbortSignal },
  { progress, connected: { client } }: Listing,
  listed: ListedTable,
  ccPairId: number,
): Promise<void> {
  let done = 0;
  const phase = `waiting for the list of pair ${ccPairId},`;
  progress?.follow(() => ({ ...waiting, phase, done }));
  try {
    for await (const ids of listDocuments(client, ccPairId === everyPair ? undefined : ccPairId)) {
      signal.throwIfAborted();
      listed.add(ccPairId, ids);
      done += ids.length;
    }
  } catch (error) {
    throw explainRefusal(error, ccPairId);
  } finally {
    await progress?.stop();
  }
}

/** The other pairs of a service, as far as the key sees them. */
interface OtherPairs {
  records: readonly ConnectorStatus[];
  pairs: readonly number[];
  /** Whether the key sees all pairs. */
  isComplete: boolean;
}

/** The pairs but `own`; those that documents are sent to come first. Throws ApiError. */
export async function listOtherPairs(client: Client, own: number): Promise<OtherPairs> {
  const records = await listConnectors(client);
  const isUpload = ({ connector }: ConnectorStatus): boolean =>
    connector?.source === "ingestion_api";
  const shown = records
    .toSorted((a, b) => Number(isUpload(b)) - Number(isUpload(a)))
    .flatMap(({ cc_pair_id: id }) => id ?? []);
  const isComplete = shown.length === records.length && shown.includes(own);
  const pairs = [...new Set([...shown, defaultPair])].filter((each) => each !== own && each > 0);
  return { records, pairs, isComplete };
}

/** Adds the list of another pair. The hidden default pair may be refused. Throws ApiError. */
export async function addOtherList(
  context: { signal: AbortSignal },
  session: Listing,
  listed: ListedTable,
  { records }: Pick<OtherPairs, "records">,
  pair: number,
): Promise<void> {
  try {
    await addList(context, session, listed, pair);
  } catch (error) {
    const isHidden =
      pair === defaultPair && !records.some(({ cc_pair_id: id }) => id === defaultPair);
    if (!isHidden || !(error instanceof CliError) || error.exit !== "auth") throw error;
  }
}
