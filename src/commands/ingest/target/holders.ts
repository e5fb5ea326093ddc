import type { Client } from "../../../api/client.ts";
import { ApiError, CliError } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { createListedTable } from "../../../sync/status/listed-table.ts";
import type { ConnectedSession } from "../session.ts";
import { addList, addOtherList, everyPair, listOtherPairs } from "./pair-lists.ts";

/** Which pairs hold a document, by the service's own lists. Ids are those of documents, not stored ids. */
export interface Holders {
  isEmpty(): boolean;
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
async function refuseIgnoredPair(client: Client, signal: AbortSignal): Promise<void> {
  const { listDocuments } = await import("../../../api/listed-documents.ts");
  let isIgnored = false;
  try {
    for await (const ids of listDocuments(client, everyPair)) {
      signal.throwIfAborted();
      isIgnored = ids.length > 0;
      if (isIgnored) break;
    }
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

/**
 * Reads the list of all documents into temporary tables on disk. The lists of pairs are read when
 * they are needed, after it: what is stored meanwhile is then in the list of its pair. Throws
 * ApiError; then nothing is known.
 */
export async function createHolders(
  { connected, state, output }: Pick<ConnectedSession, "connected" | "state" | "output">,
  signal: AbortSignal,
): Promise<Holders> {
  const { client } = connected;
  const listed = createListedTable(state.database);
  await addList({ signal }, { connected }, listed, everyPair);
  const isEmpty = listed.count([everyPair]) === 0;
  const storedIdOf = client.dialect.storedId ?? ((id: string): string => id);
  // The lists are redacted: an id may contain a short secret of the profile.
  const storedId = (id: string): string => output.secrets.redact(storedIdOf(id));
  const known = new Set<number>();
  const readPair: Holders["readPair"] = async (pair) => {
    if (known.has(pair)) return;
    await addList({ signal }, { connected }, listed, pair);
    if (known.size === 0 && listed.count([pair]) > 0) await refuseIgnoredPair(client, signal);
    known.add(pair);
  };
  let others: Awaited<ReturnType<typeof listOtherPairs>> | undefined;
  let waiting: number[] = [];
  const namedPairs: number[] = [];
  const nextOther = async (): Promise<number | undefined> => {
    if (!others) {
      others = await listOtherPairs(client, everyPair);
      waiting = others.pairs.slice(0, mostNamed);
    }
    const pair = waiting.shift();
    if (pair === undefined) return undefined;
    if (!known.has(pair)) await addOtherList({ signal }, { connected }, listed, others, pair);
    namedPairs.push(pair);
    return pair;
  };
  return {
    isEmpty: () => isEmpty,
    isListed: (id) => !isEmpty && listed.has(everyPair, storedId(id)),
    readPair,
    async isIn(pair, id) {
      await readPair(pair);
      return listed.has(pair, storedId(id));
    },
    async holderOf(id, own) {
      const stored = storedId(id);
      const holds = (pair: number): boolean => pair !== own && listed.has(pair, stored);
      let found = namedPairs.find(holds);
      try {
        while (found === undefined) {
          const pair = await nextOther();
          if (pair === undefined) break;
          if (holds(pair)) found = pair;
        }
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        waiting = [];
      }
      const record = others?.records.find((each) => each.cc_pair_id === found);
      const name = record?.name ? ` (${neutraliseLine(record.name)})` : "";
      return found === undefined ? "another pair" : `pair ${found}${name}`;
    },
  };
}
