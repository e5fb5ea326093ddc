import { parentPort, workerData } from "node:worker_threads";
import { loadExamine } from "./checks/lint/load-examine.ts";
import type {
  AloneData,
  AloneReply,
  ThreadAnswer,
  ThreadData,
  ThreadTask,
} from "./documents/inspect/pool.ts";
import type { Inspector } from "./documents/inspect/inspection.ts";
import type { Identify } from "./documents/inspect/identify.ts";
import { lookAtRecorded } from "./documents/inspect/recorded.ts";
import { CliError } from "./errors.ts";

/** The memory of the bodies in an answer, which the receiver takes over. */
function bodiesIn(reply: ThreadAnswer): ArrayBuffer[] {
  const bodies = reply.map((each) => (each && "body" in each ? each.body.buffer : undefined));
  return bodies.filter((each) => each !== undefined && each.byteLength > 0) as ArrayBuffer[];
}

/** Inspects files for pool.ts, one task after the other. */
function inspect({ setup, done, reads }: ThreadData): void {
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

  const answer = async (task: ThreadTask): Promise<ThreadAnswer> => {
    if (task.kind === "look") return await lookAtRecorded(task.items, setup, load, count);
    const identify = await loadIdentify();
    return task.items.map((item) => {
      const id = identify(item);
      count();
      return id;
    });
  };

  let queue = Promise.resolve();
  // Not awaited: the first tasks may only identify files, which needs less code.
  if (reads) load().catch(() => {});
  parentPort?.on("message", (task: ThreadTask) => {
    queue = queue.then(async () => {
      const reply = await answer(task);
      parentPort?.postMessage(reply, bodiesIn(reply));
    });
  });
}

async function workAlone({ alone, settings: raw, checks }: AloneData): Promise<unknown> {
  const { compileSettings, usesPatterns } = await import("./documents/map/settings.ts");
  if (usesPatterns(raw)) await (await import("./documents/files/patterns.ts")).loadGlobs();
  const settings = compileSettings(raw);
  const examine = await loadExamine(checks, settings);
  if (alone.kind === "explain") {
    const { explainDocument } = await import("./documents/inspect/explain.ts");
    return await explainDocument(alone.file, settings, examine, alone.row);
  }
  const { prepareBytes } = await import("./documents/inspect/stdin/whole-text.ts");
  const { bytes, target, pair } = alone;
  return await prepareBytes(Buffer.from(bytes), target, settings, { pair, examine });
}

/** Does the task of alone.ts, and answers with its value or its error. */
async function answerAlone(data: AloneData): Promise<void> {
  let reply: AloneReply;
  try {
    reply = { value: await workAlone(data) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { exit, message, hints } = error;
    reply = { exit, message, hints };
  }
  // A thread has no target origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(reply);
}

const data = workerData as ThreadData | AloneData;
if ("alone" in data) void answerAlone(data);
else inspect(data);
