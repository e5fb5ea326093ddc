import { parentPort, workerData } from "node:worker_threads";
import type { Inspector } from "./inspection.ts";
import type { ThreadData } from "./pool.ts";
import { lookAtRecorded } from "./recorded.ts";
import { packAnswer, unpackItems } from "./wire.ts";

/** Looks at files for pool.ts, in a thread of its own; one task after the other. */
const { setup, done, reads } = workerData as ThreadData;
// Counted item by item: should this thread die or hang, the pool knows at which file.
const count = (): void => void Atomics.add(done, 0, 1);

// All that reading takes is loaded only when there is something to read, or surely will be.
let inspector: Promise<Inspector> | undefined;
const load = async (): Promise<Inspector> =>
  await (inspector ??= import("./inspect.ts").then(({ loadInspector }) => loadInspector(setup)));

let queue = reads ? load().then(() => {}) : Promise.resolve();
parentPort?.on("message", (text: string) => {
  queue = queue.then(async () => {
    const answer = packAnswer(await lookAtRecorded(unpackItems(text), setup, load, count));
    parentPort?.postMessage(answer, answer.blocks);
  });
});
