import type { SearchDoc } from "../../../api/chat-schemas.ts";
import type { Database, Row, SqlValue } from "../../../database.ts";
import { indexText, opening, type Passage } from "./passages.ts";

export interface Filters {
  sources?: string[] | undefined;
  /** Only documents of one of these pairs. */
  pairs?: number[] | undefined;
  /** Milliseconds, inclusive. */
  updatedFrom?: number | undefined;
  updatedTo?: number | undefined;
  tags?: [key: string, value: string][] | undefined;
  /** Whether one matching tag is enough. */
  anyTag?: boolean;
  /** What the caller can see; without it everything. */
  view?: View;
}

/** What a caller can see in the index: observed-service.md 11.1. */
export interface View {
  /** Pairs whose documents the caller may read. */
  pairs: ReadonlySet<number>;
  /** Milliseconds; documents that become visible later are left out. */
  now: number;
  /** Whether hidden documents are included. */
  hidden?: boolean;
}

export interface Hit {
  document: {
    id: string;
    name: string;
    source: string;
    link: string | null;
    metadata: Record<string, string | string[]>;
    updatedAt: number;
    owners: [Owner[], Owner[]];
    hidden: boolean;
  };
  link: string | null;
  heading: string;
  text: string;
  /** Position of the passage in the index, for `chunk_ind`. */
  number: number;
  /** Higher is better. */
  score: number;
}

interface Owner {
  display_name?: string;
  email?: string;
}

const stopWords = new Set(
  (
    "a about all also am an and any are as at be been but by can could did do does done for from get had has have how i if " +
    "in into is it its just many me might much must my no not of on or our please shall should so some tell than that the their them then " +
    "there these they this to us was we were what when where which who whom whose why will with would you your"
  ).split(" "),
);

/** The significant words of a question, in lower case, without duplicates. */
export function questionTerms(question: string): string[] {
  const words = new Set(indexText(question.toLowerCase()).match(/[\p{L}\p{N}]+/gu) ?? []);
  const significant = [...words].filter((word) => !stopWords.has(word));
  return (significant.length > 0 ? significant : [...words]).slice(0, 40);
}

/** The condition of a view on a row `d` of documents. */
function viewCondition({ pairs, now, hidden = false }: View): {
  sql: string;
  values: SqlValue[];
} {
  // One JSON value: SQLite limits the number of parameters.
  const readable =
    " AND EXISTS (SELECT 1 FROM json_each(d.pairs) WHERE value IN (SELECT value FROM json_each(?)))";
  const visible = ` AND d.hold = 0 AND d.visible_from <= ?${hidden ? "" : " AND d.hidden = 0"}`;
  return { sql: readable + visible, values: [JSON.stringify([...pairs]), now] };
}

function conditions(filters: Filters): { sql: string; values: SqlValue[] } {
  const parts: string[] = [];
  const values: SqlValue[] = [];
  const list = (items: readonly SqlValue[]): string => items.map(() => "?").join(", ");
  const { sources, pairs, updatedFrom, updatedTo, tags, anyTag } = filters;
  if (sources) {
    parts.push(`d.source IN (${list(sources)})`);
    values.push(...sources);
  }
  if (pairs) {
    parts.push(`EXISTS (SELECT 1 FROM json_each(d.pairs) WHERE value IN (${list(pairs)}))`);
    values.push(...pairs);
  }
  if (updatedFrom !== undefined) {
    parts.push("d.updated_at >= ?");
    values.push(updatedFrom);
  }
  if (updatedTo !== undefined) {
    parts.push("d.updated_at <= ?");
    values.push(updatedTo);
  }
  if (tags && tags.length > 0) {
    const each = "EXISTS (SELECT 1 FROM tags WHERE document = d.number AND key = ? AND value = ?)";
    parts.push(`(${tags.map(() => each).join(anyTag ? " OR " : " AND ")})`);
    values.push(...tags.flat());
  }
  const view = filters.view ? viewCondition(filters.view) : { sql: "", values: [] };
  return {
    sql: parts.map((part) => ` AND ${part}`).join("") + view.sql,
    values: [...values, ...view.values],
  };
}

