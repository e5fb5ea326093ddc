import type { OrphanClass } from "../orphans/orphan-classes.ts";
import type { PlanTable } from "../plan/plan-table.ts";
import { pagesOf } from "../state/tables.ts";
import {
  toAccepted,
  tombstoneMark,
  type AcceptedRecord,
  type FailureRecord,
} from "../state/records.ts";
import type { State } from "../state/state.ts";
import {
  pairInKey,
  serviceTargets,
  targetFor,
  type Target,
  type Targets,
} from "../state/target.ts";
import { remoteResultOf, type StateSide, type DifferenceTable } from "./differences.ts";
import type { ListedTable } from "./listed-table.ts";
import type { Orphan } from "../orphans/orphans.ts";

export interface RemoteRequest {
  state: State;
  /** A dry plan of the folder. */
  table: PlanTable;
  targets: Targets;
  /** The targets whose lists `listed` contains. */
  listedTargets: readonly Target[];
  listed: ListedTable;
  /** Maps an id to the id as the service lists it. */
  storedId: (id: string) => string;
  /** Whether a recorded document lies within the inputs; its path is undefined for stdin. */
  isInScope: (path: string | undefined) => boolean;
  /** Why recorded documents of a file are orphans: one may have several, under different ids. */
  orphanClasses: (path: string, part: number) => readonly OrphanClass[];
  /** The id of a listed document without file and record; undefined where that is not certain. */
  extraId: ((stored: string) => string | undefined) | undefined;
}

/** Returns the pair of another target of the service that has the document. */
type OtherPair = (target: Target, id: string) => number | undefined;

function createOtherPair({ state, targets }: RemoteRequest): OtherPair {
  const keys = serviceTargets(state.database, targets.baseUrl);
  return (target, id) => {
    for (const key of keys) {
      const record = key === target.key ? undefined : state.accepted(key, id);
      if (record && record.whole !== tombstoneMark) return pairInKey(key);
    }
    return undefined;
  };
}

function stateSide(accepted: AcceptedRecord | undefined, other: number | undefined): StateSide {
  if (accepted) return accepted.whole === tombstoneMark ? "removed" : "recorded";
  return other === undefined ? "none" : "elsewhere";
}

/** Whether the list of the pair has the document, by its id or by the id of the response. */
function isListed({ listed, storedId }: RemoteRequest, pair: number, record: IdAndStored): boolean {
  const { id, storedId: answered } = record;
  if (listed.has(pair, storedId(id))) return true;
  return answered !== undefined && listed.has(pair, answered);
}

type IdAndStored = Pick<AcceptedRecord, "id"> & Partial<Pick<AcceptedRecord, "storedId">>;

/** Compares the documents of the plan; returns their number. */
function comparePlanned(request: RemoteRequest, found: DifferenceTable): number {
  const { table, state, targets, listed, storedId, orphanClasses } = request;
  let compared = 0;
  const otherPair = createOtherPair(request);
  for (const { id, path, part, ownPair } of table.entries()) {
    const target = targetFor(targets, ownPair);
    if (id === undefined || !target) continue;
    compared++;
    listed.know(storedId(id));
    const accepted = state.accepted(target.key, id);
    const other = accepted ? undefined : otherPair(target, id);
    const side = stateSide(accepted, other);
    const isThere = isListed(request, target.ccPairId, accepted ?? { id });
    const isAsSent =
      side !== "none" || isThere || !orphanClasses(path, part).includes("other-options");
    const result = remoteResultOf(isAsSent ? "document" : "other options", side, isThere);
    if (result) found.add({ result, id, path, ccPairId: other ?? target.ccPairId });
  }
  return compared;
}

function* recordsOf(
  { state: { database } }: RemoteRequest,
  key: string,
): Generator<AcceptedRecord> {
  for (const row of pagesOf(database, "accepted", ["target", "id"], "target = ?", [key])) {
    yield toAccepted(row);
  }
}

function* allRecords(request: RemoteRequest): Generator<AcceptedRecord> {
  const { state, targets } = request;
  for (const key of serviceTargets(state.database, targets.baseUrl)) {
    yield* recordsOf(request, key);
  }
}

/**
 * Counts the listed documents of a target that the state records for it, removal notices included.
 * An imported record counts only if a file yields its document.
 */
export function countRecorded(request: RemoteRequest, target: Target): number {
  const yielded = request.table.database.prepare(
    "SELECT 1 AS yes FROM temp.plan WHERE replace(id, ' ', '_') = replace(?1, ' ', '_') AND id = ?1",
  );
  let count = 0;
  for (const record of recordsOf(request, target.key)) {
    if (record.origin === "imported" && !yielded.get(record.id)) continue;
    if (isListed(request, target.ccPairId, record)) count++;
  }
  return count;
}

