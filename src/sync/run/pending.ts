import type { FileFacts } from "../../documents/map/facts.ts";
import type {
  Inspector,
  Looked,
  LookItem,
  Prepared,
  ReadyDocument,
} from "../../documents/inspect/inspection.ts";
import type { Spool, SpoolRecord } from "./spool.ts";

/** A document to send. */
export interface Pending {
  /** Position in the spool; undefined for a document from stdin. */
  position: number | undefined;
  prepared: Prepared;
  /** Last accepted version; undefined if not looked up yet. */
  known: Known | undefined;
  /** The pair has the document already, and no record here says so. */
  isAdopted?: boolean;
}

/** Members of a Pending from stdin: not in the spool, and not looked up yet. */
export const fromStdin = { position: undefined, known: undefined } as const;

/** Date and time of the last accepted version of a document. */
export interface LastSent {
  /** The sent `doc_updated_at`; undefined when the service used its own clock. */
  updatedAt?: string | undefined;
  sentAtMs: number;
  /** Hashes of its fields, see Fingerprint. */
  fields?: string | undefined;
}

/** Result of a look-up in the state; `last` is undefined for a new document. */
export interface Known {
  last: LastSent | undefined;
}

export function knownOf(accepted: LastSent | undefined): Known {
  return {
    last: accepted && {
      updatedAt: accepted.updatedAt,
      sentAtMs: accepted.sentAtMs,
      fields: accepted.fields,
    },
  };
}

/** A document of which only the id is known: its file is read just before sending. */
interface PeekedDocument {
  kind: "peeked";
  path: string;
  part: number;
  id: string;
}

/** A spool record without its body. */
export interface SpoolHead {
  document: Omit<ReadyDocument, "body"> | PeekedDocument;
  absolutePath: string | undefined;
  facts?: FileFacts | undefined;
  known: Known;
}

/** Source of the planned documents. */
export interface PendingSource {
  spool: Spool<SpoolHead>;
  /** Reads documents whose body is not in the spool. */
  inspector: Inspector;
}

const documentsAtOnce = 64;
const bytesAtOnce = 1024 * 1024;
// Batches that are read while earlier batches are sent.
const batchesAhead = 2;

/** Reads rows of a file again, in order, in one pass over the file. */
interface RowAgain {
  read(head: SpoolHead): Promise<Prepared | undefined>;
  /** Closes the file. */
  close(): Promise<void>;
}

function createRowReader({ inspector }: PendingSource): RowAgain {
  let open: { path: string; rows: AsyncIterator<Prepared> } | undefined;
  const close = async (): Promise<void> => {
    const { rows } = open ?? {};
    open = undefined;
    await rows?.return?.();
  };
  return {
    close,
    async read({ document, absolutePath, facts }) {
      const { path, part } = document;
      if (open?.path !== path) {
        await close();
        const rows = inspector.readRows({ path, absolutePath, facts });
        open = { path, rows: rows[Symbol.asyncIterator]() };
      }
      for (;;) {
        const row = await open.rows.next();
        if (row.done || row.value.part > part) return undefined;
        if (row.value.part === part) return row.value;
      }
    },
  };
}

// The plan checked that the id is unique; a changed id may collide, so the document fails.
function checkUnchanged({ document }: SpoolHead, again: Looked | undefined): Prepared {
  const { path, part, id } = document;
  const isPlanned =
    again && again.kind !== "same" && (again.kind !== "document" || again.id === id);
  if (isPlanned) return again;
  const reason = `${path}: changed during the run; run again to send it`;
  return { kind: "failed", path, part, reason };
}

type Spooled = SpoolRecord<SpoolHead>;

/** Whether a record is a whole file, not a row. */
function isWholeFile({ head }: Spooled): boolean {
  return head.document.part === 0;
}

function bytesOf(documents: readonly Pending[]): number {
  let sum = 0;
  for (const { prepared } of documents)
    if (prepared.kind === "document") sum += prepared.body.length;
  return sum;
}

/** The whole files that must be read again. */
function itemsOf(records: readonly Spooled[]): LookItem[] {
  const items: LookItem[] = [];
  for (const record of records) {
    if (record.body || !isWholeFile(record)) continue;
    const { document, absolutePath, facts } = record.head;
    items.push({ path: document.path, absolutePath, facts, stamp: undefined, content: undefined });
  }
  return items;
}

interface Completer {
  complete(records: Spooled[]): Promise<Pending[]>;
  close(): Promise<void>;
}

/** Completes records of the spool; reads the files of records without a body. */
function createCompleter(request: PendingSource): Completer {
  const rows = createRowReader(request);
  const complete = async (records: Spooled[]): Promise<Pending[]> => {
    const items = itemsOf(records);
    const looked = items.length > 0 ? await request.inspector.look(items) : [];
    const documents: Pending[] = [];
    let next = 0;
    for (const record of records) {
      const { head, body, position } = record;
      const { document, known } = head;
      let prepared: Prepared;
      if (body && document.kind === "document") prepared = { ...document, body };
      else if (isWholeFile(record)) prepared = checkUnchanged(head, looked[next++]);
      else prepared = checkUnchanged(head, await rows.read(head));
      documents.push({ position, prepared, known });
    }
    return documents;
  };
  return { complete, close: () => rows.close() };
}

/** Takes up to `size` records. */
function takeBatch(records: Iterator<Spooled>, size: number): Spooled[] {
  const batch: Spooled[] = [];
  while (batch.length < size) {
    const next = records.next();
    if (next.done) break;
    batch.push(next.value);
  }
  return batch;
}

/** Whether a batch contains rows without a body: these are read from their file in order. */
function mustBeInOrder(batch: readonly Spooled[]): boolean {
  for (const record of batch) if (!record.body && !isWholeFile(record)) return true;
  return false;
}

/**
 * Yields the documents of the spool in order. Files without a body in the spool are read
 * some batches ahead of the upload.
 */
export async function* readPending(request: PendingSource): AsyncGenerator<Pending[]> {
  const { complete, close } = createCompleter(request);
  try {
    yield* readBatches(request.spool.records(), complete);
  } finally {
    await close();
  }
}

async function* readBatches(
  records: Iterator<Spooled>,
  complete: Completer["complete"],
): AsyncGenerator<Pending[]> {
  // Smaller batches for large documents: a whole batch is in memory.
  let size = documentsAtOnce;
  const inFlight: Promise<Pending[]>[] = [];
  const first = async (): Promise<Pending[]> => {
    const documents = (await inFlight.shift()) ?? [];
    const mean = bytesOf(documents) / documents.length;
    size = Math.max(1, Math.min(documentsAtOnce, Math.floor(bytesAtOnce / (mean + 1))));
    return documents;
  };
  for (;;) {
    const batch = takeBatch(records, size);
    if (batch.length === 0) break;
    const inOrder = mustBeInOrder(batch);
    while (inOrder && inFlight.length > 0) yield await first();
    const documents = complete(batch);
    // Awaited in order; a rejection meanwhile must not count as unhandled.
    documents.catch(() => {});
    inFlight.push(documents);
    if (inOrder || inFlight.length >= batchesAhead) yield await first();
  }
  while (inFlight.length > 0) yield await first();
}

/** Reads documents of the spool again, by their positions in ascending order. */
export async function* readAgain(
  positions: readonly number[],
  request: PendingSource,
): AsyncGenerator<Pending[]> {
  const { complete, close } = createCompleter(request);
  try {
    for (const position of positions) yield await complete([request.spool.read(position)]);
  } finally {
    await close();
  }
}
