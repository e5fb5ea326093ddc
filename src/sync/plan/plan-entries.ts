import type { PeekedId } from "../../documents/inspect/inspection.ts";
import type { PlanRequest } from "./plan-request.ts";
import type { Looked, Prepared, ReadyDocument } from "../../documents/inspect/inspection.ts";
import { decide } from "./decide.ts";
import type { Candidate } from "./merge.ts";
import type { PlanIds } from "./plan-ids.ts";
import type { PlanEntry, PlanTable } from "./plan-table.ts";
import { knownOf, type SpoolHead } from "../run/pending.ts";
import { seenText, type AcceptedRecord, type FileRecord } from "../state/records.ts";
import { createReasonCount } from "./plan-reasons.ts";
import { isInShard } from "./shard.ts";
import { targetFor } from "../state/target.ts";

/** Turns inspected files into entries of the plan. */
export interface PlanEntries {
  /** `looked[i]` is the result of `candidates[i]`. */
  add(candidates: readonly Candidate[], looked: readonly Looked[]): void;
  /** A document that the run does not send, of a file without a record: reserves its id. */
  addUnselected(path: string, part: number, id: string): void;
  /** A file that is read later. False when a document is accepted under its id: then read it now. */
  addPeeked(candidate: Candidate, peeked: PeekedId): boolean;
  /** A file or row that yields no document. */
  addLeftOut(
    kind: "skipped" | "failed",
    path: string,
    reason: string,
    part?: number,
    content?: string,
  ): void;
  /** Rows of one file. */
  addRows(candidate: Candidate, rows: readonly Prepared[]): void;
  /** Saves the records of files that need not be sent. */
  save(): void;
  /** Image references in the documents that were read. */
  images(): number;
  readonly pairs: ReadonlySet<number | undefined>;
}

const saveBatch = 512;
const manyPending = 1000;

type Known = ReadonlyMap<string, ReadonlyMap<string, AcceptedRecord>>;

/**
 * Without a spool (a dry run), nothing is stored or recorded. With `ids`, the ids of
 * pending documents go there instead of into the table.
 */
