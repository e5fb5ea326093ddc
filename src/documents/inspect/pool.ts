import { Worker } from "node:worker_threads";
import { codeOf } from "../../errors.ts";
import type { InspectSetup, Inspector, Looked, LookItem } from "./inspection.ts";
import { packItems, unpackAnswer, type Answer } from "./wire.ts";

interface Task {
  items: readonly LookItem[];
  settle: (results: Looked[]) => void;
  fail: (error: unknown) => void;
}

/** What a thread is given at its start. */
export interface ThreadData {
  setup: InspectSetup;
  /** Items finished. */
  done: Int32Array;
  /** Whether it is sure to read files, not only to look whether they have changed. */
  reads: boolean;
}

/** An inspector whose work is done by worker threads. */
export interface Pool extends Pick<Inspector, "look"> {
  /** Whether every thread has enough to do. */
  isBusy(): boolean;
  /** Whether there is more than that. */
  isBehind(): boolean;
  close(): Promise<void>;
}

interface Member {
  worker: Worker;
  /** Tasks handed over, the first of them in work. */
  tasks: Task[];
  /** Items finished, counted by the thread itself. */
  done: Int32Array;
  /** Items of all tasks that were answered. */
  answered: number;
  /** The count at the last look, and when it last moved. */
  seen: { count: number; atMs: number };
}

// Two tasks each, so that a thread never waits for the next.
const tasksAhead = 2;
const checkMs = 2000;
// A hostile PDF or archive must not hold up the others, nor take all memory.
const limits = { timeoutMs: 120_000, maxOldGenerationSizeMb: 768 };

interface PoolOptions {
  /** Threads. */
  size: number;
  reads?: boolean;
  timeoutMs?: number;
  maxOldGenerationSizeMb?: number;
}

const maxYoungGenerationSizeMb = 16;

function isOutOfMemory(error: unknown): boolean {
  return codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY";
}

/**
 * Starts threads that run `script` (the built worker.ts). A file that
 * kills its thread or keeps it busy for `timeoutMs` is answered as failed, and
 * its companions are read again by a fresh thread. The caller closes the pool.
 */
export function createPool(
  script: string | URL,
  setup: InspectSetup,
  { size, reads = false, ...given }: PoolOptions,
): Pool {
  const { timeoutMs, maxOldGenerationSizeMb } = { ...limits, ...given };
  const waiting: Task[] = [];
  const members = new Set<Member>();
  let isClosed = false;

  const dispatch = (): void => {
    for (let depth = 1; depth <= tasksAhead; depth++) {
      for (const member of members) {
        if (member.tasks.length >= depth) continue;
        const task = waiting.shift();
        if (!task) return;
        if (member.tasks.length === 0) member.seen.atMs = performance.now();
        member.tasks.push(task);
        // A thread has no target origin.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin
        member.worker.postMessage(packItems(task.items));
      }
    }
  };

  // The first task's item that was in work is the culprit; the rest is done again.
  const replace = (member: Member, reason: string): void => {
    members.delete(member);
    if (isClosed) return;
    const [current, ...others] = member.tasks;
    if (current) {
      const culprit = Math.min(
        Atomics.load(member.done, 0) - member.answered,
        current.items.length - 1,
      );
      const path = current.items[culprit]?.path ?? "";
      const failed: Looked = { kind: "failed", path, part: 0, reason: `${path}: ${reason}` };
      const rest = current.items.filter((_, index) => index !== culprit);
      const settle = (results: Looked[]): void => {
        current.settle([...results.slice(0, culprit), failed, ...results.slice(culprit)]);
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
    const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb };
    const workerData: ThreadData = { setup, done, reads };
    const worker = new Worker(script, { workerData, resourceLimits });
    const seen = { count: 0, atMs: performance.now() };
    const member: Member = { worker, tasks: [], done, answered: 0, seen };
    members.add(member);
    worker.on("message", (answer: Answer) => {
      // What a thread that was given up had still sent is done again by another.
      if (!members.has(member)) return;
      const task = member.tasks.shift();
      member.answered += task?.items.length ?? 0;
      member.seen.atMs = performance.now();
      dispatch();
      task?.settle(unpackAnswer(answer, task.items));
    });
    worker.on("error", (error) => {
      if (isOutOfMemory(error)) {
        replace(member, "it needs too much memory to be read");
        return;
      }
      members.delete(member);
      for (const task of [...member.tasks, ...waiting.splice(0)]) task.fail(error);
    });
    worker.on("exit", () => {
      if (members.has(member)) replace(member, "the thread that read it ended");
    });
  }

  const timer = setInterval(
    () => {
      for (const member of members) {
        const count = Atomics.load(member.done, 0);
        const now = performance.now();
        if (member.tasks.length === 0 || count !== member.seen.count) {
          member.seen = { count, atMs: now };
        } else if (now - member.seen.atMs > timeoutMs) {
          void member.worker.terminate();
          replace(member, `it was not read within ${Math.round(timeoutMs / 1000)} s`);
        }
      }
    },
    Math.min(checkMs, timeoutMs),
  );
  timer.unref();

  for (let count = 0; count < size; count++) start();
  return {
    look: (items) =>
      new Promise((settle, fail) => {
        waiting.push({ items, settle, fail });
        dispatch();
      }),
    isBusy: () =>
      waiting.length > 0 || [...members].every(({ tasks }) => tasks.length >= tasksAhead),
    isBehind: () => waiting.length > 0,
    async close() {
      isClosed = true;
      clearInterval(timer);
      await Promise.all([...members].map(({ worker }) => worker.terminate()));
    },
  };
}
