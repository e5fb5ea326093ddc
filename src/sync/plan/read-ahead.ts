import type { PlanRequest } from "./plan-request.ts";
import type { Looked, PeekedId } from "../../documents/inspect/inspection.ts";
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
const peekedAtOnce = 256;
const bytesAtOnce = 1024 * 1024;

/** Bytes of the bodies among the results. */
export function bytesOf(looked: readonly Looked[]): number {
  return looked.reduce((sum, each) => sum + (each.kind === "document" ? each.body.length : 0), 0);
}

/** One turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** How files go to the inspector. */
interface BatchRequest<Result> {
  /** Size of the first batch. */
  filesAtOnce: number;
  batchesAhead: number;
  inspect: (items: Candidate["item"][]) => Promise<Result[]>;
  /** Adds the results of a batch. Returns the size of the next batches. */
  add: (candidates: Candidate[], results: Result[]) => number | Promise<number>;
}

/** Inspects files in batches, several ahead, and adds the results in order. */
function createBatches<Result>({ inspect, add, batchesAhead, ...first }: BatchRequest<Result>) {
  const inFlight: { candidates: Candidate[]; results: Promise<Result[]> }[] = [];
  let batch: Candidate[] = [];
  let { filesAtOnce } = first;
  const finish = async (atMost: number): Promise<void> => {
    while (inFlight.length > atMost) {
      const next = inFlight.shift();
      if (!next) return;
      filesAtOnce = await add(next.candidates, await next.results);
    }
  };
  const start = async (): Promise<void> => {
    const candidates = batch;
    batch = [];
    if (candidates.length === 0) return;
    // Results of threads arrive in a turn of the event loop. Without it the threads seem busy,
    // and this thread would do their work while they are idle.
    if (inFlight.length > 1) await nextTurn();
    const results = inspect(candidates.map(({ item }) => item));
    // Awaited in order; a rejection meanwhile must not count as unhandled.
    results.catch(() => {});
    inFlight.push({ candidates, results });
    await finish(batchesAhead - 1);
  };
  return {
    add: (candidate: Candidate): Promise<void> | undefined =>
      batch.push(candidate) >= filesAtOnce ? start() : undefined,
    async end(): Promise<void> {
      await start();
      await finish(0);
    },
  };
}

/** Creates a ReadAhead. PlanRequest.mostReadFirst decides which new files are not read. */
export function createReadAhead(request: PlanRequest, entries: PlanEntries): ReadAhead {
  const { inspector, mostReadFirst, spool } = request;
  const looks = createBatches<Looked>({
    filesAtOnce: 128,
    batchesAhead: 4,
    inspect: (items) => inspector.look(items),
    add(candidates, looked) {
      entries.add(candidates, looked);
      // Small batches for large documents: a whole batch is in memory.
      const mean = bytesOf(looked) / looked.length;
      return Math.max(1, Math.min(mostFilesAtOnce, Math.floor(bytesAtOnce / (mean + 1))));
    },
  });
  const { add } = looks;
  const peeks = createBatches<PeekedId | undefined>({
    filesAtOnce: peekedAtOnce,
    // While a thread starts, this thread goes on.
    batchesAhead: 64,
    inspect: (items) => inspector.peekIds(items),
    async add(candidates, peeked) {
      for (const [index, candidate] of candidates.entries()) {
        const id = peeked[index];
        if (!id || !entries.addPeeked(candidate, id)) await add(candidate);
      }
      return peekedAtOnce;
    },
  });
  // New files, held back until their number is known.
  let first: Candidate[] = [];
  let newFiles = 0;
  const areMany = (): boolean => mostReadFirst !== undefined && newFiles > mostReadFirst;
  const addFirst = async (): Promise<void> => {
    const candidates = first;
    first = [];
    for (const each of candidates) await (areMany() ? peeks.add(each) : add(each));
  };
  const settle = async (): Promise<void> => {
    await addFirst();
    await peeks.end();
    await looks.end();
  };
  return {
    add,
    addNew(candidate) {
      // Without a spool (a dry run) all files are read: an id alone does not show what would be sent.
      if (mostReadFirst === undefined || !spool) return add(candidate);
      newFiles++;
      if (areMany() && first.length === 0) return peeks.add(candidate);
      first.push(candidate);
      return areMany() ? addFirst() : undefined;
    },
    settle,
  };
}
