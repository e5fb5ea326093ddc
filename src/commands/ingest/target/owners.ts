import type { State } from "../../../sync/state/state.ts";
import type { Secrets } from "../../../output/terminal/redact.ts";
import { judgeEach } from "./other-pairs.ts";
import type { Client } from "../../../api/client.ts";
import { ApiError, CliError, reworded } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { countOf, followCount } from "../../../output/terminal/progress.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { Pending } from "../../../sync/run/pending.ts";
import { createIsRecorded } from "../../../sync/run/run.ts";
import { mayHaveSent } from "../../../sync/run/run-failures.ts";
import { targetFor } from "../../../sync/state/target.ts";
import type { Session, UploadSession } from "../session.ts";
import { canListPairs, createServiceLists, everyPair } from "./service-lists.ts";

/** Which pairs hold a document, by the service's own lists. Ids are those of documents, not stored ids. */
interface Holders {
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
 * Reads the list of all documents. The lists of pairs are read when they are needed, after it: what
 * is stored meanwhile is then in the list of its pair. Throws ApiError; then nothing is known.
 */
async function createHolders(
  client: Client,
  state: State,
  secrets: Secrets,
  signal: AbortSignal,
): Promise<Holders> {
  const lists = createServiceLists(client, state, secrets, signal);
  const { listed, storedId } = lists;
  await lists.read(everyPair);
  const isEmpty = listed.count([everyPair]) === 0;
  let isProved = false;
  const readPair: Holders["readPair"] = async (pair) => {
    await lists.read(pair);
    if (!isProved && listed.count([pair]) > 0) await refuseIgnoredPair(client, signal);
    isProved = true;
  };
  let waiting: number[] | undefined;
  const namedPairs: number[] = [];
  const nextOther = async (): Promise<number | undefined> => {
    waiting ??= (await lists.findOthers(everyPair)).pairs.slice(0, mostNamed);
    const pair = waiting.shift();
    if (pair === undefined) return undefined;
    await lists.readOther(pair);
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
      return found === undefined ? "another pair" : lists.nameOf(found);
    },
  };
}

const idsShown = 5;

/** Counts ids and keeps the first five for a message. */
interface IdSample {
  add(id: string): void;
  count(): number;
  text(): string;
}

function createIdSample(): IdSample {
  const first: string[] = [];
  let count = 0;
  return {
    add(id) {
      if (++count <= idsShown) first.push(id);
    },
    count: () => count,
    text: () => neutraliseLine(first.join(", ") + (count > idsShown ? ", …" : "")),
  };
}

/**
 * Whose the documents are that have no record here: a service has one document per id for all
 * pairs, so an upload replaces what another pair has under the same id.
 */
export interface Owners {
  /** Requests the list of documents early, where the plan holds documents without a record. */
  begin(): void;
  /** Reads the lists if a document of the plan has no record. Throws ApiError where a list fails. */
  ready(plan: Plan): Promise<void>;
  /**
   * Fails the documents that stand under another pair alone, and marks those of the own pair as
   * adopted.
   */
  guard(pending: AsyncIterable<Pending[]>): AsyncIterable<Pending[]>;
  /** Prints one line about the adopted documents, if there are any. */
  tell(output: Output): Promise<void>;
}

interface OwnersRequest {
  /** False: documents of other pairs are replaced, and nothing is asked. */
  isAsked: boolean;
  /** False where the run keeps no record. */
  isKept: boolean;
  signal: AbortSignal;
}

/** The request of a command's flags. */
export function ownersOptions(
  { signal }: { signal: AbortSignal },
  { overwrite, state }: { overwrite?: boolean; state?: string | boolean },
): OwnersRequest {
  return { isAsked: overwrite !== true, isKept: state !== false, signal };
}

function refusal(
  { path, part, id }: { path: string; part: number; id: string },
  holder: string,
): string {
  const place = path === "" ? `stdin:${part}:1` : path;
  return `${place}: ${holder} has ${neutraliseLine(id)}, and no record here: another project sends it; use an --id-prefix of your own, or --overwrite to replace it`;
}

const foreignUnknown = "cannot tell whether other pairs have these documents";

/** Says how to send without the list that failed. */
function explainFailed(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const message = `${foreignUnknown}: ${error.message}`;
  const hint = "--overwrite sends without asking: it replaces what another pair has";
  return reworded(error, message, [...error.hints, hint]);
}

const isRefused = (error: unknown): boolean =>
  error instanceof ApiError && (error.exit === "auth" || error.exit === "not-found");

const refusedText =
  "the service does not let this key list its documents, so what other pairs have under the same ids is replaced: use an --id-prefix of your own, or a key that may list documents";

const canList = (client: Client): boolean =>
  client.dialect.paths.ingestedDocuments !== undefined && canListPairs(client);

/**
 * Turns the new documents of a dry plan that stand under another pair alone into failures: the
 * upload refuses them. Where the service or the key cannot list, it says so.
 */
