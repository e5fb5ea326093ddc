import * as z from "zod/mini";
import type { SearchDoc } from "../../api/chat-schemas.ts";
import { noAccessToSets } from "../chat/request.ts";
import { streamOf } from "../chat/packets.ts";
import type { App, Call } from "../http/call.ts";
import {
  OnyxFilters,
  Tags,
  tagsOf,
  toFilters,
  bodyOf,
  laxBoolean,
  laxInteger,
  laxNumber,
  laxTime,
  maybe,
  problem,
  sourceName,
} from "../http/validation.ts";
import type { Service } from "../service.ts";
import { offsetTime, zuluTime } from "../store/documents.ts";
import {
  filterPassages,
  type Filters,
  type Hit,
  questionTerms,
  searchPassages,
  toSearchDoc,
} from "../store/index/search.ts";

const text = z.string();

/** The pairs of document sets; undefined for no set, and nothing for an unknown one. */
function pairsOf({ documentSets }: Service, c: Call, names: readonly string[] | null | undefined) {
  if (!names || names.length === 0) return undefined;
  return names.flatMap((name) => documentSets.pairsOf(name, c.env.caller) ?? []);
}

/** The refusal of document sets that the caller does not see; undefined if it sees all. */
function refusedSets({ documentSets }: Service, c: Call, names: readonly string[] = []) {
  const unknown = names.find((name) => !documentSets.pairsOf(name, c.env.caller));
  return unknown === undefined ? undefined : noAccessToSets([unknown]);
}

const denied = (words: string) => problem("onyx", 403, "INSUFFICIENT_PERMISSIONS", words);

const SearchBody = z
  .looseObject({
    query: text.check(z.minLength(1), z.maxLength(2048)),
    persona_id: maybe(laxInteger),
    provider: maybe(text),
    model: maybe(text),
    skip_query_expansion: z._default(laxBoolean, false),
    message_history: maybe(
      z.array(
        z.looseObject({
          message: text,
          message_type: z.enum(["system", "user", "assistant", "tool_call", "tool_call_response"]),
        }),
      ),
    ),
    sources: maybe(z.array(sourceName)),
    document_sets: maybe(z.array(text)),
    time_cutoff: maybe(laxTime),
    tags: Tags,
  })
  .check(
    z.refine(({ provider, model }) => !provider === !model, {
      error: "provider and model go together",
    }),
  );

/** Model calls of the real service: observed-service.md 11.3. */
function modelCallsOf(skipsExpansion: boolean, sources: number, sections: number): number {
  const decisions = (skipsExpansion ? 0 : 2) + 1 + Number(sources > 1);
  return decisions + (sections === 0 ? 0 : 1 + Math.min(sections, 10));
}

/** Search through a language model: observed-service.md 11.3. */
function search(service: Service, c: Call): Response {
  const { database, models, pairs, ledger, viewOf } = service;
  const body = bodyOf(c, SearchBody);
  if (body.persona_id) throw problem("onyx", 404, "PERSONA_NOT_FOUND", "Agent not found");
  if (body.provider && !Object.hasOwn(models, body.provider)) {
    throw problem("onyx", 404, "NOT_FOUND", "Provider not found");
  }
  const refused = refusedSets(service, c, body.document_sets ?? []);
  if (refused !== undefined) throw denied(refused);
  const filters: Filters = {
    sources: body.sources ?? undefined,
    pairs: body.document_sets ? (pairsOf(service, c, body.document_sets) ?? []) : undefined,
    updatedFrom: body.time_cutoff?.ms,
    tags: tagsOf(body.tags),
    anyTag: true,
    view: viewOf(c.env.caller),
  };
  const hits = searchPassages(database, questionTerms(body.query), filters, 20);
  const sources = new Set(pairs.records.map(({ connector }) => connector.source)).size;
  ledger.spent(modelCallsOf(body.skip_query_expansion, sources, hits.length), c.env.entry);
  const ids = [...new Set(hits.map(({ document }) => document.id))];
  const results = hits.map(({ document, link, text: content }) => ({
    citation_id: ids.indexOf(document.id) + 1,
    title: document.name,
    content,
    link: link ?? document.link,
    source_type: document.source,
    updated_at: offsetTime(document.updatedAt),
  }));
  return c.json({ results });
}

