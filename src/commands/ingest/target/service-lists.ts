import type { Client } from "../../../api/client.ts";
import { listConnectors } from "../../../api/connectors.ts";
import { listDocuments } from "../../../api/listed-documents.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import { ApiError, CliError, reworded } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { followCount, type Progress } from "../../../output/terminal/progress.ts";
import type { Secrets } from "../../../output/terminal/redact.ts";
import type { State } from "../../../sync/state/state.ts";
import { createListedTable, type ListedTable } from "../../../sync/status/listed-table.ts";

/** In the lists: the documents of all pairs. No pair has this number (observed-service.md 3.9). */
export const everyPair = 0;

// Documents that were sent without a pair are in this one (observed-service.md 3.9).
const defaultPair = 1;

/** The other pairs of a service, as far as the key sees them. */
interface OtherPairs {
  records: readonly ConnectorStatus[];
  /** Those that documents are sent to come first. */
  pairs: readonly number[];
  /** Whether the key sees all pairs. */
  isComplete: boolean;
}

/** The service's own lists of the documents of its pairs, in temporary tables on disk. */
export interface ServiceLists {
  listed: ListedTable;
  /** An id as the lists have it. They are redacted: an id may contain a short secret of the profile. */
  storedId(id: string): string;
  /** Reads the list of a pair once. Throws ApiError; then the list is not complete and proves nothing. */
  read(ccPairId: number): Promise<void>;
  /** Lists the pairs but `own`. Throws ApiError. */
  findOthers(own: number): Promise<OtherPairs>;
  /** Reads the list of a pair that findOthers() found. The hidden default pair may be refused. */
  readOther(ccPairId: number): Promise<void>;
  /** `pair 3 (Handbook)`: a pair that findOthers() found, for messages. */
  nameOf(ccPairId: number): string;
}

/** Whether the service lists the documents of a pair. */
export function canListPairs({ dialect }: Client): boolean {
  return dialect.paths.pairDocuments !== undefined;
}

/** Adds what a refusal may mean: the service answers an unknown pair in the same way. */
function explainRefusal(error: unknown, ccPairId: number): unknown {
  if (!(error instanceof ApiError) || error.status !== 403 || ccPairId === everyPair) return error;
  const hint = `the service also answers 403 if it has no pair ${ccPairId}: see \`knowctl connectors list\``;
  return reworded(error, error.message, [...error.hints, hint]);
}

async function findOtherPairs(client: Client, own: number): Promise<OtherPairs> {
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

/** Creates the lists, still empty. With `progress`, they show what they wait for. */
export function createServiceLists(
  client: Client,
  { database }: State,
  secrets: Secrets,
  signal: AbortSignal,
  progress?: Progress,
): ServiceLists {
  const listed = createListedTable(database);
  const storedIdOf = client.dialect.storedId ?? ((id: string): string => id);
  const known = new Set<number>();
  let records: readonly ConnectorStatus[] = [];
  const recordOf = (pair: number): ConnectorStatus | undefined =>
    records.find(({ cc_pair_id: id }) => id === pair);
  const read: ServiceLists["read"] = async (pair) => {
    if (known.has(pair)) return;
    let done = 0;
    if (progress) followCount(progress, `waiting for the list of pair ${pair},`, () => done);
    try {
      for await (const ids of listDocuments(client, pair === everyPair ? undefined : pair)) {
        signal.throwIfAborted();
        listed.add(pair, ids);
        done += ids.length;
      }
    } catch (error) {
      throw explainRefusal(error, pair);
    } finally {
      await progress?.stop();
    }
    known.add(pair);
  };
  return {
    listed,
    storedId: (id) => secrets.redact(storedIdOf(id)),
    read,
    async findOthers(own) {
      const others = await findOtherPairs(client, own);
      ({ records } = others);
      return others;
    },
    async readOther(pair) {
      try {
        await read(pair);
      } catch (error) {
        const isHidden = pair === defaultPair && recordOf(pair) === undefined;
        if (!isHidden || !(error instanceof CliError) || error.exit !== "auth") throw error;
      }
    },
    nameOf(pair) {
      const name = recordOf(pair)?.name;
      return `pair ${pair}${name ? ` (${neutraliseLine(name)})` : ""}`;
    },
  };
}
