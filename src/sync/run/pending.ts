import type { FileFacts } from "../../documents/map/facts.ts";
import type {
  Inspector,
  Looked,
  LookItem,
  Prepared,
  ReadyDocument,
} from "../../documents/inspect/inspection.ts";
import type { Spool, SpoolRecord } from "./spool.ts";

/** A document on its way. */
export interface Pending {
  /** Where the spool holds it; undefined for what came from stdin. */
  position: number | undefined;
  prepared: Prepared;
  /** What the service has of it already; undefined when that is to be looked up. */
  known: Known | undefined;
}

/** What all that stdin brings has in common: none of it is in the spool or looked up yet. */
export const fromStdin = { position: undefined, known: undefined } as const;

/** How a document that the service has was sent last. */
export interface LastSent {
  /** `doc_updated_at` as it was sent; undefined when the service took its own clock. */
  updatedAt?: string | undefined;
  sentAtMs: number;
}

/** Whether the service has a document: how it was sent last, undefined for a new one. */
export interface Known {
  last: LastSent | undefined;
}

export function knownOf(accepted: LastSent | undefined): Known {
  return {
    last: accepted && { updatedAt: accepted.updatedAt, sentAtMs: accepted.sentAtMs },
  };
}

/** A document of which nothing but its id is known: its file is read when its turn comes. */
interface PeekedDocument {
  kind: "peeked";
  path: string;
  part: number;
  id: string;
}

/** What the spool holds beside the body. */
export interface SpoolHead {
  document: Omit<ReadyDocument, "body"> | PeekedDocument;
  absolutePath: string | undefined;
  facts?: FileFacts | undefined;
  known: Known;
}

/** Where documents come from between plan and upload. */
export interface PendingSource {
  spool: Spool<SpoolHead>;
  /** For what the spool has no room for. */
  inspector: Inspector;
}

const documentsAtOnce = 64;
const bytesAtOnce = 1024 * 1024;
// Read while earlier ones are being sent.
const batchesAhead = 2;

/** Reads rows of a file again, in order, without beginning anew for each. */
function createRowReader({ inspector }: PendingSource) {
  let open: { path: string; rows: AsyncIterator<Prepared> } | undefined;
  return async ({ document, absolutePath, facts }: SpoolHead): Promise<Prepared | undefined> => {
    const { path, part } = document;
    if (open?.path !== path) {
      open = {
        path,
        rows: inspector.readRows({ path, absolutePath, facts })[Symbol.asyncIterator](),
      };
    }
    for (;;) {
      const row = await open.rows.next();
      if (row.done || row.value.part > part) return undefined;
      if (row.value.part === part) return row.value;
    }
  };
}

// The id was checked for uniqueness with the plan; another one may collide.
function checked({ document }: SpoolHead, again: Looked | undefined): Prepared {
  const { path, part, id } = document;
  const isPlanned =
    again && again.kind !== "same" && (again.kind !== "document" || again.id === id);
  if (isPlanned) return again;
  const reason = `${path}: changed during the run; run again to send it`;
  return { kind: "failed", path, part, reason };
}

type Spooled = SpoolRecord<SpoolHead>;

/** Whether a record is of a whole file, not a row of one. */
function isWhole({ head }: Spooled): boolean {
  return head.document.part === 0;
}

function bytesOf(documents: readonly Pending[]): number {
  let sum = 0;
  for (const { prepared } of documents)
    if (prepared.kind === "document") sum += prepared.body.length;
  return sum;
}

/** What is to be read again as a whole. */
function itemsOf(records: readonly Spooled[]): LookItem[] {
  const items: LookItem[] = [];
  for (const record of records) {
    if (record.body || !isWhole(record)) continue;
    const { document, absolutePath, facts } = record.head;
    items.push({ path: document.path, absolutePath, facts, stamp: undefined, content: undefined });
  }
  return items;
}

/** Completes records of the spool, those without a body by reading them again. */
function createCompleter(request: PendingSource): (records: Spooled[]) => Promise<Pending[]> {
  const readRow = createRowReader(request);
  return async (records) => {
    const items = itemsOf(records);
    const looked = items.length > 0 ? await request.inspector.look(items) : [];
    const documents: Pending[] = [];
    let next = 0;
    for (const record of records) {
      const { head, body, position } = record;
      const { document, known } = head;
      let prepared: Prepared;
      if (body && document.kind === "document") prepared = { ...document, body };
      else if (isWhole(record)) prepared = checked(head, looked[next++]);
      else prepared = checked(head, await readRow(head));
      documents.push({ position, prepared, known });
    }
    return documents;
  };
}

/** The next records of those that are left. */
function takeBatch(records: Iterator<Spooled>, size: number): Spooled[] {
  const batch: Spooled[] = [];
  while (batch.length < size) {
    const next = records.next();
    if (next.done) break;
    batch.push(next.value);
  }
  return batch;
}

/** Whether a batch holds rows to be read again: one after the other, from one place in their file to the next. */
function mustBeInOrder(batch: readonly Spooled[]): boolean {
  for (const record of batch) if (!record.body && !isWhole(record)) return true;
  return false;
}

/**
 * What the plan put into the spool, in order. Files that are not in there as a
 * whole are read some batches ahead of those who send.
 */
export async function* readPending(request: PendingSource): AsyncGenerator<Pending[]> {
  const complete = createCompleter(request);
  const records = request.spool.records();
  // Fewer where documents are large, as all of a batch are in memory.
  let size = documentsAtOnce;
  const inWork: Promise<Pending[]>[] = [];
  const first = async (): Promise<Pending[]> => {
    const documents = (await inWork.shift()) ?? [];
    const mean = bytesOf(documents) / documents.length;
    size = Math.max(1, Math.min(documentsAtOnce, Math.floor(bytesAtOnce / (mean + 1))));
    return documents;
  };
  for (;;) {
    const batch = takeBatch(records, size);
    if (batch.length === 0) break;
    const inOrder = mustBeInOrder(batch);
    while (inOrder && inWork.length > 0) yield await first();
    const documents = complete(batch);
    // Awaited in order; a rejection meanwhile must not count as unhandled.
    documents.catch(() => {});
    inWork.push(documents);
    if (inOrder || inWork.length >= batchesAhead) yield await first();
  }
  while (inWork.length > 0) yield await first();
}

/** Documents of the spool once more, by their positions in ascending order. */
export async function* readAgain(
  positions: readonly number[],
  request: PendingSource,
): AsyncGenerator<Pending[]> {
  const complete = createCompleter(request);
  for (const position of positions) yield await complete([request.spool.read(position)]);
}
