import type { FileFacts } from "../../documents/map/facts.ts";
import type { Listed } from "../../documents/find/find.ts";
import type { GlancingInspector, Prepared } from "../../documents/inspect/inspection.ts";
import { formatOf, type FormatName } from "../../documents/read/readers.ts";
import { absoluteOf } from "../../documents/inspect/recorded.ts";
import type { PathRange } from "../../documents/find/scope.ts";
import { statFile } from "../../documents/find/stat-file.ts";
import { refuseCollisions, refuseTwins } from "./collisions.ts";
import { bytesOf, createLooking, turn } from "./looking.ts";
import { lookItem, withRecords, type Candidate } from "./merge.ts";
import { createPlanEntries, type PlanEntries } from "./plan-entries.ts";
import { createUntaken } from "./untaken.ts";
import { changedMeanwhile, createPlanIds, type PlanIds } from "./plan-ids.ts";
import { createPlanTable, type PlanTable } from "./plan-table.ts";
import type { SpoolHead } from "../run/due.ts";
import type { SeenFile } from "./scan.ts";
import type { Shard } from "./shard.ts";
import { createMemoryTable } from "./memory-table.ts";
import type { Spool } from "../run/spool.ts";
import type { State } from "../state/state.ts";
import type { Targets } from "../state/target.ts";

/** What the plan knows of the run's options. */
export interface RunOptions {
  /** Their number in the state; undefined where the state does not have them. */
  number: number | undefined;
  /** In which way they differ from those of this number, e.g. `sections headings → whole`; "" where they don't, or nobody knows. */
  differenceFrom: (number: number) => string;
}

export interface PlanRequest {
  /** Project root. */
  root: string;
  /** Lists the files by name, ordered by path; those that only links lead to come last. */
  list: () => Iterable<Listed>;
  /** Where the recorded files of the same inputs lie. */
  ranges: readonly PathRange[];
  /** Whether a recorded file that is not listed counts as gone. */
  isInScope: (path: string) => boolean;
  /** Whether a pattern leaves a recorded file out. */
  isExcluded?: ((path: string) => boolean) | undefined;
  /** With `--since`: whether a file is looked at; the others stay as they are. */
  isTaken: ((listed: Listed) => boolean) | undefined;
  state: State;
  targets: Targets;
  /** The options of this run, to be compared with those of the records. */
  options: RunOptions;
  /** Hash of everything except the file's bytes that shapes its payload. */
  mappingKey: (path: string) => string;
  /** What ids that are paths begin with; often "". */
  idPrefix: string;
  /** How every file is read, whatever its extension says. */
  format?: FormatName | undefined;
  /** What others say of a file. */
  factsOf?: ((path: string) => FileFacts | undefined) | undefined;
  inspector: GlancingInspector;
  /** Compare the content of every file even when its stamp is the recorded one. */
  checksum: boolean;
  /** Plan to send what is unchanged too. */
  force: boolean;
  /** Takes what is to be sent; undefined for a dry run, which leaves the state as it is. */
  spool: Spool<SpoolHead> | undefined;
  /**
   * Where there are more new files than so many, they are read when their turn
   * comes, wherever a glance tells their id; what others give is kept with the
   * plan. Till that is known they wait, and recorded ones go before them. Default,
   * and without a spool: any number is read, in the order of paths.
   */
  mostReadFirst?: number | undefined;
  shard: Shard | undefined;
  /** Ends the plan between two batches. */
  signal: AbortSignal;
  /** Milliseconds of a clock that is never set. */
  elapsed: () => number;
  /** Called now and then with the number of files looked at. */
  onProgress?: (files: number) => void;
  /** Called once when many documents are to be sent: what that takes can be begun. */
  onManyDue?: (() => void) | undefined;
  /** Whether a recorded file still is as it was recorded. */
  isCurrent: (path: string) => boolean;
  /** A root-relative path as people read it, for what is refused. */
  shown?: ((path: string) => string) | undefined;
  /** The id under which the service stores a document; undefined where it stores them as they are. */
  storedId?: ((id: string) => string) | undefined;
}

export interface Plan {
  readonly table: PlanTable;
  /** Files that were found, whatever became of them and in whatever shard. */
  readonly fileCount: number;
  /** Paths of the files that only links lead to: they may lie outside the inputs. */
  readonly linked: ReadonlySet<string>;
  /** Image references in the documents that were read. */
  readonly images: number;
  /** Pairs that documents to be sent go to; undefined among them when one has none. */
  readonly pairs: ReadonlySet<number | undefined>;
}

// Each is a durable transaction, and all of them are in memory.
const rowsAtOnce = 1024;
const bytesAtOnce = 1024 * 1024;
const sliceMs = 50;

