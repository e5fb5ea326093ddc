import type { FileFacts } from "../documents/facts.ts";
import type { Listed } from "../documents/find.ts";
import type { Inspector, Looked } from "../documents/inspection.ts";
import type { PathRange } from "../documents/scope.ts";
import { refuseCollisions } from "./collisions.ts";
import { lookItem, withRecords, type Candidate } from "./merge.ts";
import { createPlanEntries } from "./plan-entries.ts";
import { createPlanTable, type PlanTable } from "./plan-table.ts";
import type { Shard } from "./shard.ts";
import type { State } from "./state.ts";
import type { Targets } from "./target.ts";

export interface PlanRequest {
  /** Files by name, ordered by path. */
  listed: Iterable<Listed>;
  /** Where the recorded files of the same inputs lie. */
  ranges: readonly PathRange[];
  /** Whether a recorded file that is not listed counts as gone. */
  isInScope: (path: string) => boolean;
  /** With `--since`: whether a file is looked at; the others stay as they are. */
  isTaken: ((listed: Listed) => boolean) | undefined;
  state: State;
  targets: Targets;
  /** Hash of everything except the file's bytes that shapes its payload. */
  mappingKey: (path: string) => string;
  /** The pair that the rules name for a path. */
  pairOfRule: (path: string) => number | undefined;
  /** What others say of a file. */
  factsOf?: ((path: string) => FileFacts | undefined) | undefined;
  inspector: Pick<Inspector, "look">;
  /** Compare the content of every file even when its stamp is the recorded one. */
  checksum: boolean;
  /** Plan to send what is unchanged too. */
  force: boolean;
  /** For a dry run: read each document, tell what would change, leave the state as it is. */
  isFull: boolean;
  shard: Shard | undefined;
  /** The project root with a separator at the end. */
  rootPrefix: string;
  /** Ends the plan between two batches. */
  signal: AbortSignal;
  now: () => number;
  /** Called now and then with the number of files looked at. */
  onProgress?: (files: number) => void;
  /** Whether a recorded file still is as it was recorded. */
  isCurrent: (path: string) => boolean;
  /** The id under which the service stores a document; undefined where it stores them as they are. */
  storedId?: ((id: string) => string) | undefined;
}

export interface Plan {
  readonly table: PlanTable;
  /** Files that were found, whatever became of them and in whatever shard. */
  readonly fileCount: number;
  /** Image references in the documents that were read whole. */
  readonly images: number;
  /** Pairs that documents to be sent go to; undefined among them when one has none. */
  readonly pairs: ReadonlySet<number | undefined>;
}

const filesAtOnce = 128;
const batchesAhead = 6;
const sliceMs = 50;

/**
 * Compares the files with the state and decides for each whether it is due.
 * Reads only files that may have changed, and of those no more than the id
 * takes; a dry run reads them whole. Nothing is sent here: every id is known,
 * and known to be unique, before the first request. Memory stays flat: files
 * and state are merged in order, and the plan is a table on disk. Throws
 * CliError `usage` when two files give one id, both named.
 */
export async function buildPlan(request: PlanRequest): Promise<Plan> {
  const { state, signal, inspector } = request;
  const table = createPlanTable(state.database);
  const entries = createPlanEntries(request, table);
  let fileCount = 0;

  const inWork: { candidates: Candidate[]; looked: Promise<Looked[]> }[] = [];
  const finish = async (atMost: number): Promise<void> => {
    while (inWork.length > atMost) {
      const first = inWork.shift();
      if (first) entries.add(first.candidates, await first.looked);
    }
  };
  let batch: Candidate[] = [];
  const look = async (): Promise<void> => {
    const candidates = batch;
    batch = [];
    if (candidates.length === 0) return;
    const looked = inspector.look(candidates.map(({ item }) => item));
    // Awaited in order; a rejection meanwhile must not count as unhandled.
    looked.catch(() => {});
    inWork.push({ candidates, looked });
    await finish(batchesAhead - 1);
  };

  let breatheAtMs = request.now() + sliceMs;
  for (const [listed, seen] of withRecords(request, table)) {
    if (listed.kind !== "skipped") fileCount++;
    const isTaken = request.isTaken?.(listed) !== false;
    if (listed.kind === "failed" || (isTaken && listed.kind === "skipped")) {
      entries.addLeftOut(listed.kind, listed.path, listed.reason);
    } else if (isTaken && listed.kind === "file") {
      batch.push(lookItem(listed, seen, request));
      if (batch.length >= filesAtOnce) await look();
    }
    if (request.now() >= breatheAtMs) {
      // Much is synchronous: let signals and the progress line have their turn.
      request.onProgress?.(fileCount);
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      breatheAtMs = request.now() + sliceMs;
    }
  }
  await look();
  await finish(0);
  entries.save();
  table.flush();
  refuseCollisions(table, request);
  return { table, fileCount, images: entries.images(), pairs: entries.pairs };
}
