import type { FileFacts } from "../../documents/files/source-file.ts";
import type { Inspector, Looked, Prepared } from "../../documents/inspect/inspection.ts";
import type { PlannedDocument, PlanTable } from "../plan/plan-table.ts";
import { bytesOf } from "../plan/batches.ts";

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
export interface PendingSource {
  table: Pick<PlanTable, "planned">;
  inspector: Inspector;
  factsOf?: ((path: string) => FileFacts | undefined) | undefined;
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

/** Takes up to `size` documents. */
function takeBatch(documents: Iterator<PlannedDocument>, size: number): PlannedDocument[] {
  const batch: PlannedDocument[] = [];
  while (batch.length < size) {
    const next = documents.next();
    if (next.done) break;
    batch.push(next.value);
  }
  return batch;
}

/** Yields the documents of the plan in order. Files are read some batches ahead of the upload. */
export async function* readPending(source: PendingSource): AsyncGenerator<Pending[]> {
  const { read, close } = createReader(source);
  const documents = source.table.planned()[Symbol.iterator]();
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
      const batch = takeBatch(documents, size);
      if (batch.length === 0) break;
      // Rows are read from their file in order.
      const inOrder = batch.some(({ part }) => part > 0);
      while (inOrder && inFlight.length > 0) yield await first();
      const pending = read(batch);
      // Awaited in order; a rejection meanwhile must not count as unhandled.
      pending.catch(() => {});
      inFlight.push(pending);
      if (inOrder || inFlight.length >= batchesAhead) yield await first();
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
