import { availableParallelism } from "node:os";
import type {
  Inspector,
  InspectSetup,
  LoadExamine,
  LookItem,
  PlanInspector,
  Prepared,
  ReadItem,
} from "./inspection.ts";
import type { Identify } from "./identify.ts";
import { createPool, type Pool } from "./pool.ts";
import { formatOf } from "../formats/formats.ts";
import { lookAtRecorded } from "./recorded.ts";
import type { RawSettings } from "../map/settings.ts";

/** Up to this number of files, one thread is enough: a second one costs as much as the files. */
export const filesInThisThread = 2000;
/** The same where rules examine each file, which costs several times as much as reading it. */
const examinedInThisThread = 400;
const maxThreads = 4;

/**
 * One core stays free for this thread, except where it waits: a converted file takes its thread many
 * times as long as this one. The limit exists because each thread has a warm-up cost.
 */
function threadCount(convertsFiles: boolean): number {
  const free = convertsFiles ? 0 : 1;
  return Math.min(maxThreads, Math.max(1, availableParallelism() - free));
}

const isStampKnown = ({ stamp, content }: LookItem): boolean =>
  stamp !== undefined && content === undefined;

/**
 * Opens an inspector that starts in this thread. It uses worker threads for many files, and always
 * for those of converted formats, which may hang or use all memory. While all workers are busy, this
 * thread does the other work. `recordedFiles` is the number of recorded files, counted up to
 * filesInThisThread. From that number on, the workers start at once. The reader code is loaded with
 * the first file to read, the code of identify() with the first new file. `script` is the built
 * worker; without it, all work runs
 * in this thread. `loadExamine` loads the checks that `setup.checks` describes. The caller closes the
 * inspector.
 */
export async function openInspector(
  setup: InspectSetup,
  script: string | URL | undefined,
  recordedFiles: number,
  loadExamine?: LoadExamine,
): Promise<PlanInspector & { close(): Promise<void> }> {
  let loading: Promise<Inspector> | undefined;
  const load = (): Promise<Inspector> =>
    (loading ??= import("./inspect.ts").then(({ loadInspector }) =>
      loadInspector(setup, loadExamine),
    ));
  let identifying: Promise<Identify> | undefined;
  const loadIdentify = (): Promise<Identify> =>
    (identifying ??= import("./identify.ts").then((module) => module.loadIdentify(setup.settings)));
  let pool: Pool | undefined;
  const isConverted = ({ path }: ReadItem): boolean =>
    formatOf(path, setup.settings.format)?.isConverted === true;
  /** Reads files: those of converted formats in a thread, the others in this one. */
  const read: Inspector["look"] = async (items, onItem) => {
    const converted = script === undefined ? [] : items.filter(isConverted);
    if (script === undefined || converted.length === 0) return (await load()).look(items, onItem);
    const size = Math.min(threadCount(true), converted.length);
    pool ??= createPool(script, setup, { size, reads: true });
    const others = items.filter((item) => !isConverted(item));
    const [made, rest] = await Promise.all([
      pool.look(converted),
      others.length === 0 ? [] : (await load()).look(others),
    ]);
    for (const _ of items) onItem?.();
    const [nextMade, nextOther] = [made.values(), rest.values()];
    return items.flatMap((item) => {
      const { value } = (isConverted(item) ? nextMade : nextOther).next();
      return value === undefined ? [] : [value];
    });
  };
  const local: Pick<Inspector, "look"> = {
    look: (items, onItem) => lookAtRecorded(items, setup, async () => ({ look: read }), onItem),
  };
  let fileCount = 0;
  const mostHere = setup.onlyExamines ? examinedInThisThread : filesInThisThread;
  const countFiles = (items: readonly ReadItem[], reads: boolean): void => {
    fileCount += items.length;
    if (script === undefined || fileCount <= mostHere) return;
    pool ??= createPool(script, setup, { size: threadCount(items.some(isConverted)), reads });
  };
  if (script !== undefined && recordedFiles >= filesInThisThread) {
    pool = createPool(script, setup, { size: threadCount(false), reads: false });
  }
  const choose = (items: readonly LookItem[]): Pick<Inspector, "look"> => {
    // These files are probably unchanged. Meanwhile this thread lists and merges the next files;
    // it helps only when it would wait.
    if (pool && items.every(isStampKnown)) return pool.isBehind() ? local : pool;
    countFiles(items, !items.every(isStampKnown));
    return !pool || pool.isBusy() ? local : pool;
  };
  return {
    look: (items) => choose(items).look(items),
    async *readRows(item) {
      yield* (await load()).readRows(item);
    },
    async identify(items) {
      // They are read later. By then the threads are ready, and this one has no parser loaded.
      countFiles(items, true);
      return pool ? await pool.identify(items) : items.map(await loadIdentify());
    },
    close: async () => await pool?.close(),
  };
}

/** The documents of one file under some settings. */
export interface Yield {
  ids: ReadonlySet<string>;
  /** Why rows are skipped, by row number; number 0 is the whole file. */
  skipped: ReadonlyMap<number, string>;
  /** Why the file, or a part of it, cannot be read. */
  failed: string | undefined;
}

/** Finds the documents of files under some settings; see openYields(). */
export interface Yields {
  of(path: string, absolutePath: string): Promise<Yield>;
  close(): Promise<void>;
}

/**
 * Inspects files under other settings than those of the run, for example the settings that a
 * document was recorded with. Does not check whether the settings select the file. `script` is
 * the built worker. The caller closes the result.
 */
export async function openYields(
  settings: RawSettings,
  script: string | URL | undefined,
): Promise<Yields> {
  // Only the ids matter here: no content is sent.
  const permissive: RawSettings = { ...settings, allowSecrets: true, dropAccess: true };
  const pair = { ccPairId: undefined, fromFlag: false };
  const inspector = await openInspector({ settings: permissive, pair }, script, 0);
  const prepare = async function* (path: string, absolutePath: string): AsyncGenerator<Prepared> {
    const item = { path, absolutePath };
    const format = formatOf(path, settings.format);
    if (!format) {
      yield { kind: "failed", path, part: 0, reason: "format not supported" };
    } else if (format.gives === "rows") {
      yield* inspector.readRows(item);
    } else {
      const inspected = await inspector.look([{ ...item, stamp: undefined, content: undefined }]);
      for (const each of inspected) if (each.kind !== "same") yield each;
    }
  };
  return {
    async of(path, absolutePath) {
      const ids = new Set<string>();
      const skipped = new Map<number, string>();
      let failed: string | undefined;
      for await (const each of prepare(path, absolutePath)) {
        if (each.kind === "document") ids.add(each.id);
        else if (each.kind === "skipped") skipped.set(each.part, each.reason);
        else failed ??= each.reason;
      }
      return { ids, skipped, failed };
    },
    close: () => inspector.close(),
  };
}
