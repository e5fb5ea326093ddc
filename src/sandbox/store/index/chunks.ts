import type { Database } from "../../../database.ts";
import type { View } from "./search.ts";
import { opening, type Passage } from "./passages.ts";
import { viewCondition } from "./search.ts";

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
