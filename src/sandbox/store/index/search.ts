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

export interface Chunk {
  content: string;
  tokens: number;
}

const fenced = 1;
const cut = 2;

/** How a passage continues the one before, as a number for the database. */
export const passageMarks = ({ isFenced, isCut }: Passage): number =>
  (isFenced ? fenced : 0) + (isCut ? cut : 0);

/**
 * Returns the chunk of each passage of a document, called in their order. Chunks hold the text and
 * nothing else: the public service does not overlap chunks (`CHUNK_OVERLAP` in
 * backend/onyx/indexing/chunker.py). Title, metadata and added context are no part of the content.
 */
export function createChunker(): (passage: Passage) => number {
  let chunk = -1;
  let length = 0;
  return ({ text, isFenced, isCut }) => {
    const own = text.length - (isFenced ? opening.length : 0);
    const fits = chunk >= 0 && length + own <= chunkLength;
    if (!fits) chunk += 1;
    length = fits ? length + own + (isCut ? 0 : 2) : own;
    return chunk;
  };
}

/** The passages of a chunk, joined as they stood in the section. */
function toChunk(passages: readonly Row[]): Chunk {
  const texts = passages.map((row, at) => {
    const marks = Number(row["marks"]);
    const text = String(row["text"]).slice(marks & fenced ? opening.length : 0);
    return at === 0 || marks & cut ? text : `\n\n${text}`;
  });
  const content = texts.join("");
  return { content, tokens: Math.ceil(content.length / 4) };
}

export function createChunkStore(database: Database) {
  const select = "SELECT chunk, text, marks FROM passages WHERE document = ?";
  const ofDocument = database.prepare(`${select} ORDER BY number`);
  const ofChunk = database.prepare(`${select} AND chunk = ? ORDER BY number`);
  const place = database.prepare("SELECT document, chunk FROM passages WHERE number = ?");
  const held = database.prepare(
    "UPDATE documents SET hold = hold - 1 WHERE id = ? AND hold > 0 RETURNING id",
  );
  const releaseAll = database.prepare("UPDATE documents SET hold = hold - 1 WHERE hold > 0");
  const hide = database.prepare("UPDATE documents SET hidden = ? WHERE id = ? RETURNING id");
  /** The number of a document by its stored id, if the caller sees it. */
  const numberOf = (id: string, view: View): number | undefined => {
    const { sql, values } = viewCondition(view);
    const select = database.prepare(`SELECT number FROM documents d WHERE id = ?${sql}`);
    const number = select.get(id, ...values)?.["number"];
    return number === undefined ? undefined : Number(number);
  };
  const chunkAt = (document: number, index: number): Chunk | undefined => {
    const rows = ofChunk.all(document, index);
    return rows.length === 0 ? undefined : toChunk(rows);
  };
  return {
    /** The chunks of a document; none if the caller sees none. */
    all(id: string, view: View): Chunk[] {
      const number = numberOf(id, view);
      const rows = number === undefined ? [] : ofDocument.all(number);
      const byChunk: Row[][] = [];
      for (const row of rows) (byChunk[Number(row["chunk"])] ??= []).push(row);
      return byChunk.map(toChunk);
    },
    one(id: string, view: View, index: number): Chunk | undefined {
      const number = numberOf(id, view);
      return number === undefined ? undefined : chunkAt(number, index);
    },
    /** Counts down the look-ups during which a document stays invisible; true while it does. */
    holds: (id: string): boolean => held.get(id) !== undefined,
    /** Counts a search, which looks at all documents. */
    searched: () => releaseAll.run(),
    /** The chunk that a passage is in, and its index. */
    indexOf(passage: number): { index: number; chunk: Chunk } {
      const row = place.get(passage);
      const index = Number(row?.["chunk"]);
      return { index, chunk: chunkAt(Number(row?.["document"]), index)! };
    },
    hide: (id: string, hidden: boolean): boolean => hide.get(hidden ? 1 : 0, id) !== undefined,
  };
}
