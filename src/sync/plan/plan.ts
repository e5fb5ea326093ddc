import type { Listed } from "../../documents/find/source-file.ts";
import type { PlanRequest } from "./plan-request.ts";
import type { Prepared } from "../../documents/inspect/inspection.ts";
import { formatOf } from "../../documents/read/readers.ts";
import { absoluteOf } from "../../documents/inspect/recorded.ts";
import { statFile } from "../../documents/find/stat-file.ts";
import { refuseCollisions, refuseTwins } from "./collisions.ts";
import { bytesOf, createReadAhead, turn } from "./read-ahead.ts";
import { lookItem, withRecords, type Candidate } from "./merge.ts";
import { createPlanEntries, type PlanEntries } from "./plan-entries.ts";
import { createUnselected } from "./unselected.ts";
import { changedMeanwhile, createPlanIds, type PlanIds } from "./plan-ids.ts";
import { createPlanTable, type PlanTable } from "./plan-table.ts";
import type { SeenFile } from "./scan.ts";
import { createMemoryTable } from "./memory-table.ts";

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
  const pending = function* (): Generator<{ id: string; path: string; part: number }> {
    for (const { head } of spool?.records() ?? []) yield head.document;
  };
  return createPlanIds({ database: state.database, storedId, idPrefix, pending });
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
    !request.isSelected &&
    state.countFiles(1) === 0;
  const ids = isFirst ? openIds(request) : undefined;
  const entries = createPlanEntries(request, table, ids);
  const readAhead = createReadAhead(request, entries);
  const unselected = createUnselected(request, entries);
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
    await readAhead.settle();
    await addRows(candidate, request, entries, breathe);
  };
  const take = (listed: Listed, seen: SeenFile | undefined): Promise<void> | undefined => {
    if (listed.kind !== "skipped") fileCount++;
    const isSelected = request.isSelected?.(listed) !== false;
    if (listed.kind !== "file") {
      const isTold = isSelected || listed.kind === "failed";
      if (isTold) entries.addLeftOut(listed.kind, listed.path, listed.reason);
      return undefined;
    }
    if (listed.links) linked.add(listed.path);
    // Of recorded files the state knows the ids.
    if (!isSelected && seen) return undefined;
    const candidate = lookItem(listed, seen, request);
    if (!isSelected) return unselected.add(candidate);
    if (formatOf(listed.path, request.format)?.gives === "rows") return addAllRows(candidate);
    return seen ? readAhead.add(candidate) : readAhead.addNew(candidate);
  };
  for (const [listed, seen] of withRecords(request, table)) {
    const taken = take(listed, seen);
    if (taken) await taken;
    if (mayBreathe()) await breathe();
  }
  await readAhead.settle();
  await unselected.settle();
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
