import type { FileFacts } from "../../documents/files/source-file.ts";
import type {
  Inspector,
  Looked,
  Prepared,
  ReadyDocument,
} from "../../documents/inspect/inspection.ts";
import type { PlannedDocument, PlanTable } from "../plan/plan-table.ts";
import { bytesOf } from "../plan/batches.ts";
import type { Database } from "../../database.ts";
import { isInShard, type Shard } from "../plan/decide.ts";
import { hash } from "node:crypto";
import { createRows, marks } from "../state/tables.ts";

/** A document to send. */
export interface Pending {
  /** Its number in the plan; undefined for a document from stdin. */
  number: number | undefined;
  prepared: Prepared;
  /** Last accepted version; undefined if not looked up yet. */
  known?: Known | undefined;
  /** The pair has the document already, and no record here says so. */
  isAdopted?: boolean;
}

/** Date and time of the last accepted version of a document. */
export interface LastSent {
  /** The sent `doc_updated_at`; undefined when the service used its own clock. */
  updatedAt?: string | undefined;
  sentAtMs: number;
  /** Hashes of its fields, see Fingerprint. */
  fields?: string | undefined;
}

/** Result of a look-up in the state; `last` is undefined for a new document. */
export type Known = { last: LastSent | undefined } | "unchanged";

/** Source of the planned documents. */
interface PendingSource {
  table: Pick<PlanTable, "planned">;
  inspector: Inspector;
  factsOf?: ((path: string) => FileFacts | undefined) | undefined;
  /**
   * Returns the next documents to send, `most` of them at most, and none at the end. By default the
   * documents of the table in order. Workers that share a plan take theirs here.
   */
  take?: ((most: number) => Promise<PlannedDocument[]>) | undefined;
}

const documentsAtOnce = 64;
const bytesAtOnce = 1024 * 1024;
// Batches that are read while earlier batches are sent.
const batchesAhead = 2;

interface Reader {
  read(documents: readonly PlannedDocument[]): Promise<Pending[]>;
  /** Closes an open file of rows. */
  close(): Promise<void>;
}

// The plan checked that the id is unique; a changed id may collide, so the document fails.
function checkUnchanged({ path, part, id }: PlannedDocument, read: Looked | undefined): Prepared {
  const isPlanned = read && read.kind !== "same" && (read.kind !== "document" || read.id === id);
  if (isPlanned) return read;
  const reason = `${path}: changed during the run; run again to send it`;
  return { kind: "failed", path, part, reason };
}

/** Reads planned documents; the rows of a file in order, in one pass over the file. */
function createReader({ inspector, factsOf }: PendingSource): Reader {
  let open: { path: string; rows: AsyncIterator<Prepared> } | undefined;
  const itemOf = ({ path, absolutePath }: PlannedDocument) => ({
    path,
    absolutePath,
    facts: factsOf?.(path),
  });
  const close = async (): Promise<void> => {
    const { rows } = open ?? {};
    open = undefined;
    await rows?.return?.();
  };
  const readRow = async (document: PlannedDocument): Promise<Prepared | undefined> => {
    const { path, part } = document;
    if (open?.path !== path) {
      await close();
      const rows = inspector.readRows(itemOf(document));
      open = { path, rows: rows[Symbol.asyncIterator]() };
    }
    for (;;) {
      const row = await open.rows.next();
      if (row.done || row.value.part > part) return undefined;
      if (row.value.part === part) return row.value;
    }
  };
  return {
    close,
    async read(documents) {
      const files = documents.filter(({ part }) => part === 0);
      const unrecorded = { stamp: undefined, content: undefined };
      const looked = await inspector.look(
        files.map((each) => ({ ...itemOf(each), ...unrecorded })),
      );
      const pending: Pending[] = [];
      let next = 0;
      for (const each of documents) {
        const read = each.part === 0 ? looked[next++] : await readRow(each);
        pending.push({ number: each.number, prepared: checkUnchanged(each, read) });
      }
      return pending;
    },
  };
}

/** Takes the documents of a table in order. */
export function takeInOrder(table: PendingSource["table"]): (most: number) => PlannedDocument[] {
  const documents = table.planned()[Symbol.iterator]();
  return (most) => {
    const batch: PlannedDocument[] = [];
    while (batch.length < most) {
      const next = documents.next();
      if (next.done) break;
      batch.push(next.value);
    }
    return batch;
  };
}

