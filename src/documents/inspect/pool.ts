import { Worker } from "node:worker_threads";
import { codeOf, CliError, type ExitName } from "../../errors.ts";
import type {
  InspectSetup,
  Looked,
  LookItem,
  NewId,
  PlanInspector,
  ReadItem,
} from "./inspection.ts";
import type { SourceFile } from "../files/source-file.ts";
import type { FormatName } from "../formats/format.ts";
import type { RawSettings } from "../map/settings.ts";

/** A task as a thread receives it. */
export type ThreadTask =
  | { kind: "look"; items: readonly LookItem[] }
  | { kind: "identify"; items: readonly ReadItem[] };

/** Its results, in the order of the items. */
export type ThreadAnswer = Looked[] | (NewId | undefined)[];

type Task = ThreadTask & {
  settle: (results: never[]) => void;
  fail: (error: unknown) => void;
};

/** Start data of a worker thread. */
export interface ThreadData {
  setup: InspectSetup;
  /** Number of finished items. */
  done: Int32Array;
  /** Whether the thread will certainly read files, not only compare them with their records. */
  reads: boolean;
}

/** An inspector that works in worker threads. */
export interface Pool extends Pick<PlanInspector, "identify"> {
  look(items: readonly LookItem[]): Promise<Looked[]>;
  /** Whether the queue of every thread is full. */
  isBusy(): boolean;
  /** Whether tasks also wait for a free place in these queues. */
  isBehind(): boolean;
  close(): Promise<void>;
}

interface Member {
  worker: Worker;
  /** Tasks sent to the thread; the first one is in progress. */
  tasks: Task[];
  /** Number of finished items, counted by the thread itself. */
  done: Int32Array;
  /** Number of items in all answered tasks. */
  answered: number;
  /** The count at the last check, and when it last changed. */
  progress: { count: number; atMs: number };
}

// Two tasks per thread, so that a thread never waits for its next task.
const tasksPerThread = 2;
const checkMs = 2000;
// A hostile PDF or archive must not block other files or use all memory.
const workLimitMs = 120_000;
const memoryLimits = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 16 };
const tooMuchMemory = "reading it needs too much memory";
const tookTooLong = (limitMs: number): string =>
  `reading it took more than ${Math.round(limitMs / 1000)} s`;

interface PoolOptions {
  /** Number of threads. */
  size: number;
  reads?: boolean;
  timeoutMs?: number;
  maxOldGenerationSizeMb?: number;
}

function isOutOfMemory(error: unknown): boolean {
  return codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY";
}

/**
 * Starts threads that run `script` (the built worker.ts). A file that ends its thread or keeps it
 * busy for `timeoutMs` is reported as failed; a new thread repeats the other files of its task.
 * The caller closes the pool.
 */