function toHit(row: Row): Hit {
  return {
    document: {
      id: String(row["id"]),
      name: String(row["name"]),
      source: String(row["source"]),
      link: row["document_link"] === null ? null : String(row["document_link"]),
      metadata: JSON.parse(String(row["metadata"])),
      updatedAt: Number(row["updated_at"]),
      owners: JSON.parse(String(row["owners"])),
      hidden: row["hidden"] === 1,
    },
    link: row["link"] === null ? null : String(row["link"]),
    heading: String(row["heading"]),
    text: String(row["text"]),
    number: Number(row["number"]),
    score: -Number(row["rank"]),
  };
}

const columns =
  "d.id, d.name, d.source, d.link AS document_link, d.metadata, d.updated_at, d.owners, d.hidden, " +
  "p.number, p.link, p.heading, p.text";

/** At most `limit` passages of the documents that match the filters, in no useful order. */
export function filterPassages(database: Database, filters: Filters, limit: number): Hit[] {
  const { sql, values } = conditions(filters);
  const from = "passages p JOIN documents d ON d.number = p.document";
  return database
    .prepare(`SELECT ${columns}, 0 AS rank FROM ${from} WHERE 1${sql} LIMIT ?`)
    .all(...values, limit)
    .map(toHit);
}

/**
 * The passages of filtered documents that match any term, best first by bm25. A word in
 * the title or heading counts four times.
 */
export function searchPassages(
  database: Database,
  terms: readonly string[],
  filters: Filters,
  limit: number,
): Hit[] {
  if (terms.length === 0) return [];
  const { sql, values } = conditions(filters);
  const match = terms.map((term) => `"${term.replaceAll('"', '""')}"`).join(" OR ");
  return database
    .prepare(
      `SELECT ${columns}, bm25(passage_index, 4.0, 1.0) AS rank
      FROM passage_index JOIN passages p ON p.number = passage_index.rowid
        JOIN documents d ON d.number = p.document
      WHERE passage_index MATCH ?${sql} ORDER BY rank LIMIT ?`,
    )
    .all(match, ...values, limit)
    .map(toHit);
}

/** A hit in the service's form: observed-service.md 1.8. `time` formats the timestamp. */
export function toSearchDoc(hit: Hit, time: (ms: number) => string): SearchDoc {
  const { document } = hit;
  const names = (owners: Owner[]): string[] =>
    owners.flatMap(({ display_name, email }) => display_name ?? email ?? []);
  return {
    document_id: document.id,
    chunk_ind: hit.number,
    semantic_identifier: document.name,
    link: hit.link ?? document.link,
    blurb: hit.text.replace(/\s+/g, " ").slice(0, 200),
    source_type: document.source,
    boost: 0,
    hidden: document.hidden,
    metadata: document.metadata,
    score: Math.round(hit.score * 1e6) / 1e6,
    is_relevant: null,
    relevance_explanation: null,
    match_highlights: [],
    updated_at: time(document.updatedAt),
    primary_owners: names(document.owners[0]),
    secondary_owners: names(document.owners[1]),
    is_internet: false,
    file_id: null,
  };
}

/** About 512 tokens: observed-service.md 11.2. */
const chunkLength = 2_000;
const mostKeptChars = 64 * 1024 * 1024;

export interface Chunk {
  content: string;
  tokens: number;
  /** Numbers of the first and last passage that begin in it. */
  from: number;
  to: number;
}

const fenced = 1;
const cut = 2;

/** How a passage continues the one before, as a number for the database. */
export const passageMarks = ({ isFenced, isCut }: Passage): number =>
  (isFenced ? fenced : 0) + (isCut ? cut : 0);

interface StoredPassage {
  number: number;
  text: string;
  marks: number;
}

/**
 * Joins the passages of a document to chunks, which hold its text and nothing else: the public
 * service does not overlap chunks (`CHUNK_OVERLAP` in backend/onyx/indexing/chunker.py). Title,
 * metadata and added context are no part of the content.
 */