/** Compares the records of documents that are not in the plan; returns their number. */
function compareRecorded(request: RemoteRequest, found: DifferenceTable): number {
  const { state, listed, listedTargets, storedId } = request;
  let compared = 0;
  for (const record of allRecords(request)) {
    const { id, path, target: key } = record;
    if (listed.isKnown(storedId(id)) || !request.isInScope(path)) continue;
    compared++;
    for (const target of listedTargets) {
      const isHere = target.key === key;
      // Its own record counts, in the turn of that record.
      if (!isHere && state.accepted(target.key, id)) continue;
      if (!isHere && record.whole === tombstoneMark) continue;
      const side = stateSide(isHere ? record : undefined, pairInKey(key));
      const isThere = isListed(request, target.ccPairId, record);
      const result = remoteResultOf("no document", side, isThere);
      if (result) found.add({ result, id, path, ccPairId: pairInKey(key) });
    }
  }
  return compared;
}

function addExtra(request: RemoteRequest, found: DifferenceTable): void {
  const { listed, listedTargets, storedId, extraId } = request;
  if (!extraId) return;
  for (const { id, storedId: answered } of allRecords(request)) {
    listed.know(storedId(id));
    if (answered !== undefined) listed.know(answered);
  }
  for (const { ccPairId } of listedTargets) {
    for (const stored of listed.unknown(ccPairId)) {
      const id = extraId(stored);
      const result = remoteResultOf(id === undefined ? "unknown" : "no document", "none", true);
      if (id !== undefined && result) found.add({ result, id, path: undefined, ccPairId });
    }
  }
}

/** The target of the command and the targets of the planned documents; undefined for a document without one. */
export function plannedTargets({ database }: PlanTable, targets: Targets): (Target | undefined)[] {
  const own = database.prepare("SELECT DISTINCT own_pair AS pair FROM temp.plan WHERE id NOT NULL");
  const found = own
    .all()
    .map(({ pair }) => targetFor(targets, pair === null ? undefined : Number(pair)));
  const common = targetFor(targets, undefined);
  const all = common ? [common, ...found] : found;
  return [...new Map(all.map((each) => [each?.key, each])).values()];
}

/**
 * Compares folder, state and the service's lists, and adds the differences to `found`. The documents of
 * the plan are compared for their own pair, recorded documents for each listed pair. Returns the number
 * of documents: planned ones, and records of others.
 */
export function collectRemote(request: RemoteRequest, found: DifferenceTable): number {
  const planned = comparePlanned(request, found);
  const recorded = compareRecorded(request, found);
  addExtra(request, found);
  return planned + recorded;
}

interface LocalRequest {
  /** A dry plan of the folder. */
  table: PlanTable;
  targets: Targets;
  /** By target, the documents that the folder no longer yields. */
  orphansOf: (target: Target) => AsyncIterable<Orphan>;
  orphanTargets: readonly Target[];
}

/**
 * Adds what failed last time and what cannot be read. Call it first: for a failed document this is its
 * difference. A failure of a whole file stands for all its documents, a failure of a row for this row.
 */
export function collectFailures(
  { table, targets }: Pick<LocalRequest, "table" | "targets">,
  failures: Iterable<FailureRecord>,
  found: DifferenceTable,
): void {
  const ccPairId = targetFor(targets, undefined)?.ccPairId;
  const failed = new Set<string>();
  for (const { path, part, id } of failures) {
    const difference = { result: "failed", id, path, ccPairId } as const;
    if (path !== "" && part === 0) found.addFile(difference);
    else found.add(difference);
    failed.add(path);
  }
  for (const { path, part } of table.entries(["failed"])) {
    if (failed.has(path)) continue;
    failed.add(path);
    const difference = { result: "failed", id: "", path, ccPairId } as const;
    if (part === 0) found.addFile(difference);
    else found.add(difference);
  }
}

/** Adds what an upload would send, then what the folder no longer yields. */
export async function collectLocal(
  { table, targets, orphansOf, orphanTargets }: LocalRequest,
  found: DifferenceTable,
): Promise<void> {
  for (const { action, path, id = "", ownPair } of table.entries(["new", "changed"])) {
    const result = action === "new" ? "new" : "changed";
    found.add({ result, id, path, ccPairId: targetFor(targets, ownPair)?.ccPairId });
  }
  for (const target of orphanTargets) {
    for await (const { id, path, class: name } of orphansOf(target)) {
      found.add({ result: "gone", id, path, class: name, ccPairId: target.ccPairId });
    }
  }
}
