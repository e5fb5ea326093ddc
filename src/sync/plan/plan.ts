import { type Listed, absoluteOf, statFile } from "../../documents/files/source-file.ts";
import {
  type PlanRequest,
  lookItem,
  withRecords,
  type Candidate,
  type RecordedFile,
} from "./merge.ts";
import type { Prepared } from "../../documents/inspect/inspection.ts";
import { formatOf } from "../../documents/formats/formats.ts";
import { refuseCollisions } from "./collisions.ts";
import { bytesOf, createLooks, createNewFiles, nextTurn } from "./batches.ts";
import { createPlanEntries, type PlanEntries } from "./plan-entries.ts";
import { createPlanTable, type PlanTable } from "./plan-table.ts";

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
  if (!request.isDry) request.state.dropPartsBeyond(path, last);
}

/** Plans the ids of a file that the run leaves as it is: no other problem of it concerns the run. */
async function addUnselected(
  { item }: Candidate,
  { inspector, formatFor }: PlanRequest,
  entries: PlanEntries,
): Promise<void> {
  const add = (prepared: Prepared): void => {
    if (prepared.kind === "document") entries.addUnselected(item.path, prepared.part, prepared.id);
  };
  if (formatOf(item.path, formatFor?.(item.path))?.gives === "rows") {
    for await (const row of inspector.readRows(item)) add(row);
    return;
  }
  for (const each of await inspector.look([item])) if (each.kind !== "same") add(each);
}

/**
 * Compares the files with the state and decides for each file whether it is sent. Reads only
 * recorded files that may have changed, and of new files the front matter. The plan keeps path and
 * id of what is to be sent; the run reads it. Sends nothing: all ids are checked to be unique
 * before the first request. Memory stays constant: files and state are merged in order, and the
 * plan is on disk. Throws CliError `usage`, naming both files, when two files have one id.
 */
export async function buildPlan(request: PlanRequest): Promise<Plan> {
  const { state, signal } = request;
  const table = createPlanTable(state.database);
  const entries = createPlanEntries(request, table);
  const looks = createLooks(request, entries);
  const newFiles = createNewFiles(request, entries.addNew, looks.add);
  // Files without a record that the run does not send: changed files must not overwrite theirs.
  const unselected = createNewFiles(
    request,
    ({ item }, { id }) => (entries.addUnselected(item.path, 0, id), true),
    (candidate) => addUnselected(candidate, request, entries),
  );
  const settle = async (): Promise<void> => {
    for (const each of [newFiles, looks, unselected]) await each.settle();
  };
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
    await settle();
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
    const gives = formatOf(listed.path, request.formatFor?.(listed.path))?.gives;
    if (!isSelected) {
      return gives === "rows"
        ? addUnselected(candidate, request, entries)
        : unselected.add(candidate);
    }
    if (gives === "rows") return addAllRows(candidate);
    // A dry run shows what would be sent, which an id alone does not.
    return seen || request.isDry ? looks.add(candidate) : newFiles.add(candidate);
  };
  for (const [listed, seen] of withRecords(request, table)) {
    const added = addListed(listed, seen);
    if (added) await added;
    if (isYieldDue()) await yieldToEvents();
  }
  await settle();
  entries.save();
  table.index();
  refuseCollisions(table, request);
  const { pairs } = entries;
  return { table, fileCount, linked, images: entries.images(), pairs };
}