/** Reads a file of rows, unless it is as recorded. */
async function addRows(
  candidate: Candidate,
  request: PlanRequest,
  entries: PlanEntries,
  breathe: () => Promise<void>,
): Promise<void> {
  const { path, absolutePath = absoluteOf(request.root, path), stamp, content } = candidate.item;
  const isTrusted = stamp !== undefined && content === undefined;
  const listed = isTrusted ? statFile(path, absolutePath) : undefined;
  if (listed?.kind === "file" && listed.file.stamp === stamp) {
    entries.add([candidate], [{ kind: "same" }]);
    return;
  }
  let rows: Prepared[] = [];
  let last = 0;
  let bytes = 0;
  for await (const row of request.inspector.readRows(candidate.item)) {
    last = row.part;
    rows.push(row);
    bytes += bytesOf([row]);
    if (rows.length < rowsAtOnce && bytes < bytesAtOnce) continue;
    entries.addRows(candidate, rows);
    rows = [];
    bytes = 0;
    await breathe();
  }
  entries.addRows(candidate, rows);
  if (request.spool) request.state.dropPartsBeyond(path, last);
}

function openIds({ state, storedId, idPrefix, spool }: PlanRequest): PlanIds {
  const due = function* (): Generator<{ id: string; path: string; part: number }> {
    for (const { head } of spool?.records() ?? []) yield head.document;
  };
  return createPlanIds({ database: state.database, storedId, idPrefix, due });
}

/**
 * Compares the files with the state and decides for each whether it is sent.
 * Reads only files that may have changed: what is to be sent goes into the
 * spool, of most new files no more than where they are. Nothing is sent here: every
 * id is known, and known to be unique, before the first request. Memory stays flat: files and state are
 * merged in order, plan and spool are on disk. Throws CliError `usage` when two
 * files give one id, both named.
 */
export async function buildPlan(request: PlanRequest): Promise<Plan> {
  const { state, signal } = request;
  const table = state.isRecordless
    ? createMemoryTable(state.database)
    : createPlanTable(state.database);
  // With files that are not taken it matters whose an id is.
  const isFirst =
    !state.isRecordless &&
    request.spool !== undefined &&
    !request.isTaken &&
    state.countFiles(1) === 0;
  const ids = isFirst ? openIds(request) : undefined;
  const entries = createPlanEntries(request, table, ids);
  const looking = createLooking(request, entries);
  const untaken = createUntaken(request, entries);
  const linked = new Set<string>();
  let fileCount = 0;
  let breatheAtMs = request.elapsed() + sliceMs;
  // Much is synchronous: let signals and the progress line have their turn.
  const mayBreathe = (): boolean => request.elapsed() >= breatheAtMs;
  const breathe = async (): Promise<void> => {
    if (!mayBreathe()) return;
    request.onProgress?.(fileCount);
    await turn();
    signal.throwIfAborted();
    breatheAtMs = request.elapsed() + sliceMs;
  };
  const addAllRows = async (candidate: Candidate): Promise<void> => {
    await looking.settle();
    await addRows(candidate, request, entries, breathe);
  };
  // Apart from the loop, which V8 would else compile with all of this in it, and then again.
  const take = (listed: Listed, seen: SeenFile | undefined): Promise<void> | undefined => {
    if (listed.kind !== "skipped") fileCount++;
    const isTaken = request.isTaken?.(listed) !== false;
    if (listed.kind !== "file") {
      const isTold = isTaken || listed.kind === "failed";
      if (isTold) entries.addLeftOut(listed.kind, listed.path, listed.reason);
      return undefined;
    }
    if (listed.links) linked.add(listed.path);
    // Of recorded files the state knows the ids.
    if (!isTaken && seen) return undefined;
    const candidate = lookItem(listed, seen, request);
    if (!isTaken) return untaken.add(candidate);
    if (formatOf(listed.path, request.format)?.gives === "rows") return addAllRows(candidate);
    return seen ? looking.add(candidate) : looking.addNew(candidate);
  };
  for (const [listed, seen] of withRecords(request, table)) {
    const taken = take(listed, seen);
    if (taken) await taken;
    if (mayBreathe()) await breathe();
  }
  await looking.settle();
  await untaken.settle();
  entries.save();
  table.index();
  if (ids?.isAnyTwice()) {
    // A plan that only looks names the files.
    await buildPlan({ ...request, spool: undefined });
    throw changedMeanwhile();
  }
  if (state.isRecordless) refuseTwins(table, request);
  else refuseCollisions(table, request);
  const { pairs } = entries;
  return { table, fileCount, linked, images: entries.images(), pairs };
}
