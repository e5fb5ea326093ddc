import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import type { Context, Sink } from "../src/context.ts";
import type { Sandbox } from "../src/sandbox/http/server.ts";
import { patienceMs } from "./patience.ts";
import { follow, lineOf, printRuns, type CliResult } from "./ran.ts";

export type { CliResult };

export const projectFolder = resolve(import.meta.dirname, "..");
const binary = join(projectFolder, "bin", "knowctl.cjs");

/** The sandboxes of running tests, by their address. */
export const sandboxes = new Map<string, Pick<Sandbox, "idle">>();

/** A folder of its own for the running test, removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "knowctl-test-"));
  onTestFinished((test) => {
    printRuns(test);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/**
 * Environment without anything of the machine that could steer the tool: no
 * proxy, no CI, no keys; home and state inside `home`.
 */
export function cleanEnvironment(
  home: string,
  extra: Record<string, string> = {},
): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_DATA_HOME: join(home, "data"),
    ...extra,
  };
}

export interface TestContext extends Context {
  stdoutText(): string;
  stderrText(): string;
  /** Waits that the code under test asked for, in milliseconds; none of them is waited. */
  readonly sleeps: number[];
  /** As the first Ctrl-C: aborts the context's signal with `reason`. */
  abort(reason: unknown): void;
}

export interface TestContextOptions {
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string;
  /** stdin, stdout and stderr are terminals. */
  isTTY?: boolean;
  columns?: number;
  /** Of stderr, where it is another terminal than stdout. */
  liveColumns?: number;
}

function collectSink(isTTY: boolean, columns: number): Sink & { text(): string } {
  let text = "";
  return {
    isTTY,
    columns: () => columns,
    rows: () => 24,
    write(part) {
      text += typeof part === "string" ? part : Buffer.from(part).toString();
      return Promise.resolve();
    },
    text: () => text,
  };
}

/** A Context for in-process tests: output is collected, sleeps are recorded and return at once. */
export function createTestContext(options: TestContextOptions = {}): TestContext {
  const isTTY = options.isTTY === true;
  const cwd = options.cwd ?? temporaryFolder();
  const stdout = collectSink(isTTY, options.columns ?? 80);
  const stderr = collectSink(isTTY, options.liveColumns ?? options.columns ?? 80);
  const abort = new AbortController();
  const sleeps: number[] = [];
  const stream = Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]);
  return {
    stdin: {
      isTTY: isTTY && options.stdin === undefined,
      stream,
      [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>,
    },
    stdout,
    stderr,
    env: options.env ?? cleanEnvironment(cwd),
    cwd,
    uid: process.geteuid?.() ?? -1,
    host: "host-of-the-test",
    nodeVersion: process.versions.node,
    signal: abort.signal,
    now: Date.now,
    elapsed: () => Math.round(performance.now()),
    sleep(ms, signal) {
      sleeps.push(ms);
      signal?.throwIfAborted();
      return Promise.resolve();
    },
    random: () => 0.5,
    sleeps,
    abort: (reason) => abort.abort(reason),
    stdoutText: () => stdout.text(),
    stderrText: () => stderr.text(),
  };
}

export interface CliOptions {
  cwd: string;
  env: Record<string, string>;
  stdin?: string;
  /** The script to run in place of the built tool's own. */
  program?: string;
  /** Called once with the child, e.g. to send it a signal. */
  onStart?: (child: ReturnType<typeof spawn>) => void;
}

/** Runs the built tool as a process of its own. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = spawn(process.execPath, [options.program ?? binary, ...args], {
    cwd: options.cwd,
    env: options.env,
    stdio: ["pipe", "pipe", "pipe"],
    timeout: patienceMs,
    killSignal: "SIGKILL",
  });
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin ?? "");
  const { ended } = follow(child, lineOf(["knowctl", ...args]), options.cwd);
  options.onStart?.(child);
  return await ended;
}
