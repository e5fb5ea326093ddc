import { availableParallelism } from "node:os";
import { createInspector } from "./inspect.ts";
import type { Inspector, InspectSetup } from "./inspection.ts";
import { createPool, type Pool } from "./pool.ts";
import { formatOf } from "./readers.ts";

// A thread costs as much as looking at some thousand files.
const filesInThisThread = 2000;
const mostThreads = 4;

/**
 * An inspector that begins in this thread and takes worker threads when there
 * is much to do, or for formats whose files may hang or take all memory.
 * `script` is the built worker; without it all is done in this thread. The
 * caller closes it.
 */
export function openInspector(
  setup: InspectSetup,
  script: string | undefined,
): Inspector & { close(): Promise<void> } {
  const local = createInspector(setup);
  let pool: Pool | undefined;
  let looked = 0;
  const choose = (items: readonly { path: string }[]): Pick<Inspector, "look"> => {
    if (script === undefined || pool) return pool ?? local;
    looked += items.length;
    const isHeavy = items.some(
      ({ path }) => formatOf(path, setup.settings.format)?.gives === "binary",
    );
    if (looked <= filesInThisThread && !isHeavy) return local;
    pool = createPool(script, setup, Math.min(availableParallelism(), mostThreads));
    return pool;
  };
  return {
    look: (items) => choose(items).look(items),
    readRows: local.readRows,
    close: async () => await pool?.close(),
  };
}
