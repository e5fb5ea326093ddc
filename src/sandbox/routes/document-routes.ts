import * as z from "zod/mini";
import type { Database } from "../../database.ts";
import type { Call } from "../http/call.ts";
import { detail, json, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";
import { type Issue, laxInteger, parseBody, refuseBody } from "../http/validation.ts";
import type { Chunk, ChunkStore } from "../store/index/chunks.ts";
import type { View } from "../store/index/search.ts";
import { sourceNames } from "../store/pairs/sources.ts";

export interface DocumentOptions {
  database: Database;
  chunks: ChunkStore;
  /** What the caller of a request can see. */
  viewOf(call: Call): View;
}

function required(call: Call, names: readonly string[]): string[] {
  const missing = names.filter((name) => !call.query.has(name));
  if (missing.length === 0) return names.map((name) => call.query.get(name)!);
  const input = null;
  throw refuseBody(
    missing.map((name) => ({
      type: "missing",
      loc: ["query", name],
      msg: "Field required",
      input,
    })),
  );
}

function integer(text: string, name: string): number {
  const parsed = laxInteger.safeParse(text);
  if (parsed.success) return parsed.data;
  const issue: Issue = {
    type: "int_parsing",
    loc: ["query", name],
    msg: "Input should be a valid integer, unable to parse string as an integer",
    input: text,
  };
  throw refuseBody([issue]);
}

/** The visible chunks of a document. Each look-up counts for the fault that delays the text. */
function look({ chunks, viewOf }: DocumentOptions, call: Call, id: string): Chunk[] {
  return chunks.holds(id) ? [] : chunks.of(id, viewOf(call));
}

function sizeInfo(options: DocumentOptions, call: Call): Reply {
  const [id = ""] = required(call, ["document_id"]);
  const found = look(options, call, id);
  if (found.length === 0) return detail(404, "Document not found");
  const tokens = found.reduce((sum, chunk) => sum + chunk.tokens, 0);
  return json(200, { num_chunks: Math.min(found.length, 10_000), num_tokens: tokens });
}

function chunkInfo(options: DocumentOptions, call: Call): Reply {
  const [id = "", number = ""] = required(call, ["document_id", "chunk_id"]);
  const chunk = look(options, call, id)[integer(number, "chunk_id")];
  return chunk
    ? json(200, { content: chunk.content, num_tokens: chunk.tokens })
    : detail(404, "Chunk not found");
}

const HideBody = z.looseObject({ document_id: z.string(), hidden: z.boolean() });

function hide({ chunks }: DocumentOptions, call: Call): Reply {
  const { document_id, hidden } = parseBody(HideBody, call.json());
  return chunks.hide(document_id, hidden) ? json(200, null) : detail(400, "Document not found");
}

// Of all rows, indexed or not: tags are written before the text (observed-service.md 11.6).
const selectTags = `
SELECT DISTINCT m.key AS tag_key, v.value AS tag_value, d.source AS source
FROM documents d, json_each(d.metadata) m,
  json_each(CASE m.type WHEN 'array' THEN m.value ELSE json_array(m.value) END) v
WHERE length(m.key) + length(v.value) <= 255`;

/** The condition of a pattern: a prefix of key or value, or of both as `k=v`. */
function patternOf(pattern: string | null): { sql: string; values: string[] } {
  if (pattern === null || pattern === "") return { sql: "", values: [] };
  const at = pattern.indexOf("=");
  if (at < 0) {
    return { sql: " AND (m.key LIKE ? OR v.value LIKE ?)", values: [`${pattern}%`, `${pattern}%`] };
  }
  const values = [`${pattern.slice(0, at)}%`, `${pattern.slice(at + 1)}%`];
  return { sql: " AND m.key LIKE ? AND v.value LIKE ?", values };
}

const Sources = z.nullable(z.array(z.enum([...sourceNames])));

function validTags({ database }: DocumentOptions, call: Call): Reply {
  const limit = integer(call.query.get("limit") ?? "50", "limit");
  const sources = parseBody(Sources, call.body.length === 0 ? null : call.json());
  if (call.query.get("allow_prefix") === "false") return detail(500, "Internal Server Error");
  const { sql, values } = patternOf(call.query.get("match_pattern"));
  const tags = database
    .prepare(`${selectTags}${sql} ORDER BY tag_key, tag_value, source`)
    .all(...values)
    .filter((tag) => sources === null || sources.includes(String(tag["source"])));
  return json(200, { tags: limit === 0 ? tags : tags.slice(0, limit) });
}

/** Look-ups of one document and of tags, in `onyx`: observed-service.md 11.2. */
export function documentRoutes(options: DocumentOptions): Route[] {
  const get = (path: string, handle: (options: DocumentOptions, call: Call) => Reply): Route => ({
    method: "GET",
    path,
    dialect: "onyx",
    bodyLimit: 64 * 1024,
    handle: (call) => handle(options, call),
  });
  return [
    get("/api/document/document-size-info", sizeInfo),
    get("/api/document/chunk-info", chunkInfo),
    get("/api/query/valid-tags", validTags),
    { ...get("/api/manage/admin/doc-hidden", hide), method: "POST" },
  ];
}
