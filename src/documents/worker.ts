import { parentPort, workerData } from "node:worker_threads";
import { createInspector } from "./inspect.ts";
import type { InspectSetup, Looked, LookItem } from "./inspection.ts";
import type { Answer } from "./pool.ts";

/** Looks at files for pool.ts, in a thread of its own; one task after the other. */
const { setup, done } = workerData as { setup: InspectSetup; done: Int32Array };
const inspector = createInspector(setup);

async function lookAt(items: readonly LookItem[]): Promise<Looked[]> {
  const results: Looked[] = [];
  for (const item of items) {
    results.push(...(await inspector.look([item])));
    // Counted item by item: should this thread die or hang, the pool knows at which file.
    Atomics.add(done, 0, 1);
  }
  return results;
}

/** All bodies in one buffer that changes hands; the rest as one text, which costs less than a clone. */
function pack(results: readonly Looked[]): Answer {
  let size = 0;
  for (const each of results) if (each.kind === "document") size += each.body.length;
  const bodies = new Uint8Array(size);
  let at = 0;
  const heads = results.map((each) => {
    if (each.kind !== "document") return each;
    bodies.set(each.body, at);
    at += each.body.length;
    return { ...each, body: each.body.length };
  });
  return { heads: JSON.stringify(heads), bodies };
}

let queue = Promise.resolve();
parentPort?.on("message", (items: LookItem[]) => {
  queue = queue.then(async () => {
    const answer = pack(await lookAt(items));
    parentPort?.postMessage(answer, [answer.bodies.buffer as ArrayBuffer]);
  });
});
