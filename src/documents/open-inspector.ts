import { availableParallelism } from "node:os";
import { createInspector } from "./inspect.ts";
import type { Inspector, InspectSetup, LookItem } from "./inspection.ts";
import { createPool, type Pool } from "./pool.ts";
import { formatOf } from "./readers.ts";

// A thread costs as much as looking at some thousand files.
const filesInThisThread = 2000;
const mostThreads = 4;

/**
 * How many threads serve best: comparing with what is recorded leaves this
 * thread idle, an upload does not, and each thread costs its own warming up.
 */
function threadsFor(items: readonly LookItem[]): number {
  const processors = availableParallelism();
  const isComparing = items.some(
    ({ stamp, content }) => stamp !== undefined || content !== undefined,
  );
  return Math.min(mostThreads, Math.max(1, isComparing ? processors : processors - 1));
}

/**
 * An inspector that begins in this thread and takes worker threads when there
 * is much to do, or for formats whose files may hang or take all memory. `script` is the built worker; without it all is done in this thread. The
 * caller closes it.
 */
export function openInspector(
  setup: InspectSetup,
  script: string | undefined,
): Inspector & { close(): Promise<void> } {
  const local = createInspector(setup);
  let pool: Pool | undefined;
  let looked = 0;
  const choose = (items: readonly LookItem[]): Pick<Inspector, "look"> => {
    if (script === undefined || pool) return pool ?? local;
    looked += items.length;
    const isHeavy = items.some(
      ({ path }) => formatOf(path, setup.settings.format)?.gives === "binary",
    );
    if (looked <= filesInThisThread && !isHeavy) return local;
    pool = createPool(script, setup, threadsFor(items));
    return pool;
  };
  return {
    look: (items) => choose(items).look(items),
    readRows: local.readRows,
    close: async () => await pool?.close(),
  };
}
