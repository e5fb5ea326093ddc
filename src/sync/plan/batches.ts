import type { Looked } from "../../documents/inspect/inspection.ts";
import { filesInThisThread } from "../../documents/inspect/open-inspector.ts";
import type { Candidate, PlanRequest } from "./merge.ts";
import type { PlanEntries } from "./plan-entries.ts";

/** How files go to the inspector. */
interface BatchRequest<Result> {
  /** Size of the first batch. */
  size: number;
  inspect: (items: Candidate["item"][]) => Promise<Result[]>;
  /** Adds the results of a batch. Returns the size of the next batches. */
  add: (candidates: Candidate[], results: Result[]) => number | Promise<number>;
}

/** Inspects files in batches. add() returns a promise only when there is something to await. */
interface Batches {
  add(candidate: Candidate): Promise<void> | undefined;
  /** Waits until all results are added. */
  settle(): Promise<void>;
}

const batchesAhead = 4;
const mostFilesAtOnce = 512;
const bytesAtOnce = 1024 * 1024;
// As many as one thread identifies alone: more go to the other threads, from the first one on.
const newFilesAtOnce = filesInThisThread + 1;

/** Bytes of the bodies among the results. */
export function bytesOf(looked: readonly Looked[]): number {
  return looked.reduce((sum, each) => sum + (each.kind === "document" ? each.body.length : 0), 0);
}

/** One turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Inspects several batches ahead, and adds the results in order. */
function createBatches<Result>({ inspect, add, ...first }: BatchRequest<Result>): Batches {
  const inFlight: { candidates: Candidate[]; results: Promise<Result[]> }[] = [];
  let batch: Candidate[] = [];
  let { size } = first;
  const finish = async (atMost: number): Promise<void> => {
    while (inFlight.length > atMost) {
      const next = inFlight.shift();
      if (!next) return;
      size = await add(next.candidates, await next.results);
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
    add: (candidate) => (batch.push(candidate) >= size ? start() : undefined),
    async settle() {
      await start();
      await finish(0);
    },
  };
}

/** Batches of files that are compared with their records, or read. */
export function createLooks({ inspector }: PlanRequest, entries: PlanEntries): Batches {
  return createBatches<Looked>({
    size: 128,
    inspect: (items) => inspector.look(items),
    add(candidates, looked) {
      entries.add(candidates, looked);
      // Small batches for large documents: a whole batch is in memory.
      const mean = bytesOf(looked) / looked.length;
      return Math.max(1, Math.min(mostFilesAtOnce, Math.floor(bytesAtOnce / (mean + 1))));
    },
  });
}

/**
 * Batches of new files, of which the plan needs only the ids. `unsure` gets the files whose id only
 * the whole file tells.
 */
export function createNewFiles(
  { inspector }: PlanRequest,
  addId: (candidate: Candidate, id: { id: string; ownPair: number | undefined }) => boolean,
  unsure: (candidate: Candidate) => Promise<void> | undefined,
): Batches {
  return createBatches({
    size: newFilesAtOnce,
    inspect: (items) => inspector.identify(items),
    async add(candidates, ids) {
      for (const [index, candidate] of candidates.entries()) {
        const id = ids[index];
        if (!id || !addId(candidate, id)) await unsure(candidate);
      }
      return 256;
    },
  });
}
