import { parentPort, workerData } from "node:worker_threads";
import type { InspectSetup, Inspector, Looked } from "./inspection.ts";
import { isAsRecorded } from "./recorded.ts";
import { packAnswer, unpackItems } from "./wire.ts";

/** Looks at files for pool.ts, in a thread of its own; one task after the other. */
const { setup, done } = workerData as { setup: InspectSetup; done: Int32Array };
// Counted item by item: should this thread die or hang, the pool knows at which file.
const count = (): void => void Atomics.add(done, 0, 1);

// All that reading takes is loaded only when there is something to read.
let inspector: Promise<Inspector> | undefined;
const loadInspector = async (): Promise<Inspector> =>
  (await import("./inspect.ts")).createInspector(setup);

async function look(text: string): Promise<Looked[]> {
  const items = unpackItems(text);
  const results: Looked[] = [];
  for (const item of items) {
    if (!isAsRecorded(item, setup.settings.root)) break;
    results.push({ kind: "same" });
    count();
  }
  if (results.length === items.length) return results;
  const { look: lookCloser } = await (inspector ??= loadInspector());
  return [...results, ...(await lookCloser(items.slice(results.length), count))];
}

let queue = Promise.resolve();
parentPort?.on("message", (text: string) => {
  queue = queue.then(async () => {
    const answer = packAnswer(await look(text));
    parentPort?.postMessage(answer, answer.blocks);
  });
});
