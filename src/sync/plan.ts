import type { Listed } from "../documents/find.ts";
import type { FoundDocument, Inspector, Looked } from "../documents/inspection.ts";
import type { PathRange } from "../documents/scope.ts";
import { refuseCollisions } from "./collisions.ts";
import { decide } from "./decide.ts";
import { lookItem, withRecords, type Candidate } from "./merge.ts";
import { createPlanTable, type PlanAction, type PlanTable } from "./plan-table.ts";
import { isInShard, type Shard } from "./shard.ts";
import { seenText, type AcceptedRecord, type FileRecord } from "./records.ts";
import type { State } from "./state.ts";
import { targetFor, type Target, type Targets } from "./target.ts";

export interface PlanRequest {
  /** Files by name, ordered by path. */
  listed: Iterable<Listed>;
  /** Where the recorded files of the same inputs lie. */
  ranges: readonly PathRange[];
  /** Whether a path belongs to the inputs, the file there or not. */
  isInScope: (path: string) => boolean;
  /** With `--since`: whether a file is looked at; the others stay as they are. */
  isTaken: ((path: string) => boolean) | undefined;
  state: State;
  targets: Targets;
  /** Hash of everything except the file's bytes that shapes its payload. */
  mappingKey: (path: string) => string;
  /** The pair that the rules name for a path. */
  pairOfRule: (path: string) => number | undefined;
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
  /** Files that were found, whatever became of them. */
  readonly fileCount: number;
  /** Image references in the documents that were read whole. */
  readonly images: number;
  /** Pairs that documents to be sent go to; undefined among them when one has none. */
  readonly pairs: ReadonlySet<number | undefined>;
}

const filesAtOnce = 128;
const batchesAhead = 6;
const saveBatch = 512;
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
  const { state, targets, signal, inspector, isFull } = request;
  const table = createPlanTable(state.database);
  const pairs = new Set<number | undefined>();
  let fileCount = 0;
  let images = 0;

  const isOurs = (id: string): boolean => !request.shard || isInShard(id, request.shard);

  let unsaved: FileRecord[] = [];
  const save = (): void => {
    if (!isFull) state.save({ files: unsaved });
    unsaved = [];
  };
  const record = (file: FileRecord): void => {
    unsaved.push(file);
    if (unsaved.length >= saveBatch) save();
  };

  const addSame = ({ item, seen, mapping }: Candidate, stamp: string | undefined): void => {
    if (!seen) return;
    const records = (): ReturnType<State["filesOf"]> => state.filesOf(item.path);
    if (seen.skipped > 0) {
      for (const { skipped, part } of records()) {
        if (skipped !== undefined) table.addSkip(item.path, skipped, part);
      }
    }
    const wantsIds = request.shard !== undefined || isFull;
    if (!wantsIds) table.countUp("unchanged", seen.accepted);
    else {
      for (const { document, part, content } of records()) {
        if (!document || !isOurs(document.id)) continue;
        if (!isFull) table.countUp("unchanged", 1);
        else {
          const { id } = document;
          table.add({
            path: item.path,
            part,
            absolutePath: undefined,
            id,
            action: "unchanged",
            detail: "",
            content,
          });
        }
      }
    }
    const fresh = stamp === undefined ? seen.seen : seenText(stamp, mapping);
    if (fresh === seen.seen) return;
    for (const each of records()) record({ ...each, seen: fresh });
  };

  const addDocument = (
    { item }: Candidate,
    document: FoundDocument,
    content: string | undefined,
    known: ReadonlyMap<string, AcceptedRecord>,
    target: Target | undefined,
  ): void => {
    const { id, part, fingerprint } = document;
    const decision: { action: PlanAction; detail: string } = fingerprint
      ? decide(known.get(id), fingerprint, request.force)
      : { action: "due", detail: "" };
    if (decision.action !== "unchanged") pairs.add(target?.ccPairId);
    const isUsual = item.absolutePath === request.rootPrefix + item.path;
    const absolutePath = isUsual ? undefined : item.absolutePath;
    table.add({ path: item.path, part, absolutePath, id, content, ...decision });
  };

  const addLooked = (candidates: readonly Candidate[], looked: readonly Looked[]): void => {
    const known = isFull
      ? lookUp(candidates, looked)
      : new Map<string, Map<string, AcceptedRecord>>();
    for (const [index, candidate] of candidates.entries()) {
      const result = looked[index];
      const { path } = candidate.item;
      if (result?.kind === "same") addSame(candidate, result.stamp);
      else if (result?.kind === "skipped") table.addSkip(path, result.reason);
      else if (result?.kind === "failed") table.addFailure(path, result.reason);
      else if (result) {
        images += result.images;
        for (const warning of result.warnings) table.warn(warning);
        for (const { kind, reason, part, stamp, content } of result.leftOut) {
          if (kind === "failed") table.addFailure(path, reason, part);
          else {
            table.addSkip(path, reason, part);
            const seen = seenText(stamp, candidate.mapping);
            record({ path, part, seen, content, document: undefined, skipped: reason });
          }
        }
        openRows(path, result);
        for (const document of result.documents) {
          if (!isOurs(document.id)) continue;
          const target = targetOf(path, document);
          addDocument(
            candidate,
            document,
            result.content,
            known.get(target?.key ?? "") ?? new Map(),
            target,
          );
        }
      }
    }
  };

  // Until each row is recorded again, the file counts as not sent.
  const openRows = (path: string, { documents, leftOut }: Looked & { kind: "found" }): void => {
    if (isFull || !documents.some(({ part }) => part > 0)) return;
    const ours = documents.filter(({ id }) => isOurs(id)).map(({ part }) => part);
    const others = documents.filter(({ id }) => !isOurs(id)).map(({ part }) => part);
    state.openParts(
      path,
      [...ours, ...leftOut.map(({ part }) => part)].toSorted((a, b) => a - b),
      others,
    );
  };

  const targetOf = (path: string, { ccPairId }: FoundDocument): Target | undefined =>
    targetFor(targets, ccPairId ?? request.pairOfRule(path));

  const lookUp = (
    candidates: readonly Candidate[],
    looked: readonly Looked[],
  ): Map<string, Map<string, AcceptedRecord>> => {
    const wanted = new Map<string, string[]>();
    for (const [index, { item }] of candidates.entries()) {
      const result = looked[index];
      for (const document of result?.kind === "found" ? result.documents : []) {
        const key = targetOf(item.path, document)?.key ?? "";
        const ids = wanted.get(key);
        if (ids) ids.push(document.id);
        else wanted.set(key, [document.id]);
      }
    }
    return new Map([...wanted].map(([key, ids]) => [key, state.acceptedOf(key, ids)]));
  };

  const inWork: { candidates: Candidate[]; looked: Promise<Looked[]> }[] = [];
  const finish = async (atMost: number): Promise<void> => {
    while (inWork.length > atMost) {
      const first = inWork.shift();
      if (first) addLooked(first.candidates, await first.looked);
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
    if (listed.kind === "skipped") table.addSkip(listed.path, listed.reason);
    else if (listed.kind === "failed") table.addFailure(listed.path, listed.reason);
    else {
      fileCount++;
      if (request.isTaken && !request.isTaken(listed.path)) continue;
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
  save();
  table.flush();
  refuseCollisions(table, request);
  return { table, fileCount, images, pairs };
}