export function createPool(
  script: string | URL,
  setup: InspectSetup,
  { size, reads = false, ...options }: PoolOptions,
): Pool {
  const { timeoutMs = workLimitMs, ...memory } = options;
  const waiting: Task[] = [];
  const members = new Set<Member>();
  let isClosed = false;

  const dispatch = (): void => {
    for (let depth = 1; depth <= tasksPerThread; depth++) {
      for (const member of members) {
        if (member.tasks.length >= depth) continue;
        const task = waiting.shift();
        if (!task) return;
        if (member.tasks.length === 0) member.progress.atMs = performance.now();
        member.tasks.push(task);
        const { kind, items } = task;
        // A thread has no target origin.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        member.worker.postMessage({ kind, items });
      }
    }
  };

  // The culprit is the item in progress in the first task; the other items are repeated.
  const replace = (member: Member, reason: string): void => {
    members.delete(member);
    if (isClosed) return;
    const [current, ...others] = member.tasks;
    // Without an answer, the file is read whole, which names the culprit.
    if (current?.kind === "identify") current.settle([]);
    else if (current) {
      const culprit = Math.min(
        Atomics.load(member.done, 0) - member.answered,
        current.items.length - 1,
      );
      const path = current.items[culprit]?.path ?? "";
      const failed: Looked = { kind: "failed", path, part: 0, reason: `${path}: ${reason}` };
      const rest = current.items.filter((_, index) => index !== culprit);
      const settle = (results: Looked[]): void => {
        const all = [...results.slice(0, culprit), failed, ...results.slice(culprit)];
        current.settle(all as never[]);
      };
      if (rest.length === 0) settle([]);
      else waiting.unshift({ ...current, items: rest, settle });
    }
    waiting.unshift(...others);
    start();
    dispatch();
  };

  function start(): void {
    const done = new Int32Array(new SharedArrayBuffer(4));
    const resourceLimits = { ...memoryLimits, ...memory };
    const workerData: ThreadData = { setup, done, reads };
    const worker = new Worker(script, { workerData, resourceLimits });
    const progress = { count: 0, atMs: performance.now() };
    const member: Member = { worker, tasks: [], done, answered: 0, progress };
    members.add(member);
    worker.on("message", (message: ThreadAnswer) => {
      // A late answer of a replaced thread: another thread repeats the task.
      if (!members.has(member)) return;
      const task = member.tasks.shift();
      member.answered += task?.items.length ?? 0;
      member.progress.atMs = performance.now();
      dispatch();
      task?.settle(message as never[]);
    });
    worker.on("error", (error) => {
      if (isOutOfMemory(error)) {
        replace(member, tooMuchMemory);
        return;
      }
      members.delete(member);
      for (const task of [...member.tasks, ...waiting.splice(0)]) task.fail(error);
    });
    worker.on("exit", () => {
      if (members.has(member)) replace(member, "the thread that read it ended unexpectedly");
    });
  }

  const timer = setInterval(
    () => {
      for (const member of members) {
        const count = Atomics.load(member.done, 0);
        const now = performance.now();
        if (member.tasks.length === 0 || count !== member.progress.count) {
          member.progress = { count, atMs: now };
        } else if (now - member.progress.atMs > timeoutMs) {
          void member.worker.terminate();
          replace(member, tookTooLong(timeoutMs));
        }
      }
    },
    Math.min(checkMs, timeoutMs),
  );
  timer.unref();

  const run = (task: ThreadTask): Promise<ThreadAnswer> =>
    new Promise((settle, fail) => {
      waiting.push({ ...task, settle, fail });
      dispatch();
    });

  for (let count = 0; count < size; count++) start();
  return {
    look: (items) => run({ kind: "look", items }) as Promise<Looked[]>,
    identify: (items) => run({ kind: "identify", items }) as Promise<(NewId | undefined)[]>,
    isBusy: () =>
      waiting.length > 0 || [...members].every(({ tasks }) => tasks.length >= tasksPerThread),
    isBehind: () => waiting.length > 0,
    async close() {
      isClosed = true;
      clearInterval(timer);
      await Promise.all([...members].map(({ worker }) => worker.terminate()));
    },
  };
}

/** Work on one text of a converted format, outside of an inspection: its answer is plain data. */
export type AloneTask =
  | { kind: "explain"; file: SourceFile; row: number | undefined }
  | {
      kind: "text";
      bytes: Uint8Array;
      target: { id: string; format: FormatName };
      pair: InspectSetup["pair"];
    };

/** Start data of a worker thread for one task. */
export interface AloneData {
  alone: AloneTask;
  settings: RawSettings;
  checks: object | undefined;
}

/** What the thread answers: errors lose their class between threads. */
export type AloneReply =
  | { value: unknown }
  | { exit: ExitName; message: string; hints: readonly string[] };

/**
 * Does one task in a thread of its own, with the limits of the pool. `path` names the text in
 * messages. Throws CliError: what the task threw, or `usage` for a text that takes too much.
 */
export function runAlone<Value>(
  script: string | URL,
  data: AloneData,
  path: string,
): Promise<Value> {
  return new Promise((settle, fail) => {
    const worker = new Worker(script, { workerData: data, resourceLimits: memoryLimits });
    const end = (finish: () => void): void => {
      clearTimeout(timer);
      worker.removeAllListeners();
      void worker.terminate();
      finish();
    };
    const refuse = (reason: string): void =>
      end(() => fail(new CliError("usage", `${path}: ${reason}`, { hints: ["exclude the file"] })));
    const timer = setTimeout(() => refuse(tookTooLong(workLimitMs)), workLimitMs);
    worker.on("message", (reply: AloneReply) =>
      end(() => {
        if ("value" in reply) settle(reply.value as Value);
        else fail(new CliError(reply.exit, reply.message, { hints: reply.hints }));
      }),
    );
    worker.on("exit", () => refuse("the thread that read it ended unexpectedly"));
    worker.on("error", (error) => {
      if (codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY") refuse(tooMuchMemory);
      else end(() => fail(error));
    });
  });
}
