import { setMaxListeners } from "node:events";
import { writeSync } from "node:fs";
import { homedir, hostname } from "node:os";
import type { Readable } from "node:stream";
import { outputFailure, type ExitName } from "./errors.ts";

/** Destination of text: stdout or stderr. Tests collect strings. */
export interface Sink {
  /** Resolves when the stream accepts more. Rejects with ClosedPipeError or CliError `local`. */
  write(text: string | Uint8Array): Promise<void>;
  /** Why each write fails, if the stream was closed from the start. */
  readonly closed?: Error | undefined;
  readonly isTTY: boolean;
  /** Current columns and rows of the terminal; 80 and 24 without a terminal. */
  columns(): number;
  rows?(): number;
}

export interface Source extends AsyncIterable<Uint8Array> {
  readonly isTTY: boolean;
  /** The stream itself, for prompts that need the terminal's raw mode. */
  readonly stream: Readable;
}

/** The terminal behind stdin and stderr, for a line editor that reads single keys. */
export interface Terminal {
  /** Calls `listener` when the size changes; the returned function unsubscribes. */
  onResize(listener: () => void): () => void;
  /**
   * Turns on raw mode (no echo, no line editing) and writes `enter` to stderr.
   * The returned function turns it off and writes `leave`. If it was not called,
   * an exit handler does the same when the process ends.
   */
  takeKeys(enter: string, leave: string): () => void;
  /** Same as Ctrl-Z outside raw mode. Resolves when the job is in the foreground again. */
  suspend(): Promise<void>;
}

/** Everything a command may know about the process. Created once in bin/, by hand in tests. */
export interface Context {
  readonly stdin: Source;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Effective user id; -1 where users have no id (Windows). */
  readonly uid: number;
  /** Name of this machine; of a container its own. */
  readonly host: string;
  /** Node version without the leading `v`. */
  readonly nodeVersion: string;
  /** Undefined where stdin or stderr is not a terminal. The check opens stdin. */
  terminal?(): Terminal | undefined;
  /** Built script of the threads that read files; without it the main thread reads them. */
  readonly workerScript?: string | URL | undefined;
  /** Set in a trial: the file of each document, by id. The service ends with the command. */
  readonly trialFiles?: ReadonlyMap<string, string>;
  /** Folder of example documents in the package. */
  readonly handbook?: string | undefined;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP; its `reason` is a SignalReceived. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch: only for dates to show, store or compare. */
  now(): number;
  /** Whole milliseconds of a monotonic clock: for waits and durations. */
  elapsed(): number;
  /** Waits `ms`; rejects with the signal's reason if the signal aborts. */
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

// coreutils `timeout` signals the process and then its group; npm forwards a signal that the
// terminal sent to both. Two signals within this time count as one.
const duplicateSignalMs = 500;

function createSink(stream: NodeJS.WriteStream, closed?: Error): Sink {
  let failure = closed;
  const keepFailure = (error: Error): void => {
    failure ??= outputFailure(error);
  };
  stream.on("error", keepFailure);
  return {
    closed,
    isTTY: stream.isTTY === true,
    // A terminal may report 0 columns, which no layout fits.
    columns: () => (stream.columns > 0 ? stream.columns : 80),
    rows: () => (stream.rows > 0 ? stream.rows : 24),
    async write(text) {
      if (text.length === 0) return;
      if (failure) throw failure;
      // The callback, not `drain`: an error that arrives late must not be lost.
      await new Promise<void>((resolve) => {
        const accepted = stream.write(text, (error) => {
          if (error) keepFailure(error);
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
    onResize(listener) {
      stderr.on("resize", listener);
      return () => void stderr.off("resize", listener);
    },
    takeKeys(enter, leave) {
      // Synchronous, so that it works in an exit handler. A closed terminal needs no reset.
      const writeSequence = (sequence: string): void => {
        try {
          writeSync(stderr.fd, sequence);
        } catch {}
      };
      const undo = (): void => {
        process.off("exit", undo);
        try {
          stdin.setRawMode(false);
        } catch {}
        writeSequence(leave);
      };
      stdin.setRawMode(true);
      process.on("exit", undo);
      writeSequence(enter);
      return undo;
    },
    suspend: () =>
      new Promise((resolve) => {
        process.once("SIGCONT", () => resolve());
        process.kill(0, "SIGTSTP");
      }),
  };
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const timer = new AbortController();
  // Above 2^31-1 ms, setTimeout fires at once.
  const handle = setTimeout(() => timer.abort(), Math.min(Math.max(0, ms), 2 ** 31 - 1));
  const stop = (): void => timer.abort();
  // Many requests wait on one signal. Above 10 listeners Node prints a leak warning on stderr.
  if (signal) setMaxListeners(0, signal);
  signal?.addEventListener("abort", stop, { once: true });
  await new Promise<void>((resolve) => {
    timer.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  clearTimeout(handle);
  signal?.removeEventListener("abort", stop);
  signal?.throwIfAborted();
}

// A container may run with an unknown user id and without HOME. Then os.homedir() throws, also
// inside libraries. HOME becomes `/`, as containers set it.
function ensureHome(): void {
  try {
    homedir();
  } catch {
    process.env["HOME"] = "/";
  }
}

/** Prints a message and ends the process. On a terminal the message is below the live line. */
function exitNow(name: string, code: number): never {
  try {
    if (process.stderr.isTTY) writeSync(process.stderr.fd, "\n");
    writeSync(process.stderr.fd, `interrupted by ${name} again: stopped immediately\n`);
  } catch {
    // stderr is closed: nobody reads the message.
  }
  process.exit(code);
}

/**
 * The real process as a Context. The first signal aborts `signal`; a later one ends the process.
 * `isStdoutClosed`: stdout was closed before the start, so Node writes it to /dev/null.
 */
export function systemContext(files: Partial<Context> = {}, isStdoutClosed = false): Context {
  ensureHome();
  const abort = new AbortController();
  let abortedAt = 0;
  for (const [name, exit, code] of signals) {
    process.on(name, () => {
      if (!abort.signal.aborted) {
        abortedAt = performance.now();
        abort.abort(new SignalReceived(name, exit));
      } else if (performance.now() - abortedAt > duplicateSignalMs) exitNow(name, code);
    });
  }
  // By default SIGUSR1 opens Node's inspector: any local program could read keys from memory.
  if (process.platform !== "win32") process.on("SIGUSR1", () => {});
  // Node warns on every start that its SQLite is experimental; users can do nothing about it.
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (String(warning).includes("SQLite is an experimental")) return;
    emitWarning(warning, ...rest);
  }) as typeof process.emitWarning;
  return {
    stdin: createSource(() => process.stdin),
    stdout: createSink(process.stdout, isStdoutClosed ? outputFailure() : undefined),
    stderr: createSink(process.stderr),
    env: process.env,
    cwd: process.cwd(),
    uid: process.geteuid?.() ?? -1,
    host: hostname(),
    nodeVersion: process.versions.node,
    terminal: createTerminal,
    signal: abort.signal,
    now: Date.now,
    elapsed: () => Math.round(performance.now()),
    sleep,
    random: Math.random,
    ...files,
  };
}
