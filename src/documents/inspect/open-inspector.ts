import type { PeekedId } from "./inspection.ts";
import { availableParallelism } from "node:os";
import type {
  PeekingInspector,
  Inspector,
  InspectSetup,
  LookItem,
  ReadItem,
} from "./inspection.ts";
import { createPool, type Pool } from "./pool.ts";
import { formatOf } from "../read/readers.ts";
import { lookAtRecorded } from "./recorded.ts";

/** Up to so many files one thread looks at: another one costs as much as they do. */
export const filesInThisThread = 2000;
const mostThreads = 4;

/** This thread has work of its own, and each other one costs its warming up. */
function threadCount(): number {
  return Math.min(mostThreads, Math.max(1, availableParallelism() - 1));
}

const isStampKnown = ({ stamp, content }: LookItem): boolean =>
  stamp !== undefined && content === undefined;

/**
 * An inspector that begins in this thread and takes worker threads when there
 * is much to do, or for formats whose files may hang or take all memory; what
 * the threads have no hands for, this one does. `recordedFiles` tells what to
 * expect, as far as filesInThisThread: the threads start at once where so many
 * will be compared. What reading takes is loaded when the first file is to be
 * read. What a glance takes is loaded at once where no file is recorded, else with
 * the first new one: until then no glance tells anything. `script` is the built
 * worker; without it all is done in this thread. The caller closes it.
 */
export async function openInspector(
  setup: InspectSetup,
  script: string | URL | undefined,
  recordedFiles: number,
): Promise<PeekingInspector & { close(): Promise<void> }> {
  let loading: Promise<Inspector> | undefined;
  const load = (): Promise<Inspector> =>
    (loading ??= import("./inspect.ts").then(({ loadInspector }) => loadInspector(setup)));
  let peekIdOf: ((item: ReadItem) => PeekedId | undefined) | undefined;
  let peekLoading: Promise<void> | undefined;
  const loadPeek = async (): Promise<void> => {
    const { loadPeekId: loadGlance } = await import("./peek-id.ts");
    peekIdOf = await loadGlance(setup.settings);
  };
  if (recordedFiles === 0) await loadPeek();
  const local: Pick<Inspector, "look"> = {
    look: (items, onItem) => lookAtRecorded(items, setup, load, onItem),
  };
  let pool: Pool | undefined;
  let looked = 0;
  const isHeavy = ({ path }: LookItem): boolean =>
    formatOf(path, setup.settings.format)?.gives === "binary";
  const countUp = (files: number, isNeeded: boolean, reads: boolean): void => {
    looked += files;
    if (script === undefined || (looked <= filesInThisThread && !isNeeded)) return;
    pool ??= createPool(script, setup, { size: threadCount(), reads });
  };
  if (recordedFiles >= filesInThisThread) countUp(filesInThisThread, true, false);
  const choose = (items: readonly LookItem[]): Pick<Inspector, "look"> => {
    // Files that are likely as recorded: this thread lists and merges the next meanwhile,
    // and helps only when it would wait.
    if (pool && items.every(isStampKnown)) return pool.isBehind() ? local : pool;
    const mustNotBeHere = items.some(isHeavy);
    countUp(items.length, mustNotBeHere, !items.every(isStampKnown));
    return !pool || (pool.isBusy() && !mustNotBeHere) ? local : pool;
  };
  return {
    look: (items) => choose(items).look(items),
    async *readRows(item) {
      yield* (await load()).readRows(item);
    },
    peekId(item) {
      // Should it fail, reading the file fails in the same way, and says so.
      if (!peekIdOf) peekLoading ??= loadPeek().catch(() => {});
      const peeked = peekIdOf?.(item);
      // They are read later: by then the threads are up.
      if (peeked) countUp(1, false, true);
      return peeked;
    },
    close: async () => await pool?.close(),
  };
}
