import { randomUUID } from "node:crypto";
import { type Line, packet } from "./packets.ts";

/** One answer that is being made. It goes on whether anybody reads it or not. */
export interface Run {
  id: string;
  /** Aborted by the stop endpoint. */
  stopped: AbortSignal;
  /** Aborted when the sandbox ends: what is left is to be stored without a pause. */
  ending: AbortSignal;
  stop(): void;
  /**
   * The lines so far from number `from` on, then those to come, until the run or
   * the reader has ended. Ends at once when the beginning is no longer held.
   */
  read(gone: AbortSignal, from?: number): AsyncGenerator<Line>;
}

export interface RunOptions {
  /** Silence after which a heartbeat is sent; 15 s without it (observed-service.md 2.4). */
  heartbeatMs?: number | undefined;
  /** Characters of one run's lines that are held for those who come later; 8 Mi without it. */
  limit?: number | undefined;
}

interface Log {
  lines: { line: Line; size: number }[];
  /** Number of the first line that is still held. */
  first: number;
  size: number;
  done: boolean;
  /** Waits until a reader has moved on. */
  full: boolean;
  failure: unknown;
  /** How far each reader is. */
  readers: Set<{ at: number }>;
  /** Those who wait for a line, for room, or for the end. */
  waiting: Set<() => void>;
}

function notify({ waiting }: Log): void {
  for (const wake of waiting) wake();
  waiting.clear();
}

async function changed(log: Log, gone?: AbortSignal): Promise<void> {
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

/** Drops what every reader has seen, or what nobody reads; otherwise waits for the slowest. */
async function makeRoom(log: Log, limit: number): Promise<void> {
  log.full = true;
  while (log.size > limit) {
    const seen = Math.min(...[...log.readers].map(({ at }) => at));
    if (log.first < seen && log.lines.length > 0) {
      log.size -= log.lines.shift()!.size;
      log.first += 1;
    } else await changed(log);
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
      } else await changed(log, gone);
    }
  } finally {
    log.readers.delete(reader);
    notify(log);
  }
}

const linesAtOnce = 64;
/** Those that nobody waits for count as well. */
const mostRuns = 100;

const heartbeat = packet(0, "chat_heartbeat", {}, null);

async function fill(log: Log, lines: AsyncIterable<Line>, options: RunOptions): Promise<void> {
  const { heartbeatMs = 15_000, limit = 8 * 1024 * 1024 } = options;
  const take = (line: Line): void => {
    const size = JSON.stringify(line).length;
    log.lines.push({ line, size });
    log.size += size;
    timer.refresh();
    notify(log);
  };
  let taken = 0;
  const timer = setTimeout(() => take(heartbeat), heartbeatMs).unref();
  try {
    for await (const line of lines) {
      take(line);
      if (log.size > limit) await makeRoom(log, limit);
      taken += 1;
      // Whatever makes lines without waiting lets others in between.
      if (taken % linesAtOnce === 0) await new Promise((resolve) => setImmediate(resolve));
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
 * The answers in flight. A client that leaves cancels nothing, and one that comes
 * back finds its session's latest run here: observed-service.md 2.8.
 */
export function createRuns(options: RunOptions = {}) {
  const bySession = new Map<string, Run>();
  const open = new Map<Promise<void>, AbortController>();
  return {
    /** Starts to make an answer; `make` gets the run to heed its signals. */
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
    /** Whether as many are made as may be at once. */
    isFull: (): boolean => open.size >= mostRuns,
    /** From now on `find` gives this run for the session. */
    enter: (session: string, run: Run): void => void bySession.set(session, run),
    leave(session: string, run: Run): void {
      if (bySession.get(session) === run) bySession.delete(session);
    },
    find: (session: string): Run | undefined => bySession.get(session),
    /** Hurries all runs and resolves when they have stored what they have. */
    async close(): Promise<void> {
      for (const end of open.values()) end.abort();
      await Promise.all(open.keys());
    },
  };
}
