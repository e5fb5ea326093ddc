import { noAccessToSets } from "../../chat/chat-setup.ts";
import * as z from "zod/mini";
import type { Call } from "../../http/call.ts";
import { offsetTime, parseTimestamp } from "../../store/identity.ts";
import { json, problem, type Reply } from "../../http/reply.ts";
import type { Route } from "../../http/routes.ts";
import { adminSearch, searchMessage } from "./index-search.ts";
import type { SearchOptions } from "./search-options.ts";
import { questionTerms, searchPassages } from "../../store/index/search.ts";
import {
  type Issue,
  laxBoolean,
  laxInteger,
  parseBody,
  refuseBody,
} from "../../http/validation.ts";
import { sourceNames } from "../../store/pairs/sources.ts";

const texts = z.optional(z.nullable(z.array(z.string())));
const optionalText = z.optional(z.nullable(z.string()));
const messageTypes = ["system", "user", "assistant", "tool_call", "tool_call_response"] as const;

const SearchBody = z.looseObject({
  query: z.string(),
  persona_id: z.optional(z.nullable(laxInteger)),
  provider: optionalText,
  model: optionalText,
  skip_query_expansion: z.optional(laxBoolean),
  message_history: z.optional(
    z.nullable(
      z.array(
        z.looseObject({
          message: z.string(),
          message_type: z.enum(messageTypes),
        }),
      ),
    ),
  ),
  sources: texts,
  document_sets: texts,
  time_cutoff: z.optional(z.unknown()),
  tags: z.optional(
    z.nullable(z.array(z.looseObject({ tag_key: z.string(), tag_value: z.string() }))),
  ),
});

/** What the schema alone does not say: observed-service.md 11. */
function checkBody(body: z.infer<typeof SearchBody>): void {
  const { query, sources, time_cutoff, provider, model } = body;
  const issues: Issue[] = [];
  const add = (type: string, name: string, msg: string): void => {
    issues.push({ type, loc: ["body", name], msg, input: body[name] });
  };
  if (query.length < 1) {
    add("string_too_short", "query", "String should have at least 1 character");
  }
  if (query.length > 2048) {
    add("string_too_long", "query", "String should have at most 2048 characters");
  }
  if (sources?.some((source) => !sourceNames.has(source))) {
    const names = [...sourceNames].map((name) => `'${name}'`).join(", ");
    add("enum", "sources", `Input should be ${names}`);
  }
  if (time_cutoff !== undefined && time_cutoff !== null && !parseTimestamp(time_cutoff)) {
    const msg = "Input should be a valid datetime or date, invalid character in year";
    add("datetime_from_date_parsing", "time_cutoff", msg);
  }
  if (!provider !== !model) {
    add("value_error", "model", "Value error, provider and model go together");
  }
  if (issues.length > 0) throw refuseBody(issues);
}

/** Model calls of the real service: observed-service.md 11.3. */
function modelCallsOf(skipsExpansion: boolean, sources: number, sections: number): number {
  const decisions = (skipsExpansion ? 0 : 2) + 1 + Number(sources > 1);
  return decisions + (sections === 0 ? 0 : 1 + Math.min(sections, 10));
}

function search(options: SearchOptions, call: Call): Reply {
  const { database, documentSets, providers } = options;
  const body = parseBody(SearchBody, call.json());
  checkBody(body);
  if (body.persona_id) return problem("onyx", 404, "PERSONA_NOT_FOUND", "Agent not found");
  if (body.provider && !providers.includes(body.provider)) {
    return problem("onyx", 404, "NOT_FOUND", "Provider not found");
  }
  const unknownSet = body.document_sets?.find((name) => !documentSets.pairsOf(name, call.caller));
  if (unknownSet !== undefined) {
    const text = noAccessToSets([unknownSet]);
    return problem("onyx", 403, "INSUFFICIENT_PERMISSIONS", text);
  }
  const from = parseTimestamp(body.time_cutoff)?.ms;
  const hits = searchPassages(
    database,
    questionTerms(body.query),
    {
      ...(body.sources ? { sources: body.sources } : {}),
      ...(body.document_sets
        ? {
            pairs: body.document_sets.flatMap(
              (name) => documentSets.pairsOf(name, call.caller) ?? [],
            ),
          }
        : {}),
      ...(from === undefined ? {} : { updatedFrom: from }),
      ...(body.tags
        ? { tags: body.tags.map((tag) => [tag.tag_key, tag.tag_value]), anyTag: true }
        : {}),
      view: options.viewOf(call),
    },
    20,
  );
  const { skip_query_expansion = false } = body;
  const calls = modelCallsOf(skip_query_expansion, options.countSources(), hits.length);
  options.ledger.spent(calls, call.entry);
  const ids = [...new Set(hits.map(({ document }) => document.id))];
  const results = hits.map(({ document, link, text }) => ({
    citation_id: ids.indexOf(document.id) + 1,
    title: document.name,
    content: text,
    link: link ?? document.link,
    source_type: document.source,
    updated_at: offsetTime(document.updatedAt),
  }));
  return json(200, { results });
}

/** Searches without chat, in `onyx`: observed-service.md 11.2 and 11.3. */
export function searchRoutes(options: SearchOptions): Route[] {
  const post = (path: string, handle: (options: SearchOptions, call: Call) => Reply): Route => ({
    method: "POST",
    path,
    dialect: "onyx",
    bodyLimit: 1024 * 1024,
    handle(call) {
      const reply = handle(options, call);
      options.chunks.searched();
      return reply;
    },
  });
  return [
    post("/api/search", search),
    post("/api/search/send-search-message", searchMessage),
    post("/api/admin/search", adminSearch),
  ];
}
