import { formatOf } from "../../documents/read/readers.ts";
import type { DocumentSettings, RawSettings } from "../../documents/map/settings.ts";
import type { Yield, Yields } from "../../documents/find/yields.ts";
import { orphanClass, type DocumentState, type FileState } from "./orphan-classes.ts";
import { optionsJson, type OptionsStore, type RecordedOptions } from "../state/options.ts";
import type { Missing, Orphan } from "./orphans.ts";
import { differenceOf } from "../state/option-difference.ts";
import type { PlanTable } from "../plan/plan-table.ts";

export interface JudgeRequest {
  table: PlanTable;
  /** The options of this command, and the settings that result from them. */
  options: RecordedOptions;
  settings: DocumentSettings;
  /** The recorded options. */
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

const unknownOptions = "recorded by an earlier knowctl without its options: the reason is unknown";

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

/** Why a file that was read does not yield the missing document. */
function verdictOf({ ids, skipped, failed }: Yield, { id, part }: Missing): Verdict {
  if (failed !== undefined) return { file: "unreadable", document: "same options", reason: failed };
  if (ids.has(id)) return { file: "exists", document: "other options", reason: "" };
  const reason = skipped.get(part) ?? (ids.size === 0 ? [...skipped.values()][0] : undefined);
  if (reason !== undefined) return { file: "exists", document: "opted out", reason };
  const gone = part > 0 ? "its row is gone" : "the file has another id now";
  return { file: "exists", document: "row gone", reason: gone };
}

/** Returns the documents that the plan has for a file; valid only for the options of the plan. */
function createPlannedYield({ database }: PlanTable): (path: string) => Yield {
  const entries = database.prepare(
    "SELECT part, id, action, detail FROM temp.plan WHERE path = ? ORDER BY part",
  );
  return (path) => {
    const ids = new Set<string>();
    const skipped = new Map<number, string>();
    for (const row of entries.iterate(path)) {
      if (row["id"] !== null) ids.add(String(row["id"]));
      else if (row["action"] === "skipped") skipped.set(Number(row["part"]), String(row["detail"]));
    }
    return { ids, skipped, failed: undefined };
  };
}

/**
 * Creates a Judge that applies the options recorded with each document. A document that its file
 * still yields under these options has the class `other-options`. The caller closes the Judge.
 */
export function createJudge(request: JudgeRequest): Judge {
  const { settings, options, recorded, table } = request;
  const planned = createPlannedYield(table);
  const shaping = shapingJson(options);
  const opened = new Map<number, Promise<Yields>>();
  let last: { path: string; options: number; documents: Yield } | undefined;

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
  ): Promise<Yield> => {
    if (last?.path === path && last.options === number) return last.documents;
    const documents = await (await yieldsOf(number, before)).of(path, request.placeOf(path));
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

  const verdictFor = async (missing: Missing): Promise<Verdict | undefined> => {
    if (missing.isRead) return await judgeRead(missing);
    if (!request.isWhole && !missing.isUnfound) return undefined;
    const wasIncluded = options.byInclude && recorded.get(missing.options)?.byInclude === true;
    if (!missing.isUnfound && !request.isInScope(missing.path) && !wasIncluded) return undefined;
    if (!request.exists(request.placeOf(missing.path))) {
      return { file: "gone", document: "same options", reason: "the file is gone" };
    }
    const real = request.realPathOf(missing.path);
    // An earlier knowctl recorded the document under the path of a link.
    if (real !== undefined && real !== missing.path && planned(real).ids.size > 0) {
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
      const found = verdict && orphanClass(verdict.file, verdict.document);
      if (!verdict || !found) return undefined;
      const { id, path, part, storedId } = missing;
      return { id, path, part, storedId, class: found, reason: verdict.reason };
    },
    async close() {
      for (const yields of opened.values()) await (await yields).close();
    },
  };
}
