import type { PlanRequest } from "./plan-request.ts";
import type { Looked } from "../../documents/inspect/inspection.ts";
import type { Candidate } from "./merge.ts";
import type { PlanEntries } from "./plan-entries.ts";

/**
 * Inspects the files of a plan and adds the results to it. Returns a promise only when there
 * is something to await: a promise per file would cost more than the file.
 */
export interface ReadAhead {
  /** A recorded file. */
  add(candidate: Candidate): Promise<void> | undefined;
  /** A file without a record. */
  addNew(candidate: Candidate): Promise<void> | undefined;
  /** Waits until all results are added, including new files that are still held back. */
  settle(): Promise<void>;
}

const mostFilesAtOnce = 512;
const bytesAtOnce = 1024 * 1024;
const batchesAhead = 4;

/** Bytes of the bodies among the results. */
export function bytesOf(looked: readonly Looked[]): number {
  return looked.reduce((sum, each) => sum + (each.kind === "document" ? each.body.length : 0), 0);
}

/** One turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Inspects files in batches, several ahead, and adds the results in order. */
function createBatches({ inspector }: PlanRequest, entries: PlanEntries) {
  const inFlight: { candidates: Candidate[]; looked: Promise<Looked[]> }[] = [];
  let batch: Candidate[] = [];
  let filesAtOnce = 128;
  const finish = async (atMost: number): Promise<void> => {
    while (inFlight.length > atMost) {
      const first = inFlight.shift();
      if (!first) return;
      const looked = await first.looked;
      // Small batches for large documents: a whole batch is in memory.
      const mean = bytesOf(looked) / looked.length;
      filesAtOnce = Math.max(1, Math.min(mostFilesAtOnce, Math.floor(bytesAtOnce / (mean + 1))));
      entries.add(first.candidates, looked);
    }
  };
  const look = async (): Promise<void> => {
    const candidates = batch;
    batch = [];
    if (candidates.length === 0) return;
    // Results of threads arrive in a turn of the event loop. Without it the threads seem busy,
    // and this thread would do their work while they are idle.
    if (inFlight.length > 1) await nextTurn();
    const looked = inspector.look(candidates.map(({ item }) => item));
    // Awaited in order; a rejection meanwhile must not count as unhandled.
    looked.catch(() => {});
    inFlight.push({ candidates, looked });
    await finish(batchesAhead - 1);
  };
  return {
    add: (candidate: Candidate): Promise<void> | undefined =>
      batch.push(candidate) >= filesAtOnce ? look() : undefined,
    async end(): Promise<void> {
      await look();
      await finish(0);
    },
  };
}

/** Creates a ReadAhead. PlanRequest.mostReadFirst decides which new files are not read. */
export function createReadAhead(request: PlanRequest, entries: PlanEntries): ReadAhead {
  const { inspector, mostReadFirst, spool } = request;
  const batches = createBatches(request, entries);
  const { add } = batches;
  // New files, held back until their number is known.
  let first: Candidate[] = [];
  let newFiles = 0;
  const addPeeked = (candidate: Candidate): Promise<void> | undefined => {
    const peeked = inspector.peekId(candidate.item);
    return peeked && entries.addPeeked(candidate, peeked) ? undefined : add(candidate);
  };
  const areMany = (): boolean => mostReadFirst !== undefined && newFiles > mostReadFirst;
  const addFirst = async (): Promise<void> => {
    const candidates = first;
    first = [];
    for (const each of candidates) await (areMany() ? addPeeked(each) : add(each));
  };
  const settle = async (): Promise<void> => {
    await addFirst();
    await batches.end();
  };
  return {
    add,
    addNew(candidate) {
      // Without a spool (a dry run) all files are read: an id alone does not show what would be sent.
      if (mostReadFirst === undefined || !spool) return add(candidate);
      newFiles++;
      if (areMany() && first.length === 0) return addPeeked(candidate);
      first.push(candidate);
      return areMany() ? addFirst() : undefined;
    },
    settle,
  };
}
