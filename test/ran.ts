import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Context, Sink } from "../src/context.ts";

// A failing test prints what it ran: the command, its folder, the files in it, and both streams.

/** A run of the program, in this process or in one of its own. */
interface Ran {
  command: string;
  folder: string;
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
}

/** A property runs hundreds of commands; the last ones are about the failure. */
const mostRuns = 5;
const mostFiles = 40;
const mostCharacters = 10_000;

let runs: Ran[] = [];
let isWatched = false;

function wordOf(word: string): string {
  return /^[\w./:=#-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command line to copy into a shell. */
export function lineOf(words: readonly string[]): string {
  return words.map(wordOf).join(" ");
}

const unlisted = new Set([".git", "node_modules"]);

function* filesIn(folder: string, below = ""): Generator<string> {
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory() && !unlisted.has(entry.name)) yield* filesIn(folder, path);
    else if (entry.isFile()) yield `${path} (${statSync(join(folder, path)).size} bytes)`;
    else yield entry.isDirectory() ? `${path}/` : path;
  }
}

function listOf(folder: string): string {
  if (!existsSync(folder)) return "(the folder is gone)";
  const lines: string[] = [];
  for (const line of filesIn(folder)) {
    if (lines.push(line) < mostFiles) continue;
    lines.push("…");
    break;
  }
  return lines.join("\n") || "(none)";
}

function indent(text: string): string {
  const end = text.length > mostCharacters ? `…${text.slice(-mostCharacters)}` : text;
  return end.trimEnd().replaceAll(/^/gm, "    ");
}

function textOf({ command, folder, stdout, stderr }: Ran): string {
  return [
    `$ ${command}`,
    `  in ${folder}`,
    `  files:\n${indent(listOf(folder))}`,
    `  stdout:\n${indent(stdout())}`,
    `  stderr:\n${indent(stderr())}`,
  ].join("\n");
}

/** Prints, once, what a failed test ran; what removes a folder calls this before. */
export function printRuns({ task }: { task: { result?: { state: string } | undefined } }): void {
  if (task.result?.state === "fail") {
    for (const ran of runs) console.error(textOf(ran));
  }
  runs = [];
  isWatched = false;
}

/** Keeps a run for the case that the test fails. */
function keep(ran: Ran): void {
  if (!isWatched) {
    try {
      onTestFinished(printRuns);
    } catch {
      // Not in a test: a hook fails by itself.
      return;
    }
    isWatched = true;
  }
  runs = [...runs.slice(1 - mostRuns), ran];
}

function tee(sink: Sink): { sink: Sink; text(): string } {
  const parts: (string | Uint8Array)[] = [];
  const write = (part: string | Uint8Array): Promise<void> => {
    parts.push(part);
    return sink.write(part);
  };
  return {
    sink: { ...sink, write },
    text: () => parts.map((part) => Buffer.from(part).toString()).join(""),
  };
}

/** The context for a command in this process, whose output is printed if the test fails. */
export function keepContext<T extends Context>(context: T, command: string): T {
  const [stdout, stderr] = [tee(context.stdout), tee(context.stderr)];
  keep({ command, folder: context.cwd, stdout: stdout.text, stderr: stderr.text });
  return { ...context, stdout: stdout.sink, stderr: stderr.sink };
}

/** Keeps what has ended already. */
export function keepEnded(
  command: string,
  folder: string,
  { stdout, stderr }: { stdout: string; stderr: string },
): void {
  keep({ command, folder, stdout: () => stdout, stderr: () => stderr });
}

export interface CliResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Followed {
  stdout(): string;
  stderr(): string;
  ended: Promise<CliResult>;
}

/**
 * Collects what a process writes, for the test and for the case that it fails. Of a stream that
 * the test reads itself, name it in `except`, nothing is collected.
 */
export function follow(
  child: ChildProcess,
  command: string,
  folder: string,
  except?: "stdout" | "stderr",
): Followed {
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    if (name === except) continue;
    child[name]?.setEncoding("utf8").on("data", (text: string) => (texts[name] += text));
  }
  const followed = { stdout: () => texts.stdout, stderr: () => texts.stderr };
  keep({ command, folder, ...followed });
  const ended = new Promise<CliResult>((done, fail) => {
    child.on("error", fail);
    child.on("close", (code, signal) => done({ code, signal, ...texts }));
  });
  return { ...followed, ended };
}
