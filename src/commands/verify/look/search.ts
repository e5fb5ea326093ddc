import type { Client } from "../../../api/client.ts";
import { findChunk, findDocumentSize } from "../../../api/evidence.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import {
  compareText,
  type Comparison,
  type SentText,
} from "../../../checks/verify/compare-text.ts";
import type { Facts, Evidence } from "../../../checks/verify/decide.ts";
import { ApiError, CliError, messageOf } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import { storedIdsOf } from "../../../api/dialects.ts";
import { searchIndexed, searchKeyword, type FoundDocument } from "../../../api/search.ts";
import { rareQueries } from "../../../checks/verify/sample.ts";
import type { VersionTag } from "../expected/expected.ts";

/** What the index shows of one document. */
interface Look {
  facts: Pick<Facts, "chunks" | "text">;
  evidence: Evidence[];
  /** Only with a compared text. */
  comparison?: Comparison | undefined;
  /** Why a request failed, or why the text was not compared. */
  problem?: string | undefined;
}

export interface Reader {
  client: Client;
  gate: Gate;
  /** Whether the service has answered a look-up: a refusal then concerns one document. */
  hasAnswered?: boolean;
  /** Searches for versions that the service lacks or the key may not use. */
  refusedSearches?: Set<string>;
}

/** Whether an error concerns all documents: a missing endpoint, or a run that was stopped. */
function isFatal(error: unknown, { gate, hasAnswered }: Reader): boolean {
  if (!(error instanceof ApiError) || gate.state().stopped !== undefined) return true;
  if (error.status === 403 && !hasAnswered) return true;
  return error.status === 404 || error.status === 501 || error.status === 401;
}

/** The error of a look-up, as `not-found` where the service has no index to look into. */
export function unableError(error: unknown, more = ""): unknown {
  if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 501)) return error;
  const message = `the service cannot show what is indexed: ${error.message}${more}`;
  return new CliError("not-found", message, { hints: error.hints, cause: error });
}

const statusOf = (error: unknown): number | null =>
  error instanceof ApiError ? (error.status ?? null) : null;

/** The service counts no further: observed-service.md 11.2. */
const mostCounted = 10_000;

const lengthOf = ({ sections }: SentText): number =>
  sections.reduce((sum, each) => sum + each.length, 0);

/** Of all chunks of one document: a service may answer each of ten thousand slowly. */
const mostMs = 300_000;

async function readChunks(
  { client, gate }: Reader,
  storedId: string,
  sent: SentText,
  count: number,
): Promise<string[] | "slow" | undefined> {
  const chunks: string[] = [];
  const begun = performance.now();
  // A service may have an answer for every number: more chunks than characters prove nothing.
  const end = count >= mostCounted ? lengthOf(sent) : count;
  for (let number = 0; number < end; number++) {
    if (performance.now() - begun > mostMs) return "slow";
    const chunk = await findChunk(client, storedId, number, { gate });
    if (!chunk && number >= count) break;
    if (!chunk) return undefined;
    chunks.push(chunk.content);
  }
  return chunks;
}

const chunksAsked = (count: number): string =>
  `GET /document/chunk-info, chunk ${count === 1 ? "0" : `0 to ${count - 1}`}`;

function provedBy({ verdict, needs, firstLacking, foreign }: Comparison): string {
  const isPlain = Object.keys(needs).length === 0;
  return {
    same: isPlain
      ? "the index holds the text that was sent"
      : "the index holds the text that was sent, if the service cuts its texts so",
    other:
      firstLacking === ""
        ? "the index holds text that was not sent"
        : `the index lacks "${firstLacking}"`,
    more: `the index holds the text that was sent and ${foreign} letters and digits more`,
    unsure: "the index holds this text or one that resembles it",
  }[verdict];
}

/** Compares the chunks of a document that the index has. */
async function lookAtText(
  reader: Reader,
  storedId: string,
  sent: SentText,
  count: number,
): Promise<Look> {
  const request = chunksAsked(count);
  if (count >= mostCounted && lengthOf(sent) < count) {
    const problem = "the index counts more chunks than the text has characters";
    return { facts: { chunks: "some", text: "unread" }, evidence: [], problem };
  }
  try {
    const chunks = await readChunks(reader, storedId, sent, count);
    if (!chunks) {
      const proves = "the document changed while it was read";
      const facts: Look["facts"] = { chunks: "some", text: "unread" };
      return { facts, evidence: [{ request, status: 404, proves }], problem: proves };
    }
    if (chunks === "slow") {
      const problem = `the service did not return its chunks within ${mostMs / 60_000} minutes`;
      const proves = "nothing: it took too long";
      const facts: Look["facts"] = { chunks: "some", text: "unread" };
      return { facts, evidence: [{ request, status: 200, proves }], problem };
    }
    const comparison = compareText(sent, chunks);
    const evidence = [{ request, status: 200, proves: provedBy(comparison) }];
    return { facts: { chunks: "some", text: comparison.verdict }, evidence, comparison };
  } catch (error) {
    if (isFatal(error, reader) && statusOf(error) !== 404) throw error;
    const problem = messageOf(error);
    const evidence = [{ request, status: statusOf(error), proves: "nothing: it failed" }];
    return { facts: { chunks: "some", text: "unread" }, evidence, problem };
  }
}

const sizeAsked = "GET /document/document-size-info";

/**
 * Asks for the chunks of a document, and compares their text with `sent` if it is given. Throws
 * ApiError when the endpoint is missing, the key is refused, or the run was stopped.
 */
export async function lookAt(
  reader: Reader,
  storedId: string,
  sent: SentText | undefined,
): Promise<Look> {
  let size: { num_chunks: number } | undefined;
  try {
    size = await findDocumentSize(reader.client, storedId, { gate: reader.gate });
    reader.hasAnswered = true;
  } catch (error) {
    if (isFatal(error, reader)) throw unableError(error);
    const status = statusOf(error);
    const chunks = status === 403 ? "refused" : "failed";
    const proves = status === 403 ? "nothing: this key may not ask" : "nothing: it failed";
    const evidence = [{ request: sizeAsked, status, proves }];
    return { facts: { chunks }, evidence, problem: messageOf(error) };
  }
  if (!size || size.num_chunks === 0) {
    const proves = "this key sees no chunk of the document";
    const status = size ? 200 : 404;
    return { facts: { chunks: "none" }, evidence: [{ request: sizeAsked, status, proves }] };
  }
  const proves = `${countOf(size.num_chunks, "chunk")} in the index, for this key`;
  const evidence = [{ request: sizeAsked, status: 200, proves }];
  if (!sent) return { facts: { chunks: "some", text: "unasked" }, evidence };
  const text = await lookAtText(reader, storedId, sent, size.num_chunks);
  return { ...text, evidence: [...evidence, ...text.evidence] };
}

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
