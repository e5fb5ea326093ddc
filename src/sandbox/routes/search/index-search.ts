import { noAccessToSets } from "../../chat/chat-setup.ts";
import * as z from "zod/mini";
import type { SearchDoc } from "../../../api/chat-schemas.ts";
import type { Call } from "../../http/call.ts";
import { OnyxFilters, toFilters } from "../../http/filters.ts";
import { json, problem, type Reply } from "../../http/reply.ts";
import { laxBoolean, laxInteger, laxNumber, parseBody } from "../../http/validation.ts";
import type { Caller } from "../../store/access.ts";
import { offsetTime, zuluTime } from "../../store/identity.ts";
import {
  filterPassages,
  type Filters,
  type Hit,
  questionTerms,
  searchPassages,
  toSearchDoc,
} from "../../store/index/search.ts";
import type { SearchOptions } from "./search-options.ts";

const AdminBody = z.looseObject({ query: z.string(), filters: OnyxFilters });

const MessageBody = z.looseObject({
  search_query: z.string(),
  filters: z.optional(z.nullable(OnyxFilters)),
  num_hits: z._default(laxInteger, 30),
  hybrid_alpha: z.optional(z.nullable(laxNumber)),
  include_content: z._default(laxBoolean, false),
  stream: z._default(laxBoolean, false),
  run_query_expansion: z._default(laxBoolean, false),
  num_docs_fed_to_llm_selection: z.optional(z.nullable(laxInteger)),
});

type FilterBody = z.infer<typeof OnyxFilters>;

/** Adds the pairs of the document sets; a name without a set matches nothing. */
function filtersOf(
  { documentSets }: SearchOptions,
  body: FilterBody,
  view: Filters["view"],
  caller: Caller,
): Filters {
  const filters = { ...toFilters(body, "onyx", ["body", "filters"]), ...(view ? { view } : {}) };
  const names = body.document_set ?? [];
  return names.length === 0
    ? filters
    : {
        ...filters,
        pairs: names.flatMap((name) => documentSets.pairsOf(name, caller) ?? []),
      };
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
  { chunks }: SearchOptions,
  hit: Hit,
  terms: readonly string[],
  time: (ms: number) => string,
): { doc: SearchDoc; content: string } {
  const { index, chunk } = chunks.indexOf(hit.number);
  const doc = {
    ...toSearchDoc(hit, time),
    chunk_ind: index,
    match_highlights: highlightsOf(hit, terms),
  };
  return { doc, content: chunk.content };
}

/** Search by keywords and filters alone, hidden documents included: observed-service.md 11.2. */
export function adminSearch(options: SearchOptions, call: Call): Reply {
  const { query, filters: body } = parseBody(AdminBody, call.json());
  const terms = query.trim() === "" ? [] : questionTerms(query);
  const view = { ...options.viewOf(call), hidden: query.trim() !== "" };
  const filters = filtersOf(options, body, view, call.caller);
  const hits =
    query.trim() === ""
      ? filterPassages(options.database, filters, 10)
      : searchPassages(options.database, terms, filters, 50);
  const best = new Map<string, Hit>();
  for (const hit of hits) if (!best.has(hit.document.id)) best.set(hit.document.id, hit);
  const inSeconds = (ms: number): string => zuluTime(Math.floor(ms / 1000) * 1000);
  return json(200, {
    documents: [...best.values()].map((hit) => toFound(options, hit, terms, inSeconds).doc),
  });
}

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

function streamed(reply: MessageReply): Reply {
  const { all_executed_queries, search_docs, llm_selected_doc_ids, error } = reply;
  const lines =
    error === null
      ? [
          { type: "search_queries", all_executed_queries },
          { type: "search_docs", search_docs },
          ...(llm_selected_doc_ids ? [{ type: "llm_selected_docs", llm_selected_doc_ids }] : []),
        ]
      : [{ type: "search_error", error }];
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  };
}

/** Search without a language model, unless one is asked for: observed-service.md 11.3. */
export function searchMessage(options: SearchOptions, call: Call): Reply {
  const body = parseBody(MessageBody, call.json());
  const { search_query: query, num_hits, stream, include_content } = body;
  const reply = (value: MessageReply): Reply => (stream ? streamed(value) : json(200, value));
  const filters = filtersOf(options, body.filters ?? {}, options.viewOf(call), call.caller);
  const unknownSet = body.filters?.document_set?.find(
    (name) => !options.documentSets.pairsOf(name, call.caller),
  );
  if (unknownSet !== undefined) {
    const text = noAccessToSets([unknownSet]);
    return stream
      ? reply({ ...noReply, error: text })
      : problem("onyx", 403, "INSUFFICIENT_PERMISSIONS", text);
  }
  if (num_hits > 10_000) return reply({ ...noReply, error: "num_hits is too large" });
  const terms = questionTerms(query);
  const hits = searchPassages(options.database, terms, filters, Math.max(0, num_hits));
  const docs = hits.map((hit) => {
    const { doc, content } = toFound(options, hit, terms, stream ? offsetTime : zuluTime);
    return { ...doc, content: include_content ? content : null };
  });
  const chosen = body.num_docs_fed_to_llm_selection ?? 0;
  const selects = chosen > 0 && docs.length > 0;
  options.ledger.spent(Number(body.run_query_expansion) + Number(selects), call.entry);
  const selected = [...new Set(docs.slice(0, chosen).map((doc) => doc.document_id))];
  return reply({
    ...noReply,
    all_executed_queries: [query],
    search_docs: docs,
    llm_selected_doc_ids: selects ? selected : null,
  });
}
