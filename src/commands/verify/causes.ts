import { findAccount, listGroups } from "../../api/account.ts";
import type { Client } from "../../api/client.ts";
import type { Gate } from "../../api/retry/gate.ts";
import { listConnectors } from "../../api/connectors.ts";
import { findDocumentSize } from "../../api/evidence.ts";
import { listDocuments } from "../../api/listed-documents.ts";
import type { ConnectorStatus } from "../../api/schemas.ts";
import { type FoundDocument, searchKeyword } from "../../api/search.ts";
import type { Facts, Evidence } from "../../checks/verify/decide.ts";
import { rareWords } from "../../checks/verify/sample.ts";
import { ApiError, CliError } from "../../errors.ts";
import type { Expected, KnownText } from "./expected/expected.ts";

/** A document of which a key sees no chunk. */
export interface Lost {
  document: Expected;
  facts: Facts;
  evidence: Evidence[];
  /** Loads the text for the keyword search. */
  text: KnownText | undefined;
}

export interface CauseRequest {
  /** The profile's own client: it lists and searches. */
  own: Client;
  /** The client of the reader, whose access counts. */
  reader: Client;
  gate: Gate;
  /** Most keyword searches of this run, and look-ups of what they find. */
  mostSearches: number;
}

/** The value, or the status of a refused or failing request. An abort passes. */
async function asked<T>(work: () => Promise<T>): Promise<{ value?: T; status: number | null }> {
  try {
    return { value: await work(), status: 200 };
  } catch (error) {
    if (error instanceof ApiError) return { status: error.status ?? null };
    // The dialect has no such endpoint.
    if (error instanceof CliError && error.exit === "not-found") return { status: null };
    throw error;
  }
}

const cannotTell = (status: number | null): string =>
  status === 403 ? "nothing: this key may not ask" : "nothing: it failed";

/** Responses are redacted: an id may contain a secret of the profile. */
const idInResponses = ({ secrets }: Client, { storedId }: Expected): string =>
  secrets.redact(storedId);

/** The wanted ids in a listing, which may be far longer. */
async function listedAmong(
  wanted: ReadonlySet<string>,
  listing: AsyncIterable<string[]>,
): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const ids of listing) for (const id of ids) if (wanted.has(id)) found.add(id);
  return found;
}

/** Finds the lost documents in the service's lists, and the pairs that hold them. */
async function findRows(
  lost: readonly Lost[],
  { own }: CauseRequest,
  privatePairs: () => Promise<number[]>,
): Promise<Map<Lost, number[]>> {
  const wanted = new Set(lost.map(({ document }) => idInResponses(own, document)));
  const holders = new Map<Lost, number[]>();
  const listings = new Map<number, { value?: Set<string>; status: number | null }>();
  const listed = async (pair: number) => {
    let found = listings.get(pair);
    if (!found) {
      found = await asked(() => listedAmong(wanted, listDocuments(own, pair)));
      listings.set(pair, found);
    }
    return found;
  };
  let all: { value?: Set<string>; status: number | null } | undefined;
  for (const each of lost) {
    const { document, facts, evidence } = each;
    const { ccPairId } = document;
    const storedId = idInResponses(own, document);
    if (ccPairId !== undefined) {
      const { value, status } = await listed(ccPairId);
      const isListed = value?.has(storedId) === true;
      const proves = isListed ? "the service has a row of it" : "the pair has no row of it";
      const request = `GET /onyx-api/connector-docs/${ccPairId}`;
      evidence.push({ request, status, proves: value ? proves : cannotTell(status) });
      facts.list = isListed ? "in this pair" : value ? "no" : "unavailable";
      if (isListed) holders.set(each, [ccPairId]);
      if (isListed) continue;
    }
    all ??= await asked(() => listedAmong(wanted, listDocuments(own, undefined)));
    const isThere = all.value?.has(storedId) === true;
    // Where the pair's own list failed, the row may be in this pair.
    const wasRead = facts.list === "no";
    const row = wasRead ? "a row of it is in another pair" : "a row of it is in some pair";
    const proves = isThere ? row : "no pair has a row of it";
    const request = "GET /onyx-api/ingestion";
    evidence.push({
      request,
      status: all.status,
      proves: all.value ? proves : cannotTell(all.status),
    });
    facts.list = isThere ? "in another pair" : all.value ? "no" : "unavailable";
    if (!isThere) continue;
    for (const pair of await privatePairs()) {
      if ((await listed(pair)).value?.has(storedId)) {
        holders.set(each, [...(holders.get(each) ?? []), pair]);
      }
    }
  }
  return holders;
}

