import * as z from "zod/mini";
import type { Database } from "../../database.ts";
import type { Call } from "../http/call.ts";
import { parseTimestamp, zuluTime } from "../store/identity.ts";
import { json, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";
import { questionTerms, searchPassages } from "../store/search.ts";
import { parseBody } from "../http/validation.ts";

const texts = z.optional(z.nullable(z.array(z.string())));
const SearchBody = z.looseObject({
  query: z.string(),
  sources: texts,
  document_sets: texts,
  time_cutoff: z.optional(z.unknown()),
  tags: z.optional(
    z.nullable(z.array(z.looseObject({ tag_key: z.string(), tag_value: z.string() }))),
  ),
});

function search(
  database: Database,
  documentSets: Record<string, readonly number[]>,
  call: Call,
): Reply {
  const body = parseBody(SearchBody, call.json());
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
    document_id: document.id,
    title: document.name,
    content: text,
    link: link ?? document.link,
    source_type: document.source,
    updated_at: zuluTime(document.updatedAt),
  }));
  return json(200, { results });
}

/** Search without chat, only in `onyx`: observed-service.md 3.7. */
export function searchRoutes(
  database: Database,
  documentSets: Record<string, readonly number[]>,
): Route[] {
  return [
    {
      method: "POST",
      path: "/api/search",
      dialect: "onyx",
      bodyLimit: 1024 * 1024,
      handle: (call) => search(database, documentSets, call),
    },
  ];
}
