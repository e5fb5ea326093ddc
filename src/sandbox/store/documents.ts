import { createHash } from "node:crypto";
import type { IngestionDocument } from "../../api/schemas.ts";
import type { Database, Row } from "../../database.ts";
import type { IndexFault } from "../http/faults.ts";

/**
 * The id under which a document is stored: each space becomes `_`, then all characters
 * except letters, digits and `_ . - ~` are percent-encoded. observed-service.md 3.3.
 */
export function storedId(id: string): string {
  // A lone surrogate cannot be encoded; the service strips them (3.2).
  return encodeURIComponent(id.replace(/\p{Cs}/gu, "").replaceAll(" ", "_")).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The stored id of a document; without an id the title replaces it. */
export function storedIdOf(
  document: Pick<IngestionDocument, "semantic_identifier"> & { id?: unknown },
): string {
  return typeof document.id === "string" && document.id !== ""
    ? storedId(document.id)
    : `ingestion_api_${storedId(document.semantic_identifier)}`;
}

interface Timestamp {
  /** Milliseconds since the epoch. */
  ms: number;
  /** Whether the text had no offset. */
  naive: boolean;
}

const iso =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Parses ISO 8601 with or without offset, a date alone, or unix seconds (milliseconds if
 * too large for seconds). Undefined for any other value. observed-service.md 3.4.
 */
export function parseTimestamp(value: unknown): Timestamp | undefined {
  if (typeof value === "number" && Number.isFinite(value)) {
    return { ms: Math.abs(value) > 2e10 ? value : value * 1000, naive: false };
  }
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (/^[+-]?\d+(?:\.\d+)?$/.test(text)) return parseTimestamp(Number(text));
  const parts = iso.exec(text);
  if (!parts) return undefined;
  const [, day, time, offset] = parts;
  const ms = Date.parse(
    `${day}T${(time ?? "00:00").replace(",", ".")}${offset?.toUpperCase() ?? "Z"}`,
  );
  // Date.parse turns the 30th of February into March.
  if (Number.isNaN(ms) || Number(day!.slice(8)) > daysInMonth(day!)) return undefined;
  return { ms, naive: offset === undefined };
}

function daysInMonth(day: string): number {
  return new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).getUTCDate();
}

/** Hash of the members that the service compares to detect a change: observed-service.md 3.5. */
export function fingerprint(document: IngestionDocument): string {
  const { title, semantic_identifier, sections, primary_owners, secondary_owners } = document;
  const covered = [
    title ?? semantic_identifier,
    sections.map((section) => [section.text, section.image_file_id]),
    primary_owners ?? [],
    secondary_owners ?? [],
  ];
  return createHash("sha256").update(JSON.stringify(covered)).digest("base64");
}

/** `2026-01-01T00:00:00Z`, as in JSON responses. */
export function zuluTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.000Z$/, "Z");
}

/** `2026-01-01T00:00:00`, in UTC, as in the list of recent files: observed-service.md 12.13. */
export function naiveTime(ms: number): string {
  return zuluTime(ms).replace(/Z$/, "");
}

/** `2026-01-01T00:00:00+00:00`, as in packets: observed-service.md 2.1. */
export function offsetTime(ms: number): string {
  return zuluTime(ms).replace(/Z$/, "+00:00");
}

interface StoreRequest {
  document: IngestionDocument;
  pair: number;
  updatedAt: Timestamp;
  /** Whether an unchanged document is ignored: observed-service.md 3.5. */
  skipUnchanged: boolean;
  receivedAt: number;
  /** What goes wrong after the response. */
  fault?: IndexFault | undefined;
  /** The pair to which the fault `private` moves the document. */
  privatePair?: number;
}

export interface StoredDocument {
  id: string;
  name: string;
  source: string;
  link: string | null;
  updatedAt: number;
  /** When the sandbox stored it, in milliseconds. */
  receivedAt: number;
  pairs: number[];
  indexed: boolean;
  /** Left out of the service's own listings. */
  unlisted: boolean;
}

/** A document with its content, as it was sent. */
interface WholeDocument extends StoredDocument {
  sections: IngestionDocument["sections"];
  metadata: IngestionDocument["metadata"];
  /** Names or addresses of all owners. */
  owners: string[];
}

interface PairCount {
  documents: number;
  waiting: number;
  /** Documents that were indexed once; a later version may wait. */
  indexed: number;
  /** When the newest document was stored, in milliseconds. */
  receivedAt: number;
}

interface Listing {
  pair?: number | undefined;
  newestFirst?: boolean;
  limit?: number;
}

const upsert = `
INSERT INTO documents(id, pairs, name, title, source, link, sections, metadata, owners, updated_at, fingerprint, received_at, hidden, unlisted, visible_from, hold, indexed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT(id) DO UPDATE SET pairs = excluded.pairs, name = excluded.name, title = excluded.title,
  source = excluded.source, link = excluded.link, sections = excluded.sections, metadata = excluded.metadata,
  owners = excluded.owners, updated_at = excluded.updated_at, fingerprint = excluded.fingerprint,
  received_at = excluded.received_at, hidden = excluded.hidden, unlisted = excluded.unlisted,
  visible_from = excluded.visible_from, hold = excluded.hold, indexed = excluded.indexed`;

