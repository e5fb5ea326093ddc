import { join } from "node:path";
import type { Context } from "../../context.ts";
import { loadGlobs, mayBeGlob } from "../../documents/files/patterns.ts";
import { scopeOf } from "../../documents/find/scope.ts";
import type { PlanInspector } from "../../documents/inspect/inspection.ts";
import { filesInThisThread, openInspector } from "../../documents/inspect/open-inspector.ts";
import {
  createRecordedOptions,
  recordedPaths,
  flagsKey,
  type RecordedOptions,
} from "../../sync/state/options.ts";
import type { BegunRun } from "../../sync/state/uploads.ts";
import { failuresKey } from "../ingest/upload/failures.ts";
import { CliError } from "../../errors.ts";
import { inspectSetup, recordedSource, type DocumentSource } from "../ingest/options/settings.ts";
import type { Session } from "../ingest/session.ts";
import { namesPairsByRule, sentTargets } from "../ingest/target/pair.ts";

/** Files that are judged by the same flags, over the configuration of today. */
export interface Group {
  source: DocumentSource;
  /** The options of the command line that these files have; without flags those of the command. */
  recorded: RecordedOptions;
  inspector: PlanInspector;
  /** Ends the threads of its inspector, if they are its own. */
  close?: () => Promise<void>;
  /** Whether a flag named the pair: then no rule and no row names another one. */
  pairFromFlag: boolean;
}

export interface Groups {
  all: readonly Group[];
  /** The groups that the record names. */
  recorded: ReadonlySet<Group>;
  /** The group of a file; undefined for a file that is neither recorded nor part of an upload. */
  of(path: string): Group | undefined;
  /** Whether the configured `include` found a recorded file, and finds it no more. */
  isLeftOut(path: string): boolean;
  /** Root-relative inputs of the uploads; undefined where they do not cover all records, or are imported. */
  inputs: readonly string[] | undefined;
  close(): Promise<void>;
}

/** Opens the files of recorded options: their flags over the configuration of today. The caller closes it. */
export async function openRecorded(
  context: Context,
  { source: today, targets, keys }: Pick<Session, "source" | "targets" | "keys">,
  recorded: RecordedOptions,
  fileCount: number,
): Promise<Pick<Group, "source"> & { inspector: OpenInspector }> {
  const flags = { idsOnly: true, wholeRoot: true, mayBeRemoved: true };
  const source = await recordedSource(context, today, recorded, flags);
  const setup = inspectSetup(source, targets, keys);
  return { source, inspector: await openInspector(setup, context.workerScript, fileCount) };
}

type OpenInspector = Awaited<ReturnType<typeof openInspector>>;

async function openGroup(
  context: Context,
  session: Session,
  recorded: RecordedOptions,
): Promise<Group> {
  const count = session.state.countFiles(filesInThisThread);
  const { source, inspector } = await openRecorded(context, session, recorded, count);
  const { pairFromFlag } = recorded;
  const { close } = inspector;
  return { source, recorded: { ...source.options, pairFromFlag }, inspector, close, pairFromFlag };
}

/** Whether an upload took a root-relative path; what its flags exclude counts, too. */
function coverage(
  { settings, find }: DocumentSource,
  { inputs }: BegunRun,
): (path: string) => boolean {
  if (inputs.length === 0) return scopeOf([], { ...find, settings: withoutFilters(settings) });
  const all = inputs.map((each) => join(settings.root, each));
  return scopeOf(all, { ...find, mayBeRemoved: true, settings: withoutFilters(settings) });
}

/** As coverage(); a path of another state that leads out of this root covers nothing. */
function importedCoverage(source: DocumentSource, run: BegunRun): (path: string) => boolean {
  try {
    return coverage(source, run);
  } catch (error) {
    if (error instanceof CliError) return () => false;
    throw error;
  }
}

const withoutFilters = (settings: DocumentSource["settings"]): DocumentSource["settings"] => ({
  ...settings,
  only: undefined,
  exclude: undefined,
});

/**
 * Opens the groups of a session: the flags recorded with each document, and for a file without a
 * record those of the last upload that covered its folder. The caller closes them.
 */
export async function openGroups(context: Context, session: Session): Promise<Groups> {
  const { state, source, inspector, shaping, targets } = session;
  const keys = sentTargets(state, targets, source.config);
  const uploadKeys = new Set([...keys, failuresKey(targets)]);
  const base: Group = {
    source,
    recorded: shaping.recorded,
    inspector,
    pairFromFlag: targets.pair.fromFlag,
  };
  const uploads = [...uploadKeys].flatMap((key) => state.uploads.list(key));
  uploads.sort((a, b) => b.startedAtMs - a.startedAtMs);
  if (uploads.some(({ inputs }) => inputs.some(mayBeGlob))) await loadGlobs();
  const recordedOptions = createRecordedOptions(state.database, keys);
  const isByRule = namesPairsByRule(source.config);
  const byKey = new Map([[flagsKey(shaping.recorded, isByRule), base]]);
  const byNumber = new Map<number, Group>();
  const numbers = [
    ...recordedOptions.numbers(),
    ...uploads.flatMap(({ options }) => (options === undefined ? [] : [options])),
  ];
  const close = async (): Promise<void> => {
    for (const each of byKey.values()) await each.close?.();
  };
  try {
    for (const number of new Set(numbers)) {
      const recorded = state.options.get(number);
      if (!recorded) continue;
      const key = flagsKey(recorded, isByRule);
      const group = byKey.get(key) ?? (await openGroup(context, session, recorded));
      byKey.set(key, group);
      byNumber.set(number, group);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const covering = uploads.map((run) => ({
    covers: run.isImported ? importedCoverage(source, run) : coverage(source, run),
    group: byNumber.get(run.options ?? -1) ?? base,
  }));
  const isConfigured = source.settings.include.length > 0;
  const isIncluded = isConfigured
    ? scopeOf([], { ...source.find, settings: withoutFilters(source.settings) })
    : () => covering.length === 0;
  const isCovered = (path: string): boolean =>
    isIncluded(path) || covering.some(({ covers }) => covers(path));
  const isLeftOut = (path: string): boolean => {
    if (!isConfigured || isIncluded(path)) return false;
    return state.options.get(recordedOptions.of(path))?.byInclude === true;
  };
  const hasAll = recordedPaths(state.database, keys).every(
    (path) => isCovered(path) || isLeftOut(path),
  );
  // A path of another state could name a hidden or ignored file: the walk of the root finds none.
  const isListed = hasAll && !uploads.some(({ isImported }) => isImported);
  return {
    all: [...new Set(byKey.values())],
    recorded: new Set(byNumber.values()),
    isLeftOut,
    of(path) {
      const number = recordedOptions.of(path);
      const known = number === undefined ? undefined : byNumber.get(number);
      if (known) return known;
      const covered = covering.find(({ covers }) => covers(path));
      return covered?.group ?? (isIncluded(path) ? base : undefined);
    },
    inputs: isListed ? [...new Set(uploads.flatMap(({ inputs }) => inputs))] : undefined,
    close,
  };
}
