import type { FoundDocument, Looked } from "../documents/inspection.ts";
import { decide } from "./decide.ts";
import type { Candidate } from "./merge.ts";
import type { PlanRequest } from "./plan.ts";
import type { PlanAction, PlanTable } from "./plan-table.ts";
import { seenText, type AcceptedRecord, type FileRecord } from "./records.ts";
import { isInShard } from "./shard.ts";
import { targetFor, type Target } from "./target.ts";

/** Turns what was found of the files into entries of the plan. */
export interface PlanEntries {
  add(candidates: readonly Candidate[], looked: readonly Looked[]): void;
  /** What gives no document. */
  addLeftOut(kind: "skipped" | "failed", path: string, reason: string, part?: number): void;
  /** Saves what was learned of files that need not be sent. */
  save(): void;
  /** Image references in the documents that were read whole. */
  images(): number;
  readonly pairs: ReadonlySet<number | undefined>;
}

const saveBatch = 512;

export function createPlanEntries(request: PlanRequest, table: PlanTable): PlanEntries {
  const { state, targets, isFull } = request;
  const pairs = new Set<number | undefined>();
  let images = 0;
  // What gives no document is told by one shard as well: by its path.
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
    const records = (): FileRecord[] => state.filesOf(item.path);
    if (seen.skipped > 0 && isOurs(item.path)) {
      for (const { skipped, part } of records()) {
        if (skipped !== undefined) table.addSkip(item.path, skipped, part);
      }
    }
    const wantsIds = request.shard !== undefined || isFull;
    if (!wantsIds) table.countUp("unchanged", seen.accepted);
    else {
      for (const { document, part, content } of records()) {
        if (!document) continue;
        if (!isOurs(document.id)) table.countUp("other", 1);
        else if (!isFull) table.countUp("unchanged", 1);
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
    const isUsual = item.absolutePath === request.rootPrefix + item.path;
    const absolutePath = isUsual ? undefined : item.absolutePath;
    const entry = { path: item.path, part, absolutePath, id, content };
    if (!isOurs(id)) {
      table.add({ ...entry, action: "other", detail: "" });
      return;
    }
    const decision: { action: PlanAction; detail: string } = fingerprint
      ? decide(known.get(id), fingerprint, request.force)
      : { action: "due", detail: "" };
    if (decision.action !== "unchanged") pairs.add(target?.ccPairId);
    table.add({ ...entry, ...decision });
  };

  const addLeftOut: PlanEntries["addLeftOut"] = (kind, path, reason, part) => {
    if (!isOurs(path)) return;
    if (kind === "failed") table.addFailure(path, reason, part);
    else table.addSkip(path, reason, part);
  };

  const add = (candidates: readonly Candidate[], looked: readonly Looked[]): void => {
    const known = isFull
      ? lookUp(candidates, looked)
      : new Map<string, Map<string, AcceptedRecord>>();
    for (const [index, candidate] of candidates.entries()) {
      const result = looked[index];
      const { path } = candidate.item;
      if (result?.kind === "same") addSame(candidate, result.stamp);
      else if (result?.kind === "skipped") addLeftOut("skipped", path, result.reason);
      else if (result?.kind === "failed") addLeftOut("failed", path, result.reason);
      else if (result) {
        if (result.documents.some(({ id }) => isOurs(id))) {
          images += result.images;
          for (const warning of result.warnings) table.warn(warning);
        }
        for (const { kind, reason, part, stamp, content } of result.leftOut) {
          addLeftOut(kind, path, reason, part);
          if (kind === "skipped") {
            const seen = seenText(stamp, candidate.mapping);
            record({ path, part, seen, content, document: undefined, skipped: reason });
          }
        }
        openRows(path, result);
        for (const document of result.documents) {
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

  return { add, addLeftOut, save, images: () => images, pairs };
}
