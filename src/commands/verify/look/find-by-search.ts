import type { Client } from "../../../api/client.ts";
import { storedIdsOf } from "../../../api/dialects.ts";
import { searchIndexed, searchKeyword } from "../../../api/search.ts";
import type { SentText } from "../../../checks/verify/compare-text.ts";
import { rareQueries } from "../../../checks/verify/rare-words.ts";
import { ApiError, CliError } from "../../../errors.ts";
import type { Gate } from "../../../api/retry/gate.ts";
import type { Look } from "./look.ts";

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
