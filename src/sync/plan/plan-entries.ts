import type { PlanRequest, Candidate } from "./merge.ts";
import type { Looked, NewId, Prepared, ReadyDocument } from "../../documents/inspect/inspection.ts";
import { decide, isInShard } from "./decide.ts";
import type { PlanEntry, PlanTable } from "./plan-table.ts";
import { seenText, type AcceptedRecord, type FileRecord, tombstoneMark } from "../state/records.ts";
import { targetFor } from "../state/target.ts";

const unknownOptions = "the recorded document has no recorded options";

/** Counts why documents are sent, see createReasonCount(). */
interface ReasonCount {
  /** Keeps the recorded rows of a file. Call it before State.openParts() overwrites them. */
  remember(path: string, rows: readonly Prepared[]): void;
  count(document: ReadyDocument, accepted: AcceptedRecord | undefined): void;
}

/**
 * Counts documents that changed only because the options differ from the recorded options.
 * Also counts documents whose file has another id recorded: then the service has both documents.
 */
function createReasonCount(
  { state, targets, options }: PlanRequest,
  table: PlanTable,
): ReasonCount {
  let remembered: { path: string; files: Map<number, FileRecord>; ids: Set<string> } | undefined;
  const fileOf = (path: string, part: number): FileRecord | undefined =>
    remembered?.path === path ? remembered.files.get(part) : state.file(path, part);
  const differenceFrom = (number: number | undefined): string =>
    number === undefined ? "" : options.differenceFrom(number);
  const countNewId = ({ path, part, id, ownPair }: ReadyDocument): void => {
    const before = fileOf(path, part)?.document?.id;
    if (before === undefined || before === id) return;
    // An inserted row shifts the rows after it, but their documents keep their ids.
    if (part > 0 && remembered?.ids.has(before)) return;
    const earlier = state.accepted(targetFor(targets, ownPair)?.key ?? "", before);
    if (earlier?.path !== path || earlier.whole === tombstoneMark) return;
    if (earlier.options === undefined) return table.addReason("new id", unknownOptions);
    const difference = differenceFrom(earlier.options);
    if (difference !== "") table.addReason("new id", difference);
    // In a file of rows, another id at this position is another row.
    else if (part === 0) table.addReason("own id", "");
  };
  return {
    remember(path, rows) {
      const files = rows.map(({ part }) => [part, state.file(path, part)] as const);
      remembered = {
        path,
        files: new Map(files.filter((each): each is [number, FileRecord] => each[1] !== undefined)),
        ids: new Set(rows.flatMap((row) => (row.kind === "document" ? [row.id] : []))),
      };
    },
    count(document, accepted) {
      if (!accepted) return countNewId(document);
      const { path, part, content, fingerprint } = document;
      if (accepted.whole === fingerprint.whole) return;
      const difference = differenceFrom(accepted.options);
      if (difference === "" || fileOf(path, part)?.content !== content) return;
      table.addReason("changed", difference);
    },
  };
}

/** Turns inspected files into entries of the plan. */
export interface PlanEntries {
  /** `looked[i]` is the result of `candidates[i]`. */
  add(candidates: readonly Candidate[], looked: readonly Looked[]): void;
  /** A document that the run does not send, of a file without a record: reserves its id. */
  addUnselected(path: string, part: number, id: string): void;
  /** A file that the run reads. False when a document is accepted under its id: then read it now. */
  addNew(candidate: Candidate, newId: NewId): boolean;
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

/** In a dry run nothing is recorded. */
export function createPlanEntries(request: PlanRequest, table: PlanTable): PlanEntries {
  const { state, targets, shard, isDry } = request;
  // A first upload has no earlier records to compare with.
  const hasRecords = state.countFiles(1) > 0;
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
    if (!isDry) state.save({ files: unsaved, accepted: moved });
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
    if (seen.skipped === 0 && !shard && !isDry) {
      table.countUp("unchanged", seen.accepted);
      return;
    }
    for (const each of state.filesOf(path)) {
      const { part, document, content, skipped } = each;
      if (skipped !== undefined) addLeftOut("skipped", path, skipped, part, content);
      else if (document && !isOurs(document.id)) table.countUp("other", 1);
      else if (document) {
        const { id, ccPairId: ownPair } = document;
        if (!isDry) table.countUp("unchanged", 1);
        else table.add({ path, part, id, action: "unchanged", detail: "", content, ownPair });
      }
    }
  };

  let pending = 0;
  const addPending = (entry: PlanEntry): void => {
    if (++pending === manyPending) request.onManyPending?.();
    pairs.add(targetFor(targets, entry.ownPair)?.ccPairId);
    table.add(entry);
  };
  type Kept = Pick<PlanEntry, "path" | "part" | "content" | "action">;
  const addId = (entry: Kept, id: string): void => table.add({ ...entry, id, detail: "" });

  const reasons = createReasonCount(request, table);
  const addDocument = (candidate: Candidate, document: ReadyDocument, known: Known): void => {
    const { path, part, id, content, fingerprint, ownPair, body } = document;
    if (!isOurs(id)) {
      addId({ path, part, content, action: "other" }, id);
      return;
    }
    const accepted = known.get(keyOf(document))?.get(id);
    const { action, detail } = decide(accepted, fingerprint, request.force);
    // Of what is sent, the run reports these.
    if (isDry || action === "unchanged") {
      images += document.images;
      for (const warning of document.warnings) table.warn(path, warning);
      if (document.notices) table.notices.add(document.notices, document);
    }
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
      if (!isDry) table.countUp("unchanged", 1);
      else table.add({ path, part, id, action, detail, content, ownPair });
      return;
    }
    if (hasRecords) reasons.count(document, accepted);
    if (isDry) request.onPlanned?.(body);
    const { absolutePath } = candidate.item;
    addPending({ path, part, id, action, detail, content, ownPair, absolutePath });
  };

  const knownTargets = new Map<string, boolean>();
  const isAccepted = (key: string, id: string): boolean => {
    let isKnown = knownTargets.get(key);
    if (isKnown === undefined) knownTargets.set(key, (isKnown = state.knows(key)));
    return isKnown && state.accepted(key, id) !== undefined;
  };
  const addNew: PlanEntries["addNew"] = ({ item }, { id, ownPair }) => {
    if (isAccepted(targetFor(targets, ownPair)?.key ?? "", id)) return false;
    const { path, absolutePath } = item;
    const [part, content] = [0, undefined];
    if (!isOurs(id)) addId({ path, part, content, action: "other" }, id);
    else addPending({ path, part, id, action: "new", detail: "", content, ownPair, absolutePath });
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
      if (hasRecords) reasons.remember(candidate.item.path, rows);
      if (!isDry) {
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
    addNew,
    addUnselected(path, part, id) {
      addId({ path, part, content: undefined, action: "unselected" }, id);
    },
    pairs,
  };
}
