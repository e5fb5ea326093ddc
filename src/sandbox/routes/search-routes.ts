import * as z from "zod/mini";
import type { Database } from "../../database.ts";
import type { Call } from "../http/call.ts";
import { parseTimestamp, zuluTime } from "../store/identity.ts";
import { json, problem, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";
import { questionTerms, searchPassages } from "../store/search.ts";
import { type Issue, laxBoolean, laxInteger, parseBody, refuseBody } from "../http/validation.ts";
import { sourceNames } from "../store/sources.ts";

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

interface SearchOptions {
  database: Database;
  documentSets: Record<string, readonly number[]>;
  /** Names of the model providers. */
  providers: readonly string[];
}

function search({ database, documentSets, providers }: SearchOptions, call: Call): Reply {
  const body = parseBody(SearchBody, call.json());
  checkBody(body);
  if (body.persona_id) return problem("onyx", 404, "PERSONA_NOT_FOUND", "Agent not found");
  if (body.provider && !providers.includes(body.provider)) {
    return problem("onyx", 404, "NOT_FOUND", "Provider not found");
  }
  const from = parseTimestamp(body.time_cutoff)?.ms;
  const hits = searchPassages(
    database,
    questionTerms(body.query),
    {
      ...(body.sources ? { sources: body.sources } : {}),
      ...(body.document_sets
        ? { pairs: body.document_sets.flatMap((name) => documentSets[name] ?? []) }
        : {}),
      ...(from === undefined ? {} : { updatedFrom: from }),
      ...(body.tags
        ? { tags: body.tags.map((tag) => [tag.tag_key, tag.tag_value]), anyTag: true }
        : {}),
    },
    20,
  );
  const results = hits.map(({ document, link, text }, index) => ({
    citation_id: index + 1,
    title: document.name,
    content: text,
    link: link ?? document.link,
    source_type: document.source,
    updated_at: zuluTime(document.updatedAt),
  }));
  return json(200, { results });
}

/** Search without chat, only in `onyx`: observed-service.md 3.7. */
export function searchRoutes(options: SearchOptions): Route[] {
  return [
    {
      method: "POST",
      path: "/api/search",
      dialect: "onyx",
      bodyLimit: 1024 * 1024,
      handle: (call) => search(options, call),
    },
  ];
}
