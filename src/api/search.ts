/** The searches of the service beside chat: observed-service.md 11.2 and 11.3. */
import * as z from "zod/mini";
import { catch as orElse } from "zod/mini";
import { ApiError, CliError } from "../errors.ts";
import type { Shape } from "./answers/words.ts";
import { callTo, type Call } from "./call.ts";
import { type FilterParameters, searchFilters } from "./chat/chat-body.ts";
import type { Client } from "./client.ts";

export interface SearchQuery extends FilterParameters {
  query: string;
  /** Most sections to ask for; one document has several. */
  sections?: number;
  /** Of the indexed search: compare words only, without an embedding. */
  wordsOnly?: boolean;
}

type SearchOptions = Pick<Call, "gate" | "onHeld">;

const optionalText = z.optional(z.nullable(z.string()));
const shownTexts = orElse(z.optional(z.nullable(z.array(z.string()))), null);
const shownNumber = orElse(z.optional(z.nullable(z.number())), null);

const FoundDocument = z.looseObject({
  document_id: z.string(),
  semantic_identifier: optionalText,
  link: optionalText,
  blurb: optionalText,
  source_type: optionalText,
  updated_at: optionalText,
  score: shownNumber,
  chunk_ind: shownNumber,
  hidden: orElse(z.optional(z.nullable(z.boolean())), null),
  match_highlights: shownTexts,
  content: optionalText,
  metadata: orElse(z.optional(z.nullable(z.record(z.string(), z.unknown()))), null),
});
/** A section that was found; sections of one document follow each other by rank, not by document. */
export type FoundDocument = z.infer<typeof FoundDocument>;

const FoundSection = z.looseObject({
  citation_id: z.optional(z.nullable(z.int())),
  title: optionalText,
  content: optionalText,
  link: optionalText,
  source_type: optionalText,
  updated_at: optionalText,
});
/** A section of the assisted search, which names no document id. */
export type FoundSection = z.infer<typeof FoundSection>;

const MessageReply = z.looseObject({ search_docs: z.array(FoundDocument), error: optionalText });
const AdminReply = z.looseObject({ documents: z.array(FoundDocument), error: optionalText });
const AssistedReply = z.looseObject({ results: z.array(FoundSection), error: optionalText });

/** Throws ApiError, `server-error` for an error under status 200. */
async function post<T extends { error?: string | null | undefined }>(
  client: Client,
  path: string | undefined,
  body: object,
  shape: Shape<T>,
  more: Pick<Call, "policy" | "gate" | "onHeld">,
): Promise<T> {
  if (path === undefined) {
    throw new CliError("not-found", `the ${client.dialect.name} dialect has no such search`);
  }
  const reply = await client.call({ ...callTo("search", "POST", path, body), ...more }, shape);
  if (typeof reply.error !== "string") return reply;
  throw new ApiError("server-error", `search failed: ${reply.error || "no reason given"}`, {
    method: "POST",
    url: client.url(path),
    status: 200,
  });
}

/**
 * Searches the index without a language model (Enterprise). Throws ApiError, and CliError
 * `not-found` where the dialect has no such search.
 */
export async function searchIndexed(
  client: Client,
  { query, sections = 30, wordsOnly = false, ...filters }: SearchQuery,
  options: SearchOptions = {},
): Promise<FoundDocument[]> {
  const path = client.dialect.paths.indexedSearch;
  const body = {
    search_query: query,
    filters: searchFilters(filters, client.dialect) ?? null,
    num_hits: sections,
    stream: false,
    ...(wordsOnly && { hybrid_alpha: 0 }),
  };
  const more = { policy: "lookUp", ...options } as const;
  return (await post(client, path, body, MessageReply, more)).search_docs;
}

/**
 * The administrators' search: keywords in title and text, hidden documents included, at most 50
 * sections. An empty query returns ten documents that match the filters. Throws ApiError, and
 * CliError `not-found` where the dialect has no such search.
 */
export async function searchKeyword(
  client: Client,
  { query, sections: _sections, ...filters }: SearchQuery,
  options: SearchOptions = {},
): Promise<FoundDocument[]> {
  const body = { query, filters: searchFilters(filters, client.dialect) ?? {} };
  const path = client.dialect.paths.keywordSearch;
  return (await post(client, path, body, AdminReply, { policy: "lookUp", ...options })).documents;
}

/** Most model calls of one assisted search. */
export const assistedCalls = 15;

/**
 * Searches with language models: up to `assistedCalls` calls, so never sent a second time once
 * the service may have received it. Throws ApiError, and CliError `not-found` where the dialect
 * has no such search.
 */
export async function searchAssisted(
  client: Client,
  query: Omit<SearchQuery, "sections">,
  options: SearchOptions = {},
): Promise<FoundSection[]> {
  const { source_type, document_set, ...filters } = searchFilters(query, client.dialect) ?? {};
  const body = {
    query: query.query,
    ...filters,
    ...(source_type ? { sources: source_type } : {}),
    ...(document_set ? { document_sets: document_set } : {}),
  };
  const path = client.dialect.paths.assistedSearch;
  return (await post(client, path, body, AssistedReply, { policy: "chatWhole", ...options }))
    .results;
}
