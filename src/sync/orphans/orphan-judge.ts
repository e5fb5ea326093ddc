import { formatOf } from "../../documents/formats/formats.ts";
import type { DocumentSettings, RawSettings } from "../../documents/map/settings.ts";
import type { Yield, Yields } from "../../documents/inspect/open-inspector.ts";
import {
  orphanClass,
  type DocumentState,
  type FileState,
  type RecordOwner,
} from "./orphan-classes.ts";
import {
  optionsJson,
  type OptionsStore,
  type RecordedOptions,
  differenceOf,
} from "../state/options.ts";
import type { Missing, Orphan } from "./orphans.ts";
import type { Row } from "../../database.ts";
import type { PlanTable } from "../plan/plan-table.ts";

export interface JudgeRequest {
  table: PlanTable;
  /** The options of this command, and the settings that result from them. */
  options: RecordedOptions;
  settings: DocumentSettings;
  /** Prefixes that ids of this project have, see ownPrefixes(). */
  ownPrefixes: readonly string[];
  recorded: OptionsStore;
  /** Whether the plan inspected every file of the inputs, not only the files changed since a commit. */
  isWhole: boolean;
  /** Whether a path lies within the inputs, regardless of exclude patterns. */
  isInScope: (path: string) => boolean;
  /** Absolute path of a root-relative path. */
  placeOf: (path: string) => string;
  exists: (absolutePath: string) => boolean;
  /** Root-relative path with all links resolved; undefined when it does not resolve. */
  realPathOf: (path: string) => string | undefined;
  openYields: (settings: RawSettings) => Promise<Yields>;
}

/** Decides which missing documents are orphans. */
export interface Judge {
  /** Undefined for a document that is no orphan or is out of scope. Call it in path order. */
  judge(missing: Missing): Promise<Orphan | undefined>;
  close(): Promise<void>;
}

interface Verdict {
  file: FileState;
  document: DocumentState;
  reason: string;
}

const ownerReasons = {
  foreign: "an import brought the record, and no file here shows that the id is of this project",
  adopted: "the service had it before the first upload from here, outside the id prefix",
};

const unknownOptions = "its options are not recorded: the reason is unknown";

/** The options that shape documents, without those that select files or permit to drop something. */
function shapingJson({ mapping, settings }: RecordedOptions): string {
  const { include: _, exclude: _2, useIgnoreFiles: _3, dropAccess: _4, flags, ...rest } = settings;
  const { include: _5, exclude: _6, useIgnoreFiles: _7, ...shaping } = flags ?? {};
  const shapingSettings = { ...rest, flags: shaping };
  return optionsJson({ byInclude: false, pairFromFlag: false, mapping, settings: shapingSettings });
}

function usesIgnoreFiles({ settings }: RecordedOptions): boolean {
  return (settings.flags?.useIgnoreFiles ?? settings.useIgnoreFiles) !== false;
}

/** What a file yields. */
interface Documents {
  has(id: string): boolean;
  isEmpty(): boolean;
  /** Why a row is skipped; number 0 is the whole file. */
  skipped(part: number): string | undefined;
  firstSkipped(): string | undefined;
  /** Why the file, or a part of it, cannot be read. */
  failed: string | undefined;
}

/** Why a file that was read does not yield the missing document. */
function verdictOf(documents: Documents, { id, part }: Missing): Verdict {
  const { failed } = documents;
  if (failed !== undefined) return { file: "unreadable", document: "same options", reason: failed };
  if (documents.has(id)) return { file: "exists", document: "other options", reason: "" };
  const whole = documents.isEmpty() ? documents.firstSkipped() : undefined;
  const reason = documents.skipped(part) ?? whole;
  if (reason !== undefined) return { file: "exists", document: "opted out", reason };
  const gone = part > 0 ? "its row is gone" : "the file has another id now";
  return { file: "exists", document: "row gone", reason: gone };
}

function documentsOf({ ids, skipped, failed }: Yield): Documents {
  return {
    has: (id) => ids.has(id),
    isEmpty: () => ids.size === 0,
    skipped: (part) => skipped.get(part),
    firstSkipped: () => [...skipped.values()][0],
    failed,
  };
}

/**
 * Returns the documents that the plan has for a file; valid only for the options of the plan. Asks
 * the table for each: a file may have millions of rows.
 */
function createPlannedDocuments({ database }: PlanTable): (path: string) => Documents {
  // replace() as in the index of the plan.
  const byId = database.prepare(
    "SELECT 1 AS yes FROM temp.plan WHERE replace(id, ' ', '_') = replace(?1, ' ', '_') AND id = ?1 AND path = ?2",
  );
  const anyId = database.prepare(
    "SELECT 1 AS yes FROM temp.plan WHERE path = ? AND id IS NOT NULL LIMIT 1",
  );
  const skipped = "SELECT detail FROM temp.plan WHERE path = ? AND action = 'skipped'";
  const ofPart = database.prepare(`${skipped} AND part = ?`);
  const first = database.prepare(`${skipped} ORDER BY part LIMIT 1`);
  const detailOf = (row: Row | undefined): string | undefined => row && String(row["detail"]);
  return (path) => ({
    has: (id) => byId.get(id, path) !== undefined,
    isEmpty: () => anyId.get(path) === undefined,
    skipped: (part) => detailOf(ofPart.get(path, part)),
    firstSkipped: () => detailOf(first.get(path)),
    failed: undefined,
  });
}