/** The words of the query in the text, with some text around the first one. */
function highlightsOf({ text }: Hit, terms: readonly string[]): string[] {
  const pattern = terms.map((term) => term.replace(/[^\p{L}\p{N}]/gu, "")).filter(Boolean);
  if (pattern.length === 0) return [];
  const word = new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern.join("|")})`, "giu");
  const at = text.search(word);
  if (at < 0) return [];
  const around = text.slice(Math.max(0, at - 60), at + 140).replace(/\s+/g, " ");
  return [around.replace(word, "<hi>$&</hi>")];
}

/** A hit in the form of the two searches, which number chunks from 0 in each document. */
function toFound(
  { chunks }: Service,
  hit: Hit,
  terms: readonly string[],
  time: (ms: number) => string,
): { doc: SearchDoc; content: string } {
  const { index, chunk } = chunks.indexOf(hit.number);
  const match_highlights = highlightsOf(hit, terms);
  return {
    doc: { ...toSearchDoc(hit, time), chunk_ind: index, match_highlights },
    content: chunk.content,
  };
}

const AdminBody = z.looseObject({ query: text, filters: OnyxFilters });

/** Search by keywords and filters alone, hidden documents included: observed-service.md 11.2. */
function adminSearch(service: Service, c: Call): Response {
  const { query, filters: body } = bodyOf(c, AdminBody);
  const isBlank = query.trim() === "";
  const terms = isBlank ? [] : questionTerms(query);
  const filters: Filters = {
    ...toFilters(body),
    pairs: pairsOf(service, c, body.document_set),
    view: { ...service.viewOf(c.env.caller), hidden: !isBlank },
  };
  const hits = isBlank
    ? filterPassages(service.database, filters, 10)
    : searchPassages(service.database, terms, filters, 50);
  const best = new Map<string, Hit>();
  for (const hit of hits) if (!best.has(hit.document.id)) best.set(hit.document.id, hit);
  const inSeconds = (ms: number): string => zuluTime(Math.floor(ms / 1000) * 1000);
  return c.json({
    documents: [...best.values()].map((hit) => toFound(service, hit, terms, inSeconds).doc),
  });
}

const MessageBody = z.looseObject({
  search_query: text,
  filters: maybe(OnyxFilters),
  num_hits: z._default(laxInteger, 30),
  hybrid_alpha: maybe(laxNumber),
  include_content: z._default(laxBoolean, false),
  stream: z._default(laxBoolean, false),
  run_query_expansion: z._default(laxBoolean, false),
  num_docs_fed_to_llm_selection: maybe(laxInteger),
});

interface MessageReply {
  all_executed_queries: string[];
  search_docs: (SearchDoc & { content: string | null })[];
  doc_selection_reasoning: null;
  llm_selected_doc_ids: string[] | null;
  error: string | null;
}

const noReply: MessageReply = {
  all_executed_queries: [],
  search_docs: [],
  doc_selection_reasoning: null,
  llm_selected_doc_ids: null,
  error: null,
};

function streamed(reply: MessageReply): Response {
  const { all_executed_queries, search_docs, llm_selected_doc_ids, error } = reply;
  const lines =
    error === null
      ? [
          { type: "search_queries", all_executed_queries },
          { type: "search_docs", search_docs },
          ...(llm_selected_doc_ids ? [{ type: "llm_selected_docs", llm_selected_doc_ids }] : []),
        ]
      : [{ type: "search_error", error }];
  async function* texts(): AsyncGenerator<string> {
    for (const line of lines) yield `${JSON.stringify(line)}\n`;
  }
  return streamOf(texts());
}

/** Search without a language model, unless one is asked for: observed-service.md 11.3. */
function searchMessage(service: Service, c: Call): Response {
  const body = bodyOf(c, MessageBody);
  const { search_query: query, num_hits, stream, include_content } = body;
  const reply = (value: MessageReply): Response => (stream ? streamed(value) : c.json(value));
  const sets = body.filters?.document_set ?? [];
  const refused = refusedSets(service, c, sets);
  if (refused !== undefined) {
    if (stream) return reply({ ...noReply, error: refused });
    throw denied(refused);
  }
  if (num_hits > 10_000) return reply({ ...noReply, error: "num_hits is too large" });
  const filters: Filters = {
    ...toFilters(body.filters ?? {}),
    pairs: pairsOf(service, c, sets),
    view: service.viewOf(c.env.caller),
  };
  const terms = questionTerms(query);
  const hits = searchPassages(service.database, terms, filters, Math.max(0, num_hits));
  const docs = hits.map((hit) => {
    const { doc, content } = toFound(service, hit, terms, stream ? offsetTime : zuluTime);
    return { ...doc, content: include_content ? content : null };
  });
  const chosen = body.num_docs_fed_to_llm_selection ?? 0;
  const selects = chosen > 0 && docs.length > 0;
  service.ledger.spent(Number(body.run_query_expansion) + Number(selects), c.env.entry);
  const selected = [...new Set(docs.slice(0, chosen).map((doc) => doc.document_id))];
  return reply({
    ...noReply,
    all_executed_queries: [query],
    search_docs: docs,
    llm_selected_doc_ids: selects ? selected : null,
  });
}

/** Searches without chat, in `onyx`: observed-service.md 11.2 and 11.3. */
export function searchRoutes(app: App, service: Service): void {
  const post = (path: string, handle: (service: Service, c: Call) => Response): void => {
    app.post(path, (c) => {
      const response = handle(service, c);
      service.chunks.searched();
      return response;
    });
  };
  post("/api/search", search);
  post("/api/search/send-search-message", searchMessage);
  post("/api/admin/search", adminSearch);
}
