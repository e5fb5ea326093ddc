import { setMaxListeners } from "node:events";
import { writeSync } from "node:fs";
import { homedir } from "node:os";
import type { Readable } from "node:stream";
import { outputFailure, type ExitName } from "./errors.ts";

/** Where text goes. The only two are stdout and stderr; tests collect strings. */
export interface Sink {
  /**
   * Resolves when the stream takes more. Rejects with ClosedPipeError when the
   * reader has gone, with a CliError `local` when the text cannot be written.
   */
  write(text: string | Uint8Array): Promise<void>;
  readonly isTTY: boolean;
  /** Columns of the terminal now; 80 where there is none. */
  columns(): number;
  /** Rows of the terminal now; 24 where there is none. */
  rows?(): number;
}

export interface Source extends AsyncIterable<Uint8Array> {
  readonly isTTY: boolean;
  /** The stream itself, for prompts that need the terminal's raw mode. */
  readonly stream: Readable;
}

/** The terminal behind stdin and stderr, for a line editor that takes its keys one by one. */
export interface Terminal {
  rows(): number;
  /** Calls back when the size has changed; the returned function ends that. */
  onResize(listener: () => void): () => void;
  /**
   * Turns echo and line editing of the terminal off and writes `enter` to
   * stderr. The returned function undoes it with `leave`; when the process ends
   * without it, by whatever way, that is made up for.
   */
  takeKeys(enter: string, leave: string): () => void;
  /** As Ctrl-Z outside of raw mode. Returns when the job is in the foreground again. */
  suspend(): Promise<void>;
}

/** Everything a command may know of the process. Made once in bin/, by hand in tests. */
export interface Context {
  readonly stdin: Source;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Id of the user who runs this; -1 where users have none (Windows). */
  readonly uid: number;
  /** Version of Node, without a `v`. */
  readonly nodeVersion: string;
  /** Undefined where stdin or stderr is no terminal. Looking opens stdin. */
  terminal?(): Terminal | undefined;
  /** The built script of the threads that read files; without it they are read in the main thread. */
  readonly workerScript?: string | URL | undefined;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP; its `reason` is a SignalReceived. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch: only for dates that are shown, stored or compared. */
  now(): number;
  /** Whole milliseconds of a clock that is never set: for waits and durations. */
  elapsed(): number;
  /** Waits `ms`; rejects with the signal's reason when it is aborted meanwhile. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Between 0 (included) and 1 (excluded). */
  random(): number;
}

/** Reason of an aborted context signal. */
export class SignalReceived extends Error {
  readonly exit: ExitName;
  constructor(name: string, exit: ExitName) {
    super(`interrupted by ${name}`);
    this.name = "SignalReceived";
    this.exit = exit;
  }
}

const signals: readonly (readonly [NodeJS.Signals, ExitName, number])[] = [
  ["SIGINT", "interrupted", 130],
  ["SIGTERM", "terminated", 143],
  ["SIGHUP", "hangup", 129],
];

// `timeout` of coreutils signals the process and then its group, npm passes on what the terminal
// has sent to both: within this time it is one signal that came twice.
const oneSignalMs = 500;

function createSink(stream: NodeJS.WriteStream, isClosed = false): Sink {
  let failure: Error | undefined = isClosed ? outputFailure() : undefined;
  const takeFailure = (error: Error): void => {
    failure ??= outputFailure(error);
  };
  stream.on("error", takeFailure);
  return {
    isTTY: stream.isTTY === true,
    // A terminal may report 0 columns; nothing can be laid out in that.
    columns: () => (stream.columns > 0 ? stream.columns : 80),
    rows: () => (stream.rows > 0 ? stream.rows : 24),
    async write(text) {
      if (text.length === 0) return;
      if (failure) throw failure;
      // The callback, not `drain`: an error that arrives late must not be lost.
      await new Promise<void>((resolve) => {
        const accepted = stream.write(text, (error) => {
          if (error) takeFailure(error);
          resolve();
        });
        if (accepted && stream.isTTY) resolve();
      });
      if (failure) throw failure;
    },
  };
}

