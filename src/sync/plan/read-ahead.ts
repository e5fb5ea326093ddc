import type { PlanRequest } from "./plan-request.ts";
import type { Looked } from "../../documents/inspect/inspection.ts";
import type { Candidate } from "./merge.ts";
import type { PlanEntries } from "./plan-entries.ts";

/**
 * Looks at the files of a plan and hands on what they give. To be waited for only
 * where there is something: a promise a file would cost more than the file.
 */
export interface ReadAhead {
  /** A file that is recorded. */
  add(candidate: Candidate): Promise<void> | undefined;
  /** A file that is not. */
  addNew(candidate: Candidate): Promise<void> | undefined;
  /** Waits until all of them have given what they give; of the first new ones some wait till then. */
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
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Looks at files in batches, some ahead; hands the results on in order. */
function createBatches({ inspector }: PlanRequest, entries: PlanEntries) {
  const inWork: { candidates: Candidate[]; looked: Promise<Looked[]> }[] = [];
  let batch: Candidate[] = [];
  let filesAtOnce = 128;
  const finish = async (atMost: number): Promise<void> => {
    while (inWork.length > atMost) {
      const first = inWork.shift();
      if (!first) return;
      const looked = await first.looked;
      // Large documents in small batches: all of them are in memory at once.
      const mean = bytesOf(looked) / looked.length;
      filesAtOnce = Math.max(1, Math.min(mostFilesAtOnce, Math.floor(bytesAtOnce / (mean + 1))));
      entries.add(first.candidates, looked);
    }
  };
  const look = async (): Promise<void> => {
    const candidates = batch;
    batch = [];
    if (candidates.length === 0) return;
    // What threads have answered is seen in a turn of the event loop: till then they seem busy,
    // and this thread would do their work while they wait.
    if (inWork.length > 1) await turn();
    const looked = inspector.look(candidates.map(({ item }) => item));
    // Awaited in order; a rejection meanwhile must not count as unhandled.
    looked.catch(() => {});
    inWork.push({ candidates, looked });
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

/** See Looking and, for which new files are not read, PlanRequest. */
export function createReadAhead(request: PlanRequest, entries: PlanEntries): ReadAhead {
  const { inspector, mostReadFirst, spool } = request;
  const batches = createBatches(request, entries);
  const { add } = batches;
  // New files, until it is known whether they are few.
  let first: Candidate[] = [];
  let newFiles = 0;
  const addGlanced = (candidate: Candidate): Promise<void> | undefined => {
    const peeked = inspector.peekId(candidate.item);
    return peeked && entries.addPeeked(candidate, peeked) ? undefined : add(candidate);
  };
  const areMany = (): boolean => mostReadFirst !== undefined && newFiles > mostReadFirst;
  const addFirst = async (): Promise<void> => {
    const held = first;
    first = [];
    for (const each of held) await (areMany() ? addGlanced(each) : add(each));
  };
  const settle = async (): Promise<void> => {
    await addFirst();
    await batches.end();
  };
  return {
    add,
    addNew(candidate) {
      // Without a spool all are read: a glance is not enough to tell what would be sent.
      if (mostReadFirst === undefined || !spool) return add(candidate);
      newFiles++;
      if (areMany() && first.length === 0) return addGlanced(candidate);
      first.push(candidate);
      return areMany() ? addFirst() : undefined;
    },
    settle,
  };
}
