import { parentPort, workerData } from "node:worker_threads";
import { loadExamine } from "./checks/lint/load-examine.ts";
import type { Inspector } from "./documents/inspect/inspection.ts";
import type { Identify } from "./documents/inspect/identify.ts";
import type { ThreadAnswer, ThreadData, ThreadTask } from "./documents/inspect/pool.ts";
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

let identifying: Promise<Identify> | undefined;
const loadIdentify = async (): Promise<Identify> =>
  await (identifying ??= import("./documents/inspect/identify.ts").then((module) =>
    module.loadIdentify(setup.settings),
  ));

async function answer(task: ThreadTask): Promise<ThreadAnswer> {
  if (task.kind === "look") return await lookAtRecorded(task.items, setup, load, count);
  const identify = await loadIdentify();
  return task.items.map((item) => {
    const id = identify(item);
    count();
    return id;
  });
}

/** The memory of the bodies in an answer, which the receiver takes over. */
function bodiesIn(reply: ThreadAnswer): ArrayBuffer[] {
  const bodies = reply.map((each) => (each && "body" in each ? each.body.buffer : undefined));
  return bodies.filter((each) => each !== undefined && each.byteLength > 0) as ArrayBuffer[];
}

let queue = Promise.resolve();
// Not awaited: the first tasks may only identify files, which needs less code.
if (reads) load().catch(() => {});
parentPort?.on("message", (task: ThreadTask) => {
  queue = queue.then(async () => {
    const reply = await answer(task);
    parentPort?.postMessage(reply, bodiesIn(reply));
  });
});
