import { parentPort, workerData } from "node:worker_threads";
import { createInspector } from "./inspect.ts";
import type { InspectSetup, LookItem, ReadItem } from "./inspection.ts";
import type { Answer, Task } from "./pool.ts";

/** Looks at and reads files for pool.ts, in a thread of its own; one task after the other. */
const { setup, done } = workerData as { setup: InspectSetup; done: Int32Array };
const inspector = createInspector(setup);

// Counted item by item: should this thread die or hang, the pool knows at which file.
async function oneByOne<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    results.push(...(await work([item])));
    Atomics.add(done, 0, 1);
  }
  return results;
}

async function answer(task: Task): Promise<void> {
  if (task.operation === "look") {
    const results = await oneByOne(task.items as readonly LookItem[], inspector.look);
    // A thread has no target origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    parentPort?.postMessage({ results } satisfies Answer);
    return;
  }
  const results = await oneByOne(task.items as readonly ReadItem[], inspector.read);
  // All bodies in one buffer that changes hands instead of being copied.
  const bodies = results.map((each) => (each.kind === "document" ? each.body : undefined));
  const size = bodies.reduce((sum, body) => sum + (body?.length ?? 0), 0);
  const buffer = new Uint8Array(size);
  let at = 0;
  const light = results.map((each, index) => {
    const body = bodies[index];
    if (each.kind !== "document" || !body) return each;
    buffer.set(body, at);
    at += body.length;
    return { ...each, body: new Uint8Array(0), bodyLength: body.length };
  });
  parentPort?.postMessage({ results: light, buffer } satisfies Answer, [buffer.buffer]);
}

let queue = Promise.resolve();
parentPort?.on("message", (task: Task) => {
  queue = queue.then(() => answer(task));
});
