import type { Listed } from "../../documents/find/source-file.ts";
import type { PlanRequest } from "./plan-request.ts";
import type { Prepared } from "../../documents/inspect/inspection.ts";
import { formatOf } from "../../documents/read/readers.ts";
import { absoluteOf } from "../../documents/inspect/absolute.ts";
import { statFile } from "../../documents/find/place/stat-file.ts";
import { refuseCollisions } from "./collisions.ts";
import { bytesOf, createReadAhead, nextTurn } from "./read-ahead.ts";
import { lookItem, withRecords, type Candidate } from "./merge.ts";
import { createPlanEntries, type PlanEntries } from "./plan-entries.ts";
import { createUnselected } from "./unselected.ts";
import { changedMeanwhile, createPlanIds, type PlanIds } from "./plan-ids.ts";
import { createPlanTable, type PlanTable } from "./plan-table.ts";
import type { RecordedFile } from "./scan.ts";

export interface Plan {
  readonly table: PlanTable;
  /** Files that were found, including failed files and files of other shards. */
  readonly fileCount: number;
  /** Paths of the files that only links lead to: they may lie outside the inputs. */
  readonly linked: ReadonlySet<string>;
  /** Image references in the documents that were read. */
  readonly images: number;
  /** Pairs of the documents to send; contains undefined when a document has no pair. */
  readonly pairs: ReadonlySet<number | undefined>;
}

// Each batch of rows is one durable transaction, and is in memory as a whole.
const rowsAtOnce = 1024;
const bytesAtOnce = 1024 * 1024;
const sliceMs = 50;

/** Reads a file of rows, unless it is unchanged. */
async function addRows(
  candidate: Candidate,
  request: PlanRequest,
  entries: PlanEntries,
  yieldToEvents: () => Promise<void>,
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
    await yieldToEvents();
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
 * Compares the files with the state and decides for each file whether it is sent.
 * Reads only files that may have changed. Documents to send go into the spool; most
 * new files go there as paths only. Sends nothing: all ids are checked to be unique
 * before the first request. Memory stays constant: files and state are merged in
 * order, and plan and spool are on disk. Throws CliError `usage`, naming both files,
 * when two files have one id.
 */
export async function buildPlan(request: PlanRequest): Promise<Plan> {
  const { state, signal } = request;
  const table = createPlanTable(state.database);
  // PlanIds keeps no owners of ids, which a plan with unselected files needs.
  const isFirst = request.spool !== undefined && !request.isSelected && state.countFiles(1) === 0;
  const ids = isFirst ? openIds(request) : undefined;
  const entries = createPlanEntries(request, table, ids);
  const readAhead = createReadAhead(request, entries);
  const unselected = createUnselected(request, entries);
  const linked = new Set<string>();
  let fileCount = 0;
  let yieldAtMs = request.elapsed() + sliceMs;
  // Planning is mostly synchronous: yield regularly for signals and the progress line.
  const isYieldDue = (): boolean => request.elapsed() >= yieldAtMs;
  const yieldToEvents = async (): Promise<void> => {
    if (!isYieldDue()) return;
    request.onProgress?.(fileCount);
    await nextTurn();
    signal.throwIfAborted();
    yieldAtMs = request.elapsed() + sliceMs;
  };
  const addAllRows = async (candidate: Candidate): Promise<void> => {
    await readAhead.settle();
    await addRows(candidate, request, entries, yieldToEvents);
  };
  const addListed = (listed: Listed, seen: RecordedFile | undefined): Promise<void> | undefined => {
    if (listed.kind !== "skipped") fileCount++;
    const isSelected = request.isSelected?.(listed, seen?.parts) !== false;
    if (listed.kind !== "file") {
      const isReported = isSelected || listed.kind === "failed";
      if (isReported) entries.addLeftOut(listed.kind, listed.path, listed.reason);
      return undefined;
    }
    if (listed.links) linked.add(listed.path);
    // The state already knows the ids of recorded files.
    if (!isSelected && seen) return undefined;
    const candidate = lookItem(listed, seen, request);
    if (!isSelected) return unselected.add(candidate);
    if (formatOf(listed.path, request.formatFor?.(listed.path))?.gives === "rows")
      return addAllRows(candidate);
    return seen ? readAhead.add(candidate) : readAhead.addNew(candidate);
  };
  for (const [listed, seen] of withRecords(request, table)) {
    const added = addListed(listed, seen);
    if (added) await added;
    if (isYieldDue()) await yieldToEvents();
  }
  await readAhead.settle();
  await unselected.settle();
  entries.save();
  table.index();
  if (ids?.hasDuplicates()) {
    // PlanIds does not know the files; a dry plan does, and throws with their names.
    await buildPlan({ ...request, spool: undefined });
    throw changedMeanwhile();
  }
  refuseCollisions(table, request);
  const { pairs } = entries;
  return { table, fileCount, linked, images: entries.images(), pairs };
}