function createSource(open: () => Readable & { isTTY?: boolean }): Source {
  // Opened on first use: touching process.stdin costs time and can keep a process alive.
  let stream: (Readable & { isTTY?: boolean }) | undefined;
  const get = (): Readable & { isTTY?: boolean } => (stream ??= open());
  return {
    get isTTY() {
      return get().isTTY === true;
    },
    get stream() {
      return get();
    },
    async *[Symbol.asyncIterator]() {
      for await (const chunk of get()) yield chunk as Uint8Array;
    },
  };
}

function createTerminal(): Terminal | undefined {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  return {
    rows: () => (stderr.rows > 0 ? stderr.rows : 24),
    onResize(listener) {
      stderr.on("resize", listener);
      return () => void stderr.off("resize", listener);
    },
    takeKeys(enter, leave) {
      // Synchronous, so that it works while the process ends; a terminal that has gone needs nothing.
      const put = (sequence: string): void => {
        try {
          writeSync(stderr.fd, sequence);
        } catch {}
      };
      const undo = (): void => {
        process.off("exit", undo);
        try {
          stdin.setRawMode(false);
        } catch {}
        put(leave);
      };
      stdin.setRawMode(true);
      process.on("exit", undo);
      put(enter);
      return undo;
    },
    async suspend() {
      await new Promise<void>((resolve) => {
        process.once("SIGCONT", resolve);
        process.kill(0, "SIGTSTP");
      });
    },
  };
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const timer = new AbortController();
  // setTimeout fires at once above 2^31-1.
  const handle = setTimeout(() => timer.abort(), Math.min(Math.max(0, ms), 2 ** 31 - 1));
  const stop = (): void => timer.abort();
  // Many requests wait on one signal: Node would call more than 10 a leak, on stderr.
  if (signal) setMaxListeners(0, signal);
  signal?.addEventListener("abort", stop, { once: true });
  await new Promise<void>((resolve) => {
    timer.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  clearTimeout(handle);
  signal?.removeEventListener("abort", stop);
  signal?.throwIfAborted();
}

/**
 * A container may run as a user id that no user has, and without HOME. Node throws then when a
 * library asks for the home folder; such a process has the root folder instead, as containers set it.
 */
function ensureHome(): void {
  try {
    homedir();
  } catch {
    process.env["HOME"] = "/";
  }
}

/** Ends the process, and says so, on a terminal below the live line. */
function endAtOnce(name: string, code: number): never {
  try {
    if (process.stderr.isTTY) writeSync(process.stderr.fd, "\n");
    writeSync(process.stderr.fd, `interrupted by ${name} once more: ended at once\n`);
  } catch {
    // Nobody is there to be told.
  }
  process.exit(code);
}

/**
 * The real process as a Context; the first signal aborts `signal`, a later one ends the process.
 * `isStdoutClosed`: stdout was closed before the start, so that Node writes it to /dev/null.
 */
export function systemContext(workerScript?: string | URL, isStdoutClosed = false): Context {
  ensureHome();
  const abort = new AbortController();
  let abortedAt = 0;
  for (const [name, exit, code] of signals) {
    process.on(name, () => {
      if (!abort.signal.aborted) {
        abortedAt = performance.now();
        abort.abort(new SignalReceived(name, exit));
      } else if (performance.now() - abortedAt > oneSignalMs) endAtOnce(name, code);
    });
  }
  // Node would open its inspector, and with it the memory that holds keys, to every local program.
  if (process.platform !== "win32") process.on("SIGUSR1", () => {});
  // Node announces its own SQLite as experimental on every start; users can do nothing about it.
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (String(warning).includes("SQLite is an experimental")) return;
    emitWarning(warning, ...rest);
  }) as typeof process.emitWarning;
  return {
    stdin: createSource(() => process.stdin),
    stdout: createSink(process.stdout, isStdoutClosed),
    stderr: createSink(process.stderr),
    env: process.env,
    cwd: process.cwd(),
    uid: process.geteuid?.() ?? -1,
    nodeVersion: process.versions.node,
    terminal: createTerminal,
    signal: abort.signal,
    now: Date.now,
    elapsed: () => Math.round(performance.now()),
    sleep,
    random: Math.random,
    workerScript,
  };
}