/**
 * Creates a Judge that applies the options recorded with each document. A document that its file
 * still yields under these options has the class `other-options`. The caller closes the Judge.
 */
export function createJudge(request: JudgeRequest): Judge {
  const { settings, options, recorded, table } = request;
  const planned = createPlannedDocuments(table);
  const shaping = shapingJson(options);
  const opened = new Map<number, Promise<Yields>>();
  let last: { path: string; options: number; documents: Documents } | undefined;

  const yieldsOf = (number: number, { settings: raw }: RecordedOptions): Promise<Yields> => {
    let yields = opened.get(number);
    if (!yields) {
      yields = request.openYields({ ...raw, root: settings.root });
      opened.set(number, yields);
    }
    return yields;
  };
  const readWith = async (
    path: string,
    number: number,
    before: RecordedOptions,
  ): Promise<Documents> => {
    if (last?.path === path && last.options === number) return last.documents;
    const yields = await yieldsOf(number, before);
    const documents = documentsOf(await yields.of(path, request.placeOf(path)));
    last = { path, options: number, documents };
    return documents;
  };

  const judgeRead = async (missing: Missing): Promise<Verdict> => {
    const before = recorded.get(missing.options);
    if (!before || missing.options === undefined) {
      return { file: "exists", document: "other options", reason: unknownOptions };
    }
    const { path, options: number } = missing;
    const isAsPlanned = shapingJson(before) === shaping;
    const documents = isAsPlanned ? planned(path) : await readWith(path, number, before);
    const verdict = verdictOf(documents, missing);
    if (verdict.document !== "other options") return verdict;
    const difference = differenceOf(before, options) || "with other options";
    return { ...verdict, reason: `the file exists; it was sent with other options: ${difference}` };
  };

  /** Judges a row of a file that the command did not name: the recorded options still read it. */
  const judgeRows = async (missing: Missing): Promise<Verdict | undefined> => {
    const { path, options: number } = missing;
    const before = recorded.get(number);
    if (!before || number === undefined) return undefined;
    const verdict = verdictOf(await readWith(path, number, before), missing);
    return verdict.document === "other options" ? undefined : verdict;
  };

  /** Judges a document whose file exists although no input found it. */
  const judgeExcluded = async (missing: Missing): Promise<Verdict | undefined> => {
    const { path, options: number } = missing;
    const reason = "the file exists, but is now excluded or ignored";
    const excluded: Verdict = { file: "excluded", document: "same options", reason };
    if (settings.exclude?.matches(path)) return excluded;
    const format = formatOf(path, settings.format);
    if (!format) return undefined;
    if (format.gives === "rows") return await judgeRows(missing);
    const before = recorded.get(number);
    if (!before || usesIgnoreFiles(before) || !usesIgnoreFiles(options)) return excluded;
    return { file: "excluded", document: "other options", reason: "sent with --no-ignore" };
  };

  /** Whether the service had a document before, and its id is not below the prefix of its upload. */
  const isAdopted = ({ origin, id, options: number }: Missing): boolean => {
    if (origin !== "adopted") return false;
    const before = recorded.get(number)?.settings;
    const prefix = before?.flags?.idPrefix ?? before?.idPrefix ?? settings.idPrefix;
    return prefix !== "" && !id.startsWith(prefix);
  };
  const ownerOf = (missing: Missing): RecordOwner => {
    if (isAdopted(missing)) return "adopted";
    const { origin, id, path, part } = missing;
    const ending = path + (part === 0 ? "" : `#${part}`);
    const isOfPath = request.ownPrefixes.some((prefix) => id === prefix + ending);
    return origin === "imported" && !isOfPath ? "foreign" : "own";
  };

  const verdictFor = async (missing: Missing): Promise<Verdict | undefined> => {
    if (missing.isRead) return await judgeRead(missing);
    if (!request.isWhole && !missing.isUnfound) return undefined;
    const wasIncluded = options.byInclude && recorded.get(missing.options)?.byInclude === true;
    if (!missing.isUnfound && !request.isInScope(missing.path) && !wasIncluded) return undefined;
    if (!request.exists(request.placeOf(missing.path))) {
      return { file: "gone", document: "same options", reason: "the file is gone" };
    }
    const real = request.realPathOf(missing.path);
    // The file moved, and a link took its place.
    if (real !== undefined && real !== missing.path && !planned(real).isEmpty()) {
      return {
        file: "exists",
        document: "row gone",
        reason: `the file has another id now: its real path is ${real}`,
      };
    }
    return await judgeExcluded(missing);
  };

  return {
    async judge(missing) {
      if (missing.isRead && !request.isInScope(missing.path)) return undefined;
      const verdict = await verdictFor(missing);
      const found = verdict && orphanClass(verdict.file, verdict.document, ownerOf(missing));
      if (!verdict || !found) return undefined;
      const { id, path, part, storedId } = missing;
      const reason =
        found === "foreign" || found === "adopted" ? ownerReasons[found] : verdict.reason;
      return { id, path, part, storedId, class: found, reason };
    },
    async close() {
      for (const yields of opened.values()) await (await yields).close();
    },
  };
}
