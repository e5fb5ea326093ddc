import { parentPort, workerData } from "node:worker_threads";
import { createInspector } from "./inspect.ts";
import type { InspectSetup } from "./inspection.ts";
import { packAnswer, unpackItems } from "./wire.ts";

/** Looks at files for pool.ts, in a thread of its own; one task after the other. */
const { setup, done } = workerData as { setup: InspectSetup; done: Int32Array };
const inspector = createInspector(setup);
// Counted item by item: should this thread die or hang, the pool knows at which file.
const count = (): void => void Atomics.add(done, 0, 1);

let queue = Promise.resolve();
parentPort?.on("message", (text: string) => {
  queue = queue.then(async () => {
    const items = unpackItems(text);
    const answer = packAnswer(await inspector.look(items, count));
    parentPort?.postMessage(answer, answer.blocks);
  });
});