export async function failForeign(
  { signal }: { signal: AbortSignal },
  { state, targets, output }: Session,
  client: Client,
  { table }: Plan,
): Promise<void> {
  if (!canList(client)) return;
  const isRecorded = createIsRecorded(state, targets);
  let holders: Holders | undefined;
  try {
    for (const entry of table.entries(["new"])) {
      const { id = "", ownPair } = entry;
      const target = targetFor(targets, ownPair);
      if (!target || isRecorded(id)) continue;
      holders ??= await createHolders(client, state, output.secrets, signal);
      if (!holders.isListed(id) || (await holders.isIn(target.ccPairId, id))) continue;
      const holder = await holders.holderOf(id, target.ccPairId);
      table.fail(entry, refusal({ ...entry, id }, holder));
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    signal.throwIfAborted();
    if (isRefused(error)) return await output.warn(refusedText);
    await output.note(`${foreignUnknown}: ${error.message}; the upload needs this list`);
  }
}

/** The service's lists, which one run reads once, also where it sends several groups of files. */
export interface DocumentLists {
  read(): Promise<Holders>;
  /** Whether the key may not read them: then nothing is asked any more. */
  isRefused: boolean;
}

/** Creates the lists in the state of a session that stays open for the whole run. */
export function createDocumentLists(
  { connected: { client }, state, output: { secrets } }: UploadSession,
  signal: AbortSignal,
): DocumentLists {
  let reading: Promise<Holders> | undefined;
  return {
    isRefused: false,
    read() {
      reading ??= createHolders(client, state, secrets, signal);
      // Awaited later; a rejection meanwhile must not count as unhandled.
      reading.catch(() => {});
      return reading;
    },
  };
}

/** Creates the owners of one upload. */
export function createOwners(
  session: UploadSession,
  { isAsked, isKept, signal }: OwnersRequest,
  lists = createDocumentLists(session, signal),
): Owners {
  const { state, targets, output, progress } = session;
  const { client } = session.connected;
  const isRecorded = createIsRecorded(state, targets);
  const adopted = createIdSample();
  const isOff = (): boolean => !isAsked || !canList(client) || lists.isRefused;
  let holders: Holders | undefined;

  /** Waits for the lists. False where the key may not read them: then nothing is asked any more. */
  const orRefused = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!isRefused(error)) throw explainFailed(error);
      lists.isRefused = true;
      await progress.stop();
      await output.warn(refusedText);
      return false;
    }
  };
  const open = (): Promise<boolean> => orRefused(async () => void (holders ??= await lists.read()));
  const hasUnrecorded = ({ table }: Plan, isWanted: (id: string) => boolean): boolean => {
    for (const { id = "" } of table.entries(["new"])) {
      if (isWanted(id) && !isRecorded(id)) return true;
    }
    return false;
  };
  const judge = async (each: Pending): Promise<Pending> => {
    const { prepared } = each;
    if (prepared.kind !== "document") return each;
    const { path, part, id, ownPair } = prepared;
    if (holders && !holders.isListed(id)) return each;
    const target = targetFor(targets, ownPair);
    if (!target || isRecorded(id) || isOff()) return each;
    if (!holders && !(await open())) return each;
    if (!holders?.isListed(id)) return each;
    let isOwn = false;
    const isKnown = await orRefused(async () => {
      isOwn = (await holders?.isIn(target.ccPairId, id)) === true;
    });
    if (!isKnown) return each;
    if (!isOwn) {
      const reason = refusal(prepared, await holders.holderOf(id, target.ccPairId));
      return { ...each, prepared: { kind: "failed", path, part, id, reason } };
    }
    if (mayHaveSent(state, targets, prepared)) return each;
    adopted.add(id);
    return { ...each, isAdopted: true };
  };
  const needsLook = ({ prepared }: Pending): boolean =>
    prepared.kind === "document" && holders?.isListed(prepared.id) !== false;

  return {
    begin() {
      if (!isOff()) lists.read().catch(() => {});
    },
    async ready(plan) {
      if (isOff() || plan.table.count("new") === 0) return;
      if (!hasUnrecorded(plan, () => true)) return;
      const phase = "waiting for the list of the service's documents,";
      followCount(progress, phase, () => 0);
      if (!(await open())) return;
      const { isListed = () => false } = holders ?? {};
      if (holders?.isEmpty() || !hasUnrecorded(plan, isListed)) return;
      // All lists before the first document: a list that fails must fail the whole run.
      const pairs = [...plan.pairs].filter((each) => each !== undefined && each !== everyPair);
      await orRefused(async () => {
        for (const pair of pairs) await holders?.readPair(pair as number);
      });
    },
    guard: (pending) => judgeEach(pending, (each) => !isOff() && needsLook(each), judge),
    async tell({ note }) {
      const count = adopted.count();
      if (count === 0 || !isKept) return;
      await note(
        `the pair already had ${countOf(count, "document")} without a record here (${adopted.text()}): adopted, as after a lost state`,
      );
    },
  };
}
