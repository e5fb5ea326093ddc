import { parentPort, workerData } from "node:worker_threads";
import { loadExamine } from "./checks/lint/load-examine.ts";
import type { Inspector } from "./documents/inspect/inspection.ts";
import { packResults, unpackItems } from "./documents/inspect/messages.ts";
import type { ThreadData } from "./documents/inspect/pool.ts";
import { lookAtRecorded } from "./documents/inspect/recorded.ts";

/** Inspects files for pool.ts in a worker thread, one task after the other. */
const { setup, done, reads } = workerData as ThreadData;
// Counted after each item: if this thread ends or hangs, the pool knows at which file.
const count = (): void => void Atomics.add(done, 0, 1);

// The code of readers and rules is loaded only when a file must be read, or certainly will be.
let inspector: Promise<Inspector> | undefined;
const load = async (): Promise<Inspector> =>
  await (inspector ??= import("./documents/inspect/inspect.ts").then(({ loadInspector }) =>
    loadInspector(setup, loadExamine),
  ));

let queue = reads ? load().then(() => {}) : Promise.resolve();
parentPort?.on("message", (text: string) => {
  queue = queue.then(async () => {
    const results = await lookAtRecorded(unpackItems(text), setup, load, count);
    const message = packResults(results);
    // Without a copy of the blocks: this thread can no longer read them.
    parentPort?.postMessage(message, message.blocks);
  });
});
