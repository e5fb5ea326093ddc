import type { Database, Row } from "../../database.ts";
import type { IngestionDocument } from "../../api/schemas.ts";
import { fingerprint, storedIdOf, type Timestamp } from "./identity.ts";

interface StoreRequest {
  document: IngestionDocument;
  pair: number;
  updatedAt: Timestamp;
  /** Whether an unchanged document is ignored: observed-service.md 3.5. */
  skipUnchanged: boolean;
  receivedAt: number;
}

export interface StoredDocument {
  id: string;
  name: string;
  source: string;
  link: string | null;
  updatedAt: number;
  pairs: number[];
  indexed: boolean;
}

export interface DocumentStore {
  /** Stores a document; `alreadyExisted` if its id was known. Must run in a transaction. */
  store(request: StoreRequest): { id: string; alreadyExisted: boolean; changed: boolean };
  /** Removes a document; false if it did not exist. Must run in a transaction. */
  remove(id: string): boolean;
  list(options: { pair?: number; newestFirst?: boolean; limit?: number }): StoredDocument[];
  count(): { documents: number; waiting: number };
  passageCount(id: string): number;
}

const upsert = `
INSERT INTO documents(id, pairs, name, title, source, link, sections, metadata, owners, updated_at, fingerprint, received_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT(id) DO UPDATE SET pairs = excluded.pairs, name = excluded.name, title = excluded.title,
  source = excluded.source, link = excluded.link, sections = excluded.sections, metadata = excluded.metadata,
  owners = excluded.owners, updated_at = excluded.updated_at, fingerprint = excluded.fingerprint,
  received_at = excluded.received_at, indexed = 0`;

function unchanged(request: StoreRequest, known: Row, mark: string): boolean {
  if (!request.skipUnchanged) return false;
  // A timestamp without offset silently fails the comparison in the service (3.4).
  if (request.updatedAt.naive) return true;
  return request.updatedAt.ms <= Number(known["updated_at"]) && known["fingerprint"] === mark;
}

function toStored(row: Row): StoredDocument {
  return {
    id: String(row["id"]),
    name: String(row["name"]),
    source: String(row["source"]),
    link: row["link"] === null ? null : String(row["link"]),
    updatedAt: Number(row["updated_at"]),
    pairs: JSON.parse(String(row["pairs"])) as number[],
    indexed: row["indexed"] === 1,
  };
}

/** The stored documents. The text is added to the full-text index later: indexer.ts. */
export function createDocumentStore(database: Database): DocumentStore {
  const find = database.prepare(
    "SELECT number, pairs, updated_at, fingerprint FROM documents WHERE id = ?",
  );
  const write = database.prepare(upsert);
  const columns = "id, name, source, link, updated_at, pairs, indexed";
  return {
    store(request) {
      const { document, pair } = request;
      const id = storedIdOf(document);
      const mark = fingerprint(document);
      const known = find.get(id);
      if (known && unchanged(request, known, mark)) {
        return { id, alreadyExisted: true, changed: false };
      }
      const pairs = new Set(known ? (JSON.parse(String(known["pairs"])) as number[]) : []);
      pairs.add(pair);
      const link = document.sections.find((section) => section.link)?.link ?? null;
      write.run(
        id,
        JSON.stringify([...pairs]),
        document.semantic_identifier,
        document.title ?? null,
        document.source,
        link,
        JSON.stringify(document.sections),
        JSON.stringify(document.metadata),
        JSON.stringify([document.primary_owners ?? [], document.secondary_owners ?? []]),
        request.updatedAt.ms,
        mark,
        request.receivedAt,
      );
      return { id, alreadyExisted: known !== undefined, changed: true };
    },
    remove(id) {
      const known = find.get(id);
      if (!known) return false;
      const number = Number(known["number"]);
      database
        .prepare(
          "DELETE FROM passage_index WHERE rowid IN (SELECT number FROM passages WHERE document = ?)",
        )
        .run(number);
      database.prepare("DELETE FROM passages WHERE document = ?").run(number);
      database.prepare("DELETE FROM tags WHERE document = ?").run(number);
      database.prepare("DELETE FROM documents WHERE number = ?").run(number);
      return true;
    },
    list({ pair, newestFirst = false, limit = -1 }) {
      const where =
        pair === undefined
          ? ""
          : "WHERE EXISTS (SELECT 1 FROM json_each(documents.pairs) WHERE value = ?)";
      const order = newestFirst ? "received_at DESC, number DESC" : "number";
      return database
        .prepare(`SELECT ${columns} FROM documents ${where} ORDER BY ${order} LIMIT ?`)
        .all(...(pair === undefined ? [limit] : [pair, limit]))
        .map(toStored);
    },
    count() {
      const row = database
        .prepare(
          "SELECT count(*) AS documents, (SELECT count(*) FROM documents WHERE indexed = 0) AS waiting FROM documents",
        )
        .get();
      return { documents: Number(row?.["documents"] ?? 0), waiting: Number(row?.["waiting"] ?? 0) };
    },
    passageCount(id) {
      const row = database
        .prepare(
          "SELECT count(*) AS passages FROM passages JOIN documents ON documents.number = passages.document WHERE documents.id = ?",
        )
        .get(id);
      return Number(row?.["passages"] ?? 0);
    },
  };
}