/** The values of the last five columns. */
function faultValues({ fault = {}, receivedAt }: StoreRequest): number[] {
  const { hidden, unlisted, delayMs, delayRequests = 0, keeps } = fault;
  // What is marked as indexed is not indexed again.
  const flags = [hidden === true, unlisted === true].map(Number);
  const visibleFrom = delayMs === undefined ? 0 : receivedAt + delayMs;
  return [...flags, visibleFrom, delayRequests, keeps === "row" ? 1 : 0];
}

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
    receivedAt: Number(row["received_at"]),
    pairs: JSON.parse(String(row["pairs"])) as number[],
    indexed: row["indexed"] === 1,
    unlisted: row["unlisted"] === 1,
  };
}

function toWhole(row: Row): WholeDocument {
  const owners = JSON.parse(String(row["owners"])) as IngestionDocument["primary_owners"][];
  return {
    ...toStored(row),
    sections: JSON.parse(String(row["sections"])) as WholeDocument["sections"],
    metadata: JSON.parse(String(row["metadata"])) as WholeDocument["metadata"],
    owners: owners.flatMap((each) =>
      (each ?? []).flatMap(({ display_name, email }) => display_name ?? email ?? []),
    ),
  };
}

const countPairs = `
SELECT value AS pair, count(*) AS documents, sum(indexed = 0) AS waiting, max(received_at) AS received_at,
  sum(indexed = 1 OR EXISTS (SELECT 1 FROM passages WHERE document = documents.number)) AS indexed
FROM documents, json_each(documents.pairs) GROUP BY value`;

/** Counts documents by pair, only after a change: it reads every row. */
function createPairCounter(database: Database, changes: () => number) {
  const select = database.prepare(countPairs);
  let counted: { changes: number; pairs: ReadonlyMap<number, PairCount> } | undefined;
  return (): ReadonlyMap<number, PairCount> => {
    const now = changes();
    if (counted?.changes === now) return counted.pairs;
    const rows = select.all().map((row): [number, PairCount] => [
      Number(row["pair"]),
      {
        documents: Number(row["documents"]),
        waiting: Number(row["waiting"]),
        indexed: Number(row["indexed"]),
        receivedAt: Number(row["received_at"]),
      },
    ]);
    counted = { changes: now, pairs: new Map(rows) };
    return counted.pairs;
  };
}

/** Removes the passages and tags of a document from the index. */
function unindex(database: Database, number: number): void {
  database
    .prepare(
      "DELETE FROM passage_index WHERE rowid IN (SELECT number FROM passages WHERE document = ?)",
    )
    .run(number);
  database.prepare("DELETE FROM passages WHERE document = ?").run(number);
  database.prepare("DELETE FROM tags WHERE document = ?").run(number);
}

/** The stored documents. The text is added to the full-text index later: indexer.ts. */
export function createDocumentStore(database: Database) {
  const find = database.prepare(
    "SELECT number, pairs, updated_at, fingerprint FROM documents WHERE id = ?",
  );
  const write = database.prepare(upsert);
  const columns = "id, name, source, link, updated_at, received_at, pairs, indexed, unlisted";
  const countChanges = database.prepare("SELECT total_changes() AS changes");
  const changes = (): number => Number(countChanges.get()?.["changes"] ?? 0);
  return {
    /** Stores a document; `alreadyExisted` if its id was known. Must run in a transaction. */
    store(request: StoreRequest): { id: string; alreadyExisted: boolean; changed: boolean } {
      const { document, pair } = request;
      const id = storedIdOf(document);
      const mark = fingerprint(document);
      const known = find.get(id);
      if (known && unchanged(request, known, mark)) {
        return { id, alreadyExisted: true, changed: false };
      }
      const { keeps, private: moves } = request.fault ?? {};
      if (keeps === "nothing" || (keeps === "old" && known)) {
        return { id, alreadyExisted: true, changed: false };
      }
      const pairs = new Set(known ? (JSON.parse(String(known["pairs"])) as number[]) : []);
      if (moves) pairs.clear();
      pairs.add(moves ? (request.privatePair ?? 0) : pair);
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
        // Stored only after the index was written: observed-service.md 3.5.
        keeps === "row" ? "" : mark,
        request.receivedAt,
        ...faultValues(request),
      );
      if (keeps === "row" && known) unindex(database, Number(known["number"]));
      return { id, alreadyExisted: known !== undefined || keeps === "row", changed: true };
    },
    /** Removes a document; false if it did not exist. Must run in a transaction. */
    remove(id: string): boolean {
      const known = find.get(id);
      if (!known) return false;
      const number = Number(known["number"]);
      unindex(database, number);
      database.prepare("DELETE FROM documents WHERE number = ?").run(number);
      return true;
    },
    list({ pair, newestFirst = false, limit = -1 }: Listing): StoredDocument[] {
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
    find(id: string): WholeDocument | undefined {
      const row = database
        .prepare(`SELECT ${columns}, sections, metadata, owners FROM documents WHERE id = ?`)
        .get(id);
      return row && toWhole(row);
    },
    /** By `cc_pair_id`, of pairs that have documents. */
    countByPair: createPairCounter(database, changes),
    /** A number that grows with every change of the database. */
    changes,
    count(): { documents: number; waiting: number } {
      const row = database
        .prepare(
          "SELECT count(*) AS documents, (SELECT count(*) FROM documents WHERE indexed = 0) AS waiting FROM documents",
        )
        .get();
      return { documents: Number(row?.["documents"] ?? 0), waiting: Number(row?.["waiting"] ?? 0) };
    },
  };
}
