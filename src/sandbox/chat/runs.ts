import { randomUUID } from "node:crypto";
import { type Line, packet } from "./packets.ts";

/** One answer in progress. It continues with or without readers. */
export interface Run {
  id: string;
  /** Aborted by the stop endpoint. */
  stopped: AbortSignal;
  /** Aborted when the sandbox shuts down: the rest is then stored without pauses. */
  ending: AbortSignal;
  stop(): void;
  /**
   * The past and future lines from number `from`, until the run ends or the reader
   * disconnects. Ends at once if line `from` is no longer kept.
   */
  read(gone: AbortSignal, from?: number): AsyncGenerator<Line>;
}

export interface RunOptions {
  /** Silence before a heartbeat is sent (default 15 s; observed-service.md 2.4). */
  heartbeatMs?: number | undefined;
  /** Maximum of characters of one run that are kept for later readers (default 8 Mi). */
  limit?: number | undefined;
}

interface Log {
  lines: { line: Line; size: number }[];
  /** Number of the first line that is kept. */
  first: number;
  size: number;
  done: boolean;
  /** The run waits until a reader advances. */
  full: boolean;
  failure: unknown;
  /** Position of each reader: the number of its next line. */
  readers: Set<{ at: number }>;
  /** Callbacks that wait for a line, for space, or for the end. */
  waiting: Set<() => void>;
}

function notify({ waiting }: Log): void {
  for (const wake of waiting) wake();
  waiting.clear();
}

async function nextChange(log: Log, gone?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      log.waiting.delete(wake);
      gone?.removeEventListener("abort", wake);
      resolve();
    };
    log.waiting.add(wake);
    gone?.addEventListener("abort", wake, { once: true });
  });
}

/** Drops lines that every reader has read, or any line without readers. Otherwise waits for the slowest. */
async function freeSpace(log: Log, limit: number): Promise<void> {
  log.full = true;
  while (log.size > limit) {
    const seen = Math.min(...[...log.readers].map(({ at }) => at));
    if (log.first < seen && log.lines.length > 0) {
      log.size -= log.lines.shift()!.size;
      log.first += 1;
    } else await nextChange(log);
  }
  log.full = false;
}

async function* readLog(log: Log, gone: AbortSignal, from: number): AsyncGenerator<Line> {
  const reader = { at: from };
  log.readers.add(reader);
  try {
    while (!gone.aborted && reader.at >= log.first) {
      const next = log.lines[reader.at - log.first];
      if (next) {
        reader.at += 1;
        if (log.full) notify(log);
        yield next.line;
      } else if (log.done) {
        if (log.failure !== undefined) throw log.failure;
        return;
      } else await nextChange(log, gone);
    }
  } finally {
    log.readers.delete(reader);
    notify(log);
  }
}

const linesPerTick = 64;
/** Includes runs without readers. */
const maxRuns = 100;

const heartbeat = packet(0, "chat_heartbeat", {}, null);

async function fill(log: Log, lines: AsyncIterable<Line>, options: RunOptions): Promise<void> {
  const { heartbeatMs = 15_000, limit = 8 * 1024 * 1024 } = options;
  const append = (line: Line): void => {
    const size = JSON.stringify(line).length;
    log.lines.push({ line, size });
    log.size += size;
    timer.refresh();
    notify(log);
  };
  let count = 0;
  const timer = setTimeout(() => append(heartbeat), heartbeatMs).unref();
  try {
    for await (const line of lines) {
      append(line);
      if (log.size > limit) await freeSpace(log, limit);
      count += 1;
      // Yield to the event loop: the lines may be produced without waiting.
      if (count % linesPerTick === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  } catch (error) {
    log.failure = error;
  } finally {
    clearTimeout(timer);
    log.done = true;
    notify(log);
  }
}

export type Runs = ReturnType<typeof createRuns>;

/**
 * The answers in progress. A client that disconnects cancels nothing; when it reconnects, it
 * finds the latest run of its session here: observed-service.md 2.8.
 */
export function createRuns(options: RunOptions = {}) {
  const bySession = new Map<string, Run>();
  const open = new Map<Promise<void>, AbortController>();
  return {
    /** Starts an answer. `make` receives the run, whose signals it must follow. */
    start(make: (run: Run) => AsyncIterable<Line>): Run {
      const stop = new AbortController();
      const end = new AbortController();
      const log: Log = {
        lines: [],
        first: 0,
        size: 0,
        done: false,
        full: false,
        failure: undefined,
        readers: new Set(),
        waiting: new Set(),
      };
      const run: Run = {
        id: randomUUID(),
        stopped: stop.signal,
        ending: end.signal,
        stop: () => stop.abort(),
        read: (gone, from = 0) => readLog(log, gone, from),
      };
      const filled = fill(log, make(run), options).finally(() => open.delete(filled));
      open.set(filled, end);
      return run;
    },
    /** Whether the maximum of runs is in progress. */
    isFull: (): boolean => open.size >= maxRuns,
    /** Makes `find` return this run for the session. */
    enter: (session: string, run: Run): void => void bySession.set(session, run),
    leave(session: string, run: Run): void {
      if (bySession.get(session) === run) bySession.delete(session);
    },
    find: (session: string): Run | undefined => bySession.get(session),
    /** Ends the pauses of all runs, and resolves when all answers are stored. */
    async close(): Promise<void> {
      for (const end of open.values()) end.abort();
      await Promise.all(open.keys());
    },
  };
}
