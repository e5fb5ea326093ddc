import * as z from "zod/mini";
import type { App, Call } from "../http/call.ts";
import {
  bodyOf,
  detail,
  laxInteger,
  parse,
  queryOf,
  sourceName,
  laxBoolean,
  laxUuid,
  pathInteger,
  problem,
} from "../http/validation.ts";
import type { Service } from "../service.ts";
import type { PairRecord } from "../../api/schemas.ts";
import type { DocumentSet } from "../store/pairs.ts";

const One = z.object({ document_id: z.string() });
const OneChunk = z.object({ document_id: z.string(), chunk_id: laxInteger });
const TagQuery = z.object({
  limit: z._default(laxInteger, 50),
  match_pattern: z._default(z.string(), ""),
});
const Sources = z.nullable(z.array(sourceName));

// Each look-up counts for the fault that delays the text.
function sizeInfo({ chunks, viewOf }: Service, c: Call): Response {
  const { document_id } = queryOf(c, One);
  const found = chunks.holds(document_id) ? [] : chunks.all(document_id, viewOf(c.env.caller));
  if (found.length === 0) throw detail(404, "Document not found");
  const tokens = found.reduce((sum, chunk) => sum + chunk.tokens, 0);
  return c.json({ num_chunks: Math.min(found.length, 10_000), num_tokens: tokens });
}

function chunkInfo({ chunks, viewOf }: Service, c: Call): Response {
  const { document_id, chunk_id } = queryOf(c, OneChunk);
  const chunk = chunks.holds(document_id)
    ? undefined
    : chunks.one(document_id, viewOf(c.env.caller), chunk_id);
  if (!chunk) throw detail(404, "Chunk not found");
  return c.json({ content: chunk.content, num_tokens: chunk.tokens });
}

const Hiding = z.looseObject({ document_id: z.string(), hidden: z.boolean() });

function hide({ chunks }: Service, c: Call): Response {
  const { document_id, hidden } = bodyOf(c, Hiding);
  if (!chunks.hide(document_id, hidden)) throw detail(400, "Document not found");
  return c.json(null);
}

// Of all rows, indexed or not: tags are written before the text (observed-service.md 11.6).
const selectTags = `
SELECT DISTINCT m.key AS tag_key, v.value AS tag_value, d.source AS source
FROM documents d, json_each(d.metadata) m,
  json_each(CASE m.type WHEN 'array' THEN m.value ELSE json_array(m.value) END) v
WHERE length(m.key) + length(v.value) <= 255`;

/** The condition of a pattern: a prefix of key or value, or of both as `k=v`. */
function patternOf(pattern: string): { sql: string; values: string[] } {
  if (pattern === "") return { sql: "", values: [] };
  const at = pattern.indexOf("=");
  if (at < 0) {
    return { sql: " AND (m.key LIKE ? OR v.value LIKE ?)", values: [`${pattern}%`, `${pattern}%`] };
  }
  const values = [`${pattern.slice(0, at)}%`, `${pattern.slice(at + 1)}%`];
  return { sql: " AND m.key LIKE ? AND v.value LIKE ?", values };
}

function validTags({ database }: Service, c: Call): Response {
  const { limit, match_pattern } = queryOf(c, TagQuery);
  // A JSON array in the body of the GET.
  const body = c.env.body.length === 0 ? null : c.env.json();
  const sources = parse(Sources, body, "body");
  if (c.req.query("allow_prefix") === "false") throw detail(500, "Internal Server Error");
  const { sql, values } = patternOf(match_pattern);
  const tags = database
    .prepare(`${selectTags}${sql} ORDER BY tag_key, tag_value, source`)
    .all(...values)
    .filter((tag) => sources === null || sources.includes(String(tag["source"])));
  return c.json({ tags: limit === 0 ? tags : tags.slice(0, limit) });
}

/** Look-ups of one document and of tags, in `onyx`: observed-service.md 11.2. */
export function documentRoutes(app: App, service: Service): void {
  app.get("/api/document/document-size-info", (c) => sizeInfo(service, c));
  app.get("/api/document/chunk-info", (c) => chunkInfo(service, c));
  app.get("/api/query/valid-tags", (c) => validTags(service, c));
  app.post("/api/manage/admin/doc-hidden", (c) => hide(service, c));
}

const Selection = z.object({ get_editable: z.optional(laxBoolean) });
const users = z.array(laxUuid);
const groups = z.array(laxInteger);
const members = {
  name: z.string(),
  description: z.string(),
  cc_pair_ids: z.array(laxInteger),
  is_public: laxBoolean,
};
const NewSet = z.object({ ...members, users: z.optional(users), groups: z.optional(groups) });
const ChangedSet = z.object({ ...members, id: laxInteger, users, groups });

function toSet(body: z.infer<typeof NewSet>): Omit<DocumentSet, "id"> {
  const { name, description, cc_pair_ids: pairs, is_public: isPublic } = body;
  // The service also accepts a set of federated connectors alone; the sandbox has none.
  if (pairs.length === 0) {
    throw problem("onyx", 400, "VALIDATION_ERROR", "A document set needs a pair");
  }
  return { name, description, pairs, isPublic, users: body.users ?? [], groups: body.groups ?? [] };
}

/** The record of a set in the listing. A change has its effect at once, so every set is up to date. */
function toListed(set: DocumentSet, pairs: readonly PairRecord[], isEditable: boolean) {
  return {
    id: set.id,
    name: set.name,
    description: set.description,
    cc_pair_summaries: pairs
      .filter((pair) => set.pairs.includes(pair.cc_pair_id))
      .map((pair) => ({
        id: pair.cc_pair_id,
        name: pair.name ?? "",
        source: pair.connector.source,
        access_type: pair.access_type,
      })),
    is_up_to_date: true,
    is_public: set.isPublic,
    users: set.users,
    groups: set.groups,
    permissions: isEditable ? { edit: true, delete: true, publish: true } : {},
    federated_connector_summaries: [],
  };
}

/** Document sets: observed-service.md 11.5. */
export function documentSetRoutes(app: App, { documentSets: sets, pairs }: Service): void {
  const path = "/api/manage/admin/document-set";
  const checkKnown = (id: number): void => {
    if (sets.has(id)) return;
    throw problem("onyx", 404, "DOCUMENT_SET_NOT_FOUND", `Document set ${id} not found`);
  };
  app.get("/api/manage/document-set", (c) => {
    const { caller } = c.env;
    const { get_editable } = queryOf(c, Selection);
    const listed = get_editable && !caller.admin ? [] : sets.list(caller);
    return c.json(listed.map((set) => toListed(set, pairs.records, caller.admin)));
  });
  app.post(path, (c) => c.json(sets.add(toSet(bodyOf(c, NewSet)))));
  app.patch(path, (c) => {
    const body = bodyOf(c, ChangedSet);
    checkKnown(body.id);
    sets.replace({ id: body.id, ...toSet(body) });
    return c.json(null);
  });
  app.delete(`${path}/:id`, (c) => {
    const id = pathInteger(c, "id");
    checkKnown(id);
    sets.remove(id);
    return c.json(null);
  });
}