/** Yields the documents of the plan in order. Files are read some batches ahead of the upload. */
export async function* readPending(source: PendingSource): AsyncGenerator<Pending[]> {
  const { read, close } = createReader(source);
  const take = source.take ?? takeInOrder(source.table);
  // What this worker reads ahead, no other worker can take.
  const ahead = source.take ? 1 : batchesAhead;
  // Smaller batches for large documents: a whole batch is in memory.
  let size = documentsAtOnce;
  const inFlight: Promise<Pending[]>[] = [];
  const first = async (): Promise<Pending[]> => {
    const pending = (await inFlight.shift()) ?? [];
    const mean = bytesOf(pending.map(({ prepared }) => prepared)) / pending.length;
    size = Math.max(1, Math.min(documentsAtOnce, Math.floor(bytesAtOnce / (mean + 1))));
    return pending;
  };
  try {
    for (;;) {
      const batch = await take(size);
      if (batch.length === 0) break;
      // Rows are read from their file in order.
      const inOrder = batch.some(({ part }) => part > 0);
      while (inOrder && inFlight.length > 0) yield await first();
      const pending = read(batch);
      // Awaited in order; a rejection meanwhile must not count as unhandled.
      pending.catch(() => {});
      inFlight.push(pending);
      if (inOrder || inFlight.length >= ahead) yield await first();
    }
    while (inFlight.length > 0) yield await first();
  } finally {
    await close();
  }
}

/** Reads documents of the plan again, by their numbers in ascending order. */
export async function* readAgain(
  numbers: readonly number[],
  source: PendingSource,
): AsyncGenerator<Pending[]> {
  const { read, close } = createReader(source);
  try {
    for (const document of source.table.planned(numbers)) yield await read([document]);
  } finally {
    await close();
  }
}

/** An id and its line. */
interface LineId {
  id: string;
  line: number;
}

const table = `
  DROP TABLE IF EXISTS temp.seen;
  CREATE TEMP TABLE seen (id TEXT PRIMARY KEY, line INTEGER NOT NULL) WITHOUT ROWID;
`;

// Longer ids are stored as a hash; the first character separates the two kinds.
const longestKey = 256;

function keyOf(id: string): string {
  return id.length <= longestKey ? `=${id}` : `#${hash("sha256", id, "hex")}`;
}

/**
 * Remembers ids in a temporary table on disk, in constant memory. The returned function
 * expects the next ids in order, at most 64. It returns for each id the first line with
 * this id, or undefined if the id is new.
 */
function createStdinIds(database: Database): (next: readonly LineId[]) => (number | undefined)[] {
  database.exec(table);
  const seen = createRows(database, "INSERT INTO temp.seen", 2);
  const select = (count: number) =>
    database.prepare(`SELECT id, line FROM temp.seen WHERE id IN (${marks(count)})`);
  const statements = new Map<number, ReturnType<typeof select>>();
  return (next) => {
    if (next.length === 0) return [];
    const keys = next.map(({ id }) => keyOf(id));
    const statement = statements.get(keys.length) ?? select(keys.length);
    statements.set(keys.length, statement);
    const lines = new Map(
      statement.all(...keys).map((row) => [String(row["id"]), Number(row["line"])]),
    );
    const before = next.map(({ line }, index) => {
      const key = keys[index] ?? "";
      const known = lines.get(key);
      if (known !== undefined) return known;
      lines.set(key, line);
      seen.add(key, line);
      return undefined;
    });
    seen.flush();
    return before;
  };
}

interface LinesRequest {
  /** Documents and failures, one per line, at most 64 per batch; `part` is the line. */
  batches: AsyncIterable<Prepared[]>;
  /** Holds the ids of earlier lines in a temporary table. */
  database: Database;
  /** Maps an id to the id that the service stores; undefined where it stores ids unchanged. */
  storedId?: ((id: string) => string) | undefined;
  shard: Shard | undefined;
  /** Receives the number of documents in other shards. */
  onOthers: (count: number) => void;
  /** Name of the source in messages. */
  name: string;
}

/**
 * Prepares documents from lines for runDocuments(). Keeps no documents in memory. If an id
 * is on two lines, the document of the second line fails.
 */
export async function* pendingOfLines({
  batches,
  database,
  storedId = (id) => id,
  name,
  shard,
  onOthers,
}: LinesRequest): AsyncGenerator<Pending[], void> {
  const firstLinesOf = createStdinIds(database);
  // A line without an id belongs to one shard by its number, so only one shard reports it.
  const idOf = (each: Prepared): string =>
    (each.kind === "skipped" ? undefined : each.id) ?? `${name}:${each.part}`;
  const isOurs = (each: Prepared): boolean => !shard || isInShard(idOf(each), shard);
  for await (const all of batches) {
    const batch = all.filter(isOurs);
    if (batch.length < all.length) onOthers(all.length - batch.length);
    const documents = batch.filter((each): each is ReadyDocument => each.kind === "document");
    const firstLines = firstLinesOf(
      documents.map(({ id, part }) => ({ id: storedId(id), line: part })),
    );
    const firstLine = new Map(documents.map((document, index) => [document, firstLines[index]]));
    yield batch.map((prepared): Pending => {
      const before = prepared.kind === "document" ? firstLine.get(prepared) : undefined;
      if (prepared.kind !== "document" || before === undefined) {
        return { number: undefined, prepared };
      }
      const { path, part, id } = prepared;
      const reason = `${name}:${part}:1: id "${id}" names the same document as line ${before}; set another id`;
      return { number: undefined, prepared: { kind: "failed", path, part, reason } };
    });
  }
}