/** Decides whether the reader may read a pair: observed-service.md 11.1. */
function createAccess({ reader }: CauseRequest, records: readonly ConnectorStatus[]) {
  let account: Promise<{ value?: Awaited<ReturnType<typeof findAccount>> }> | undefined;
  let ownGroups: Promise<{ value?: number[] | undefined; status: number | null }> | undefined;
  /** Whether the reader may be in one of the groups. Only Enterprise has groups. */
  const mayBeIn = async (groups: readonly number[]): Promise<boolean> => {
    if (groups.length === 0) return false;
    ownGroups ??= asked(() => listGroups(reader));
    const { value, status } = await ownGroups;
    if (status === 404) return false;
    return value === undefined || groups.some((each) => value.includes(each));
  };
  return async (pair: number | undefined): Promise<NonNullable<Facts["access"]>> => {
    const record = records.find(({ cc_pair_id: id }) => id !== null && id === pair);
    if (record?.access_type === "public") return "yes";
    if (record?.access_type !== "private") return "unknown";
    account ??= asked(() => findAccount(reader));
    const { value } = await account;
    const { credential, groups } = record;
    if (!value || !credential) return "unknown";
    const isOwner =
      value.id === credential.user_id ||
      (typeof value.email === "string" && value.email === credential.user_email);
    if (isOwner) return "yes";
    const hasOwner =
      typeof credential.user_id === "string" || typeof credential.user_email === "string";
    return hasOwner && groups && !(await mayBeIn(groups)) ? "no" : "unknown";
  };
}

/** A search of administrators returns the documents of so many chunks. */
const chunksFound = 50;

/**
 * The administrators' search also finds hidden documents, if the key may see them. Its hits are cut
 * by chunks, of which one document has many: a document is proved not to be there only by a search
 * without any hit, or whose hits have fewer chunks together.
 */
function createHiddenSearch({ own, gate, mostSearches }: CauseRequest) {
  let requests = 0;
  let isRefused = false;
  const maySend = (): boolean => !isRefused && requests < mostSearches;
  const hasAllHits = async (hits: readonly FoundDocument[]): Promise<boolean> => {
    let chunks = 0;
    for (const { document_id: id } of hits) {
      if (!maySend() || chunks + hits.length >= chunksFound) return false;
      requests++;
      const { value } = await asked(() => findDocumentSize(own, id, { gate }));
      if (!value) return false;
      chunks += value.num_chunks;
    }
    return chunks < chunksFound;
  };
  const search = async (storedId: string, query: string) => {
    requests++;
    const { value, status } = await asked(() => searchKeyword(own, { query }, { gate }));
    isRefused = status === 403 || status === null || status === 404;
    const hit = value?.find((each) => each.document_id === storedId);
    const missed = value && !hit && (await hasAllHits(value)) ? "not found" : "unavailable";
    const found = hit ? (hit.hidden === false ? "visible" : "found") : missed;
    const proves = {
      visible: "it is in the index by now, and not hidden",
      found: "it is in the index, hidden from everybody",
      "not found":
        value?.length === 0
          ? "no document has this word, hidden or not"
          : "only other documents have this word, hidden or not",
      unavailable: value ? "nothing: many other chunks have the word" : cannotTell(status),
    }[found];
    return {
      found,
      evidence: { request: `POST /admin/search "${query}"`, status, proves },
    } as const;
  };
  return async ({ document, text, facts, evidence }: Lost): Promise<void> => {
    facts.search = "unavailable";
    const sent = text && "sent" in text ? text.sent : undefined;
    for (const query of rareWords(sent?.titles[0] ?? "", sent?.sections ?? [])) {
      if (!maySend() || facts.search !== "unavailable") return;
      const result = await search(idInResponses(own, document), query);
      facts.search = result.found;
      evidence.push(result.evidence);
    }
  };
}

/**
 * Adds to lost documents what tells the causes apart: rows in the service's lists, the access type
 * of their pairs, and hidden documents. One request per list, at most one search per document.
 */
export async function findCauses(lost: readonly Lost[], request: CauseRequest): Promise<void> {
  const open = lost.filter(({ facts }) => facts.ownKey !== "some");
  if (open.length === 0) return;
  let listing: Promise<{ value?: ConnectorStatus[]; status: number | null }> | undefined;
  const records = async (): Promise<ConnectorStatus[]> =>
    (await (listing ??= asked(() => listConnectors(request.own)))).value ?? [];
  const privatePairs = async (): Promise<number[]> =>
    (await records()).flatMap(({ cc_pair_id: id, access_type: type }) =>
      id !== null && type === "private" ? [id] : [],
    );
  const holders = await findRows(open, request, privatePairs);
  const accessTo = createAccess(request, await records());
  const searchHidden = createHiddenSearch(request);
  for (const each of open) {
    const { facts, evidence, document } = each;
    if (facts.list === "no") continue;
    const pairs = holders.get(each) ?? [document.ccPairId];
    const access = await Promise.all(pairs.map(accessTo));
    facts.access = access.includes("yes") ? "yes" : access.includes("unknown") ? "unknown" : "no";
    const proves = {
      yes: "this reader may read the pair",
      no: "the pair is private, and this reader is neither its owner nor in its groups",
      unknown: "nothing: who may read the pair is unknown",
    }[facts.access];
    evidence.push({
      request: "GET /manage/admin/connector/status",
      status: (await listing)?.status ?? null,
      proves,
    });
    if (facts.access !== "no") await searchHidden(each);
  }
}
