import { parentPort, workerData } from "node:worker_threads";
import { loadExamine } from "./checks/lint/load-examine.ts";
import type { Inspector, Looked } from "./documents/inspect/inspection.ts";
import type { Peek } from "./documents/inspect/peek-id.ts";
import type { ThreadData, ThreadTask } from "./documents/inspect/pool.ts";
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

let peek: Promise<Peek> | undefined;
const loadPeek = async (): Promise<Peek> =>
  await (peek ??= import("./documents/inspect/peek-id.ts").then((module) =>
    module.loadPeek(setup.settings),
  ));

async function answer(task: ThreadTask): Promise<Looked[] | Uint8Array> {
  if (task.kind === "look") return await lookAtRecorded(task.items, setup, load, count);
  const { hasPathId } = await loadPeek();
  return Uint8Array.from(task.items, (path) => {
    const has = hasPathId({ path, absolutePath: undefined });
    count();
    return has ? 1 : 0;
  });
}

/** The memory of the bodies in an answer, which the receiver takes over. */
function bodiesIn(reply: Looked[] | Uint8Array): ArrayBuffer[] {
  if (reply instanceof Uint8Array) return [];
  const bodies = reply.flatMap((each) => (each.kind === "document" ? [each.body.buffer] : []));
  return bodies.filter((each) => each.byteLength > 0) as ArrayBuffer[];
}

let queue = Promise.resolve();
// Not awaited: the first tasks may only peek, which needs less code.
if (reads) load().catch(() => {});
parentPort?.on("message", (task: ThreadTask) => {
  queue = queue.then(async () => {
    const reply = await answer(task);
    parentPort?.postMessage(reply, bodiesIn(reply));
  });
});
