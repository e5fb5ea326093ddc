import type { Client } from "../../../api/client.ts";
import { storedIdsOf } from "../../../api/dialects.ts";
import { searchIndexed, searchKeyword, type FoundDocument } from "../../../api/search.ts";
import type { SentText } from "../../../checks/verify/compare-text.ts";
import { rareQueries } from "../../../checks/verify/rare-words.ts";
import { ApiError, CliError } from "../../../errors.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import type { Look, Reader } from "./look.ts";
import type { VersionTag } from "../expected/expected.ts";

/** A search in place of the look-ups: for a service or a key that has none. */
export type SearchWay = "indexed" | "keyword" | "chat";

/** A document further down counts as not found. */
const firstPlaces = 10;

/** Requests as the evidence names them. */
const requests: Record<SearchWay, string> = {
  indexed: "POST /search/send-search-message",
  keyword: "POST /admin/search",
  chat: "POST /chat/send-chat-message",
};

async function idsFor(
  client: Client,
  way: SearchWay,
  query: string,
  gate: Gate,
): Promise<(string | null)[]> {
  if (way === "indexed") {
    return (await searchIndexed(client, { query }, { gate })).map((each) => each.document_id);
  }
  if (way === "keyword") {
    const found = await searchKeyword(client, { query }, { gate });
    // A hidden document is found here, and by nobody else.
    return found.filter(({ hidden }) => hidden !== true).map((each) => each.document_id);
  }
  const { findByChat } = await import("../../search/chat-way.ts");
  return (await findByChat(client, { query }, gate)).map(({ id }) => id);
}

/**
 * Looks for rare words of a document. Finding it proves that it is indexed, in some version; not
 * finding it proves nothing. Throws ApiError when the search is missing or refused.
 */
export async function findBySearch(
  { client, gate }: { client: Client; gate: Gate },
  { id, storedId }: { id: string; storedId: string },
  sent: SentText | undefined,
  { way, depth }: { way: SearchWay; depth: "text" | "exists" },
): Promise<Look> {
  const title = sent?.titles[0] ?? "";
  const [words = ""] = rareQueries(title, sent?.sections ?? []);
  if (words === "") {
    const problem = "its words are not known, so no search can find it";
    return { facts: { chunks: "failed" }, evidence: [], problem };
  }
  const query = `${title} ${words}`.trim();
  const request = `${requests[way]} "${query}"`;
  try {
    const found = [...new Set(await idsFor(client, way, query, gate))].slice(0, firstPlaces);
    // Responses are redacted: an id may contain a secret of the profile.
    const ids = [storedId, ...storedIdsOf(client.dialect.name, id)];
    const isFound = ids.some((each) => found.includes(client.secrets.redact(each)));
    const proves = isFound ? "it is indexed and found, in some version" : "nothing";
    const evidence = [{ request, status: 200, proves }];
    if (!isFound) {
      const problem = `not among the first ${firstPlaces} documents of ${way}: this proves nothing`;
      return { facts: { chunks: "failed" }, evidence, problem };
    }
    const problem = `found by ${way}; its text was not compared`;
    const text = depth === "text" ? "unread" : "unasked";
    return { facts: { chunks: "some", text }, evidence, problem };
  } catch (error) {
    const isRefused =
      !(error instanceof ApiError) || [401, 403, 404, 501].includes(error.status ?? 0);
    if (isRefused && !(error instanceof CliError && error.exit === "incomplete")) throw error;
    const status = error instanceof ApiError ? (error.status ?? null) : null;
    const evidence = [{ request, status, proves: "nothing: it failed" }];
    const problem = error instanceof Error ? error.message : String(error);
    return { facts: { chunks: "failed" }, evidence, problem };
  }
}

/** Statuses after which no other document is looked up in this way. */
const refusals = [401, 403, 404, 405, 501];

/** A free search that filters by metadata: observed-service.md 11.6. Best first. */
interface VersionSearch {
  request: string;
  isOffered(client: Client): boolean;
  /** The documents with this version, if the service heeds the filter. */
  find(reader: Reader, version: VersionTag, words: string): Promise<FoundDocument[]>;
}

const searches: readonly VersionSearch[] = [
  {
    request: "POST /admin/search",
    isOffered: ({ dialect }) => dialect.paths.keywordSearch !== undefined,
    async find({ client, gate }, { key, value }) {
      const found = await searchKeyword(client, { query: "", tags: [[key, value]] }, { gate });
      // Hidden from everybody but administrators: the other evidence says so.
      return found.filter(({ hidden }) => hidden !== true);
    },
  },
  {
    request: "POST /search/send-search-message",
    isOffered: ({ dialect }) => dialect.paths.indexedSearch !== undefined,
    async find({ client, gate }, { key, value }, words) {
      const query = { query: words, tags: [[key, value]] as [string, string][], wordsOnly: true };
      return await searchIndexed(client, query, { gate });
    },
  },
];

/** Whether a hit carries the version in its own metadata: a service may ignore the filter. */
function carries({ metadata }: FoundDocument, { key, value }: VersionTag): boolean {
  const own = metadata && Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  return [own].flat().includes(value);
}

/** What hits say: undefined where the service ignores the filter, so that none of them counts. */
function judgeHits(
  hits: readonly FoundDocument[],
  ids: readonly string[],
  version: VersionTag,
): "found" | "not found" | undefined {
  const own = hits.filter((each) => ids.includes(each.document_id));
  if (own.some((each) => carries(each, version))) return "found";
  const isOlder = own.some(({ metadata }) => metadata && Object.hasOwn(metadata, version.key));
  const isFiltered = hits.every((each) => carries(each, version));
  return isOlder || isFiltered ? "not found" : undefined;
}

/**
 * Looks up a document by the version in its metadata: a hit proves text and metadata together.
 * Undefined if every search fails, is not allowed, or ignores the version.
 */
export async function findByVersion(
  reader: Reader,
  { id, storedId }: { id: string; storedId: string },
  { key, value }: VersionTag,
  sent: SentText,
): Promise<Look | "not found" | undefined> {
  const { client, gate } = reader;
  const words = rareQueries(sent.titles[0] ?? "", sent.sections)[0] ?? "";
  const refused = (reader.refusedSearches ??= new Set());
  for (const search of searches) {
    if (refused.has(search.request) || !search.isOffered(client)) continue;
    try {
      const found = await search.find(reader, { key, value }, words);
      reader.hasAnswered = true;
      // Responses are redacted: an id may contain a secret of the profile.
      const ids = [storedId, id].map((each) => client.secrets.redact(each));
      const judged = judgeHits(found, ids, { key, value });
      if (judged !== "found") return judged;
      const request = `${search.request}, tag ${key}=${value}`;
      const proves = "the index holds the text and the metadata that were sent";
      const facts = { chunks: "some", text: "same" } as const;
      return { facts, evidence: [{ request, status: 200, proves }] };
    } catch (error) {
      if (!(error instanceof ApiError) || gate.state().stopped !== undefined) throw error;
      if (!refusals.includes(error.status ?? 0)) return undefined;
      refused.add(search.request);
    }
  }
  return undefined;
}
