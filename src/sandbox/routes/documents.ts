import * as z from "zod/mini";
import type { App, Call } from "../http/call.ts";
import { bodyOf, detail, laxInteger, parse, queryOf, sourceName } from "../http/validation.ts";
import type { Service } from "../service.ts";
import type { Chunk } from "../store/index/chunks.ts";

const One = z.object({ document_id: z.string() });
const OneChunk = z.object({ document_id: z.string(), chunk_id: laxInteger });
const TagQuery = z.object({
  limit: z._default(laxInteger, 50),
  match_pattern: z._default(z.string(), ""),
});
const Sources = z.nullable(z.array(sourceName));

/** The visible chunks of a document. Each look-up counts for the fault that delays the text. */
function look({ chunks, viewOf }: Service, c: Call, id: string): Chunk[] {
  return chunks.holds(id) ? [] : chunks.of(id, viewOf(c.env.caller));
}

function sizeInfo(service: Service, c: Call): Response {
  const { document_id } = queryOf(c, One);
  const found = look(service, c, document_id);
  if (found.length === 0) throw detail(404, "Document not found");
  const tokens = found.reduce((sum, chunk) => sum + chunk.tokens, 0);
  return c.json({ num_chunks: Math.min(found.length, 10_000), num_tokens: tokens });
}

function chunkInfo(service: Service, c: Call): Response {
  const { document_id, chunk_id } = queryOf(c, OneChunk);
  const chunk = look(service, c, document_id)[chunk_id];
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