function chunksOf(passages: readonly StoredPassage[]): Chunk[] {
  const chunks: Chunk[] = [];
  for (const { number, text: whole, marks } of passages) {
    const last = chunks.at(-1);
    const text = marks & fenced ? whole.slice(opening.length) : whole;
    if (last && last.content.length + text.length <= chunkLength) {
      last.content += marks & cut ? text : `\n\n${text}`;
      last.to = number;
      continue;
    }
    chunks.push({ content: text, tokens: 0, from: number, to: number });
  }
  for (const chunk of chunks) chunk.tokens = Math.ceil(chunk.content.length / 4);
  return chunks;
}

/**
 * Keeps the chunks that a caller sees of a document until the database changes. Each chunk is a
 * request of its own, and a large document has thousands.
 */
function createKept(database: Database) {
  const changes = database.prepare("SELECT total_changes() AS own");
  const others = database.prepare("PRAGMA data_version");
  const byDocument = new Map<string, Map<string, Chunk[]>>();
  let chars = 0;
  let version = "";
  const clear = (): void => {
    byDocument.clear();
    chars = 0;
  };
  const keyOf = ({ pairs, hidden }: View): string => JSON.stringify([...pairs, hidden]);
  return {
    get(id: string): { of(view: View): Chunk[] | undefined } | undefined {
      const now = JSON.stringify([changes.get(), others.get()]);
      if (now !== version) clear();
      version = now;
      const byView = byDocument.get(id);
      return byView && { of: (view) => byView.get(keyOf(view)) };
    },
    /** Call it after get(). */
    add(id: string, view: View, chunks: Chunk[]): void {
      const length = chunks.reduce((sum, { content }) => sum + content.length, 0);
      if (chars + length > mostKeptChars) clear();
      chars += length;
      const byView = byDocument.get(id) ?? new Map<string, Chunk[]>();
      byDocument.set(id, byView.set(keyOf(view), chunks));
    },
  };
}

export function createChunkStore(database: Database) {
  const passages = database.prepare(
    "SELECT number, text, marks FROM passages WHERE document = ? ORDER BY number",
  );
  const owner = database.prepare("SELECT document FROM passages WHERE number = ?");
  const release = database.prepare(
    "UPDATE documents SET hold = hold - 1 WHERE id = ? AND hold > 0",
  );
  const releaseAll = database.prepare("UPDATE documents SET hold = hold - 1 WHERE hold > 0");
  const hide = database.prepare("UPDATE documents SET hidden = ? WHERE id = ? RETURNING id");
  const chunksOfDocument = (document: number): Chunk[] =>
    chunksOf(
      passages.all(document).map((row) => ({
        number: Number(row["number"]),
        text: String(row["text"]),
        marks: Number(row["marks"]),
      })),
    );
  const held = database.prepare("SELECT hold FROM documents WHERE id = ?");
  const kept = createKept(database);
  return {
    /** The chunks of a document by its stored id; none if the caller sees none. */
    of(id: string, view: View): Chunk[] {
      const known = kept.get(id)?.of(view);
      if (known) return known;
      const { sql, values } = viewCondition(view);
      const row = database
        .prepare(`SELECT number FROM documents d WHERE id = ?${sql}`)
        .get(id, ...values);
      // It may become visible with time alone.
      if (!row) return [];
      const chunks = chunksOfDocument(Number(row["number"]));
      kept.add(id, view, chunks);
      return chunks;
    },
    /** Counts down the requests during which a document stays invisible; true while it does. */
    holds(id: string): boolean {
      // Chunks that were seen are not held.
      if (kept.get(id)) return false;
      if (Number(held.get(id)?.["hold"] ?? 0) === 0) return false;
      release.run(id);
      return true;
    },
    /** Counts a search, which looks at all documents. */
    searched: () => releaseAll.run(),
    /** The chunk in which a passage begins, and its index. */
    indexOf(passage: number): { index: number; chunk: Chunk } {
      const chunks = chunksOfDocument(Number(owner.get(passage)?.["document"]));
      const index = chunks.findIndex(({ to }) => passage <= to);
      return { index, chunk: chunks[index]! };
    },
    hide: (id: string, hidden: boolean): boolean => hide.get(hidden ? 1 : 0, id) !== undefined,
  };
}
