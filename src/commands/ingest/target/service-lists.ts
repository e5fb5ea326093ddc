import type { Client } from "../../../api/client.ts";
import { listConnectors } from "../../../api/connectors.ts";
import { listDocuments } from "../../../api/listed-documents.ts";
import type { ConnectorStatus } from "../../../api/schemas.ts";
import { ApiError, CliError, reworded } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { followCount, type Progress } from "../../../output/terminal/progress.ts";
import { createListedTable, type ListedTable } from "../../../sync/status/listed-table.ts";
import type { Session } from "../session.ts";

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

/** Creates the lists, still empty. With `progress`, they show what they wait for. */
export function createServiceLists(
  client: Client,
  { state, output }: Pick<Session, "state" | "output">,
  signal: AbortSignal,
  progress?: Progress,
): ServiceLists {
  const listed = createListedTable(state.database);
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
    storedId: (id) => output.secrets.redact(storedIdOf(id)),
    read,
    async findOthers(own) {
      records = await listConnectors(client);
      const isUpload = ({ connector }: ConnectorStatus): boolean =>
        connector?.source === "ingestion_api";
      const shown = records
        .toSorted((a, b) => Number(isUpload(b)) - Number(isUpload(a)))
        .flatMap(({ cc_pair_id: id }) => id ?? []);
      const isComplete = shown.length === records.length && shown.includes(own);
      const pairs = [...new Set([...shown, defaultPair])].filter((id) => id !== own && id > 0);
      return { records, pairs, isComplete };
    },
    async readOther(pair) {
      try {
        await read(pair);
      } catch (error) {
        const isHidden = pair === defaultPair && recordOf(pair) === undefined;
        if (!isHidden || !(error instanceof ApiError) || error.exit !== "auth") throw error;
      }
    },
    nameOf(pair) {
      const name = recordOf(pair)?.name;
      return `pair ${pair}${name ? ` (${neutraliseLine(name)})` : ""}`;
    },
  };
}

/**
 * The service's lists as far as they tell whose a document is: the list of all documents, and those
 * of pairs when they are needed, after it: what is stored meanwhile is then in the list of its pair.
 */
export interface Holders {
  isEmpty: boolean;
  /** Whether any pair holds a document. */
  isListed(id: string): boolean;
  /** Reads the list of a pair once. Throws ApiError, also for a list that is the same for every pair. */
  readPair(ccPairId: number): Promise<void>;
  isIn(ccPairId: number, id: string): Promise<boolean>;
  /** The pair, but `own`, that holds a document, for messages. Never fails: a list may be refused. */
  holderOf(id: string, own: number): Promise<string>;
}

// To name a pair is worth so many requests.
const mostNamed = 20;

/** Throws ApiError where the service lists documents of a pair that cannot exist: it ignores the pair. */
async function refuseIgnoredPair(client: Client): Promise<void> {
  let isIgnored = false;
  try {
    for await (const ids of listDocuments(client, everyPair))
      if ((isIgnored = ids.length > 0)) break;
  } catch (error) {
    // Refused, as it should be.
    if (!(error instanceof ApiError)) throw error;
  }
  if (!isIgnored) return;
  const url = client.url(client.dialect.paths.pairDocuments?.(everyPair) ?? "");
  throw new ApiError(
    "server-error",
    `list documents: GET ${url}: unexpected response (documents of a pair that does not exist: the service does not tell pairs apart)`,
    { method: "GET", url },
  );
}

/** Reads the list of all documents. Throws ApiError; then nothing is known. */
async function readHolders(client: Client, lists: ServiceLists): Promise<Holders> {
  const { listed, storedId } = lists;
  await lists.read(everyPair);
  const isEmpty = listed.count([everyPair]) === 0;
  let isProved = false;
  const readPair: Holders["readPair"] = async (pair) => {
    await lists.read(pair);
    if (!isProved && listed.count([pair]) > 0) await refuseIgnoredPair(client);
    isProved = true;
  };
  let waiting: readonly number[] | undefined;
  const named: number[] = [];
  return {
    isEmpty,
    isListed: (id) => !isEmpty && listed.has(everyPair, storedId(id)),
    readPair,
    async isIn(pair, id) {
      await readPair(pair);
      return listed.has(pair, storedId(id));
    },
    async holderOf(id, own) {
      const stored = storedId(id);
      const holds = (pair: number): boolean => pair !== own && listed.has(pair, stored);
      try {
        waiting ??= (await lists.findOthers(everyPair)).pairs.slice(0, mostNamed);
        while (!named.some(holds) && waiting.length > 0) {
          const [next = own, ...rest]: readonly number[] = waiting;
          waiting = rest;
          await lists.readOther(next);
          named.push(next);
        }
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        waiting = [];
      }
      const found = named.find(holds);
      return found === undefined ? "another pair" : lists.nameOf(found);
    },
  };
}

/** The service's lists, which one run reads once, also where it sends several groups of files. */
export interface DocumentLists {
  read(): Promise<Holders>;
  /** Whether the key may not read them: then nothing is asked any more. */
  isRefused: boolean;
}

/** Creates the lists in the state of a session that stays open for the whole run. */
export function createDocumentLists(
  client: Client,
  session: Pick<Session, "state" | "output">,
  signal: AbortSignal,
): DocumentLists {
  let reading: Promise<Holders> | undefined;
  return {
    isRefused: false,
    read() {
      reading ??= readHolders(client, createServiceLists(client, session, signal));
      // Awaited later; a rejection meanwhile must not count as unhandled.
      reading.catch(() => {});
      return reading;
    },
  };
}