export function createPlanEntries(
  request: PlanRequest,
  table: PlanTable,
  ids: PlanIds | undefined,
): PlanEntries {
  const { state, targets, shard, spool } = request;
  const pairs = new Set<number | undefined>();
  let images = 0;
  let unsaved: FileRecord[] = [];
  let moved: AcceptedRecord[] = [];

  // A file without a document has no id: its path decides which shard reports it.
  const isOurs = (id: string): boolean => !shard || isInShard(id, shard);
  const addLeftOut: PlanEntries["addLeftOut"] = (kind, path, reason, part, content) => {
    if (!isOurs(path)) return;
    if (kind === "failed") table.addFailure(path, reason, part);
    else table.addSkip(path, reason, part, content);
  };
  const save = (): void => {
    if (spool) state.save({ files: unsaved, accepted: moved });
    unsaved = [];
    moved = [];
  };
  const record = (file: FileRecord): void => {
    unsaved.push(file);
    if (unsaved.length >= saveBatch) save();
  };
  const keyOf = ({ ownPair }: ReadyDocument): string => targetFor(targets, ownPair)?.key ?? "";

  const addSame = ({ item, seen }: Candidate): void => {
    if (!seen) return;
    const { path } = item;
    if (seen.skipped === 0 && !shard && spool) {
      table.countUp("unchanged", seen.accepted);
      return;
    }
    for (const each of state.filesOf(path)) {
      const { part, document, content, skipped } = each;
      if (skipped !== undefined) addLeftOut("skipped", path, skipped, part, content);
      else if (document && !isOurs(document.id)) table.countUp("other", 1);
      else if (document) {
        const { id, ccPairId: ownPair } = document;
        if (spool) table.countUp("unchanged", 1);
        else table.add({ path, part, id, action: "unchanged", detail: "", content, ownPair });
      }
    }
  };

  let pending = 0;
  const addPending: PlanTable["addPending"] = (path, part, id, action) => {
    if (++pending === manyPending) request.onManyPending?.();
    if (!ids) {
      table.addPending(path, part, id, action);
      return;
    }
    ids.addPending(id, path, part);
    table.countUp(action, 1);
  };
  type Kept = Pick<PlanEntry, "path" | "part" | "content" | "action">;
  const addId = (entry: Kept, id: string): void => {
    ids?.add(id);
    table.add({ ...entry, id, detail: "" });
  };

  const reasons = createReasonCount(request, table);
  const addDocument = (candidate: Candidate, document: ReadyDocument, known: Known): void => {
    const { path, part, id, content, fingerprint, ownPair, body, ...rest } = document;
    if (!isOurs(id)) {
      addId({ path, part, content, action: "other" }, id);
      return;
    }
    images += document.images;
    for (const warning of document.warnings) table.warn(path, warning);
    if (document.notices) table.notices.add(document.notices, document);
    const accepted = known.get(keyOf(document))?.get(id);
    const { action, detail } = decide(accepted, fingerprint, request.force);
    if (action === "unchanged") {
      const seen = seenText(document.stamp, candidate.mapping);
      const { whole } = fingerprint;
      record({
        path,
        part,
        seen,
        content,
        document: { id, ccPairId: ownPair, whole },
        skipped: undefined,
        parts: document.parts,
        target: keyOf(document),
      });
      // Sent from stdin, another path or with other options meanwhile: now it is this file's again.
      const isOurs = accepted?.path === path && accepted.part === part;
      const number = request.options.number ?? accepted?.options;
      if (accepted && (!isOurs || accepted.options !== number)) {
        moved.push({ ...accepted, path, part, options: number });
      }
      ids?.add(id);
      if (spool) table.countUp("unchanged", 1);
      else table.add({ path, part, id, action, detail, content, ownPair });
      return;
    }
    pairs.add(targetFor(targets, ownPair)?.ccPairId);
    // A first upload has no earlier records to compare with.
    if (!ids) reasons.count(document, accepted);
    if (!spool) {
      request.onPlanned?.(body);
      table.add({ path, part, id, action, detail, content, ownPair });
      return;
    }
    // The plan has reported these; the upload must not report them again.
    const alreadyReported = { warnings: [], images: 0, notices: undefined };
    const head: SpoolHead = {
      document: { path, part, id, content, fingerprint, ownPair, ...rest, ...alreadyReported },
      absolutePath: candidate.item.absolutePath,
      facts: candidate.item.facts,
      known: knownOf(accepted),
    };
    spool.add(head, body);
    addPending(path, part, id, action);
  };

  const knownTargets = new Map<string, boolean>();
  const isAccepted = (key: string, id: string): boolean => {
    let isKnown = knownTargets.get(key);
    if (isKnown === undefined) knownTargets.set(key, (isKnown = state.knows(key)));
    return isKnown && state.accepted(key, id) !== undefined;
  };
  const addPeeked: PlanEntries["addPeeked"] = ({ item }, { id, ownPair }) => {
    const target = targetFor(targets, ownPair);
    if (!spool || isAccepted(target?.key ?? "", id)) return false;
    const { path, absolutePath, facts } = item;
    if (!isOurs(id)) {
      addId({ path, part: 0, content: undefined, action: "other" }, id);
      return true;
    }
    pairs.add(target?.ccPairId);
    const document = { kind: "peeked", path, part: 0, id } as const;
    spool.add({ document, absolutePath, facts, known: knownOf(undefined) });
    addPending(path, 0, id, "new");
    return true;
  };

  const addPrepared = (candidate: Candidate, prepared: Prepared, known: Known): void => {
    const { path, part } = prepared;
    if (prepared.kind === "failed") addLeftOut("failed", path, prepared.reason, part);
    else if (prepared.kind === "skipped") {
      const { reason, stamp, content, parts } = prepared;
      addLeftOut("skipped", path, reason, part, content);
      const seen = seenText(stamp, candidate.mapping);
      const target = undefined;
      record({ path, part, seen, content, document: undefined, skipped: reason, parts, target });
    } else addDocument(candidate, prepared, known);
  };

  const lookUp = (found: readonly Looked[]): Known => {
    const wanted = new Map<string, string[]>();
    for (const each of found) {
      if (each.kind !== "document") continue;
      const key = keyOf(each);
      const ids = wanted.get(key);
      if (ids) ids.push(each.id);
      else wanted.set(key, [each.id]);
    }
    return new Map(
      [...wanted].map(([key, ids]) => [
        key,
        state.knows(key) ? state.acceptedOf(key, ids) : new Map(),
      ]),
    );
  };

  return {
    add(candidates, looked) {
      const known = lookUp(looked);
      for (const [index, candidate] of candidates.entries()) {
        const result = looked[index];
        if (result?.kind === "same") addSame(candidate);
        else if (result) addPrepared(candidate, result, known);
      }
    },
    addRows(candidate, rows) {
      const known = lookUp(rows);
      if (!ids) reasons.remember(candidate.item.path, rows);
      if (spool) {
        const [ours, theirs]: [number[], number[]] = [[], []];
        for (const row of rows) {
          const isTheirs = row.kind === "document" && shard && !isInShard(row.id, shard);
          (isTheirs ? theirs : ours).push(row.part);
        }
        // The file counts as not sent until each row is recorded again.
        state.openParts(candidate.item.path, ours, theirs);
      }
      for (const row of rows) addPrepared(candidate, row, known);
    },
    save,
    images: () => images,
    addLeftOut,
    addPeeked,
    addUnselected(path, part, id) {
      addId({ path, part, content: undefined, action: "unselected" }, id);
    },
    pairs,
  };
}
