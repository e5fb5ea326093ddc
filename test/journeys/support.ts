import { spawn, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { startSandbox, type Sandbox } from "../../src/sandbox/http/server.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { runHere } from "../main.ts";
import { patienceMs } from "../patience.ts";
import { follow, type CliResult } from "../ran.ts";
import { testKey, type TestService } from "../service.ts";
import { projectFolder } from "../support.ts";

// A journey reads as a story: the commands that somebody runs one after the other, what each says,
// how it ends, and what the service holds at the end.

type Ran = Pick<CliResult, "code" | "stdout" | "stderr">;

/** Runs a command line of plain words in the folder of the service, without a terminal. */
export function run({ folder: cwd, env }: TestService, line: string): Promise<Ran> {
  return runHere(line.split(" "), { cwd, env });
}

/** Files `docs/N.md`, each with a text of its own. */
export function pages(from: number, to: number): Record<string, string> {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  return Object.fromEntries(numbers.map((n) => [`docs/${n}.md`, `# Page ${n}\n\nText ${n}.\n`]));
}

/** How often the service took each document, by id. */
export function takenBy({ ledger }: Sandbox): Record<string, number> {
  return Object.fromEntries([...ledger.documents].map(([id, bodies]) => [id, bodies.length]));
}

/** The same service again, at the same address with the same documents and another ledger. */
export async function startAgain(
  service: TestService,
  options: Partial<SandboxOptions> = {},
): Promise<TestService> {
  await service.sandbox.close();
  const { port } = service.sandbox;
  const dataFolder = join(dirname(service.folder), "sandbox");
  const sandbox = await startSandbox({ port, dataFolder, key: testKey, ...options });
  onTestFinished(() => sandbox.close());
  return { ...service, sandbox };
}

// Of util-linux: runs a command on a terminal of its own. That of other systems takes other arguments.
export const hasTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

/** A person at a terminal of 80 columns. */
export interface Person {
  /** Types a command line. */
  enter(line: string): void;
  press(keys: string): void;
  /** Waits until the news hold this, and takes them. */
  sees(text: string | RegExp): Promise<string>;
  /** Waits for the exit code of the last command. */
  endsWith(code: number): Promise<string>;
}

/** A shell on a pseudo-terminal, with `knowctl` of this project. */
export function sitDown({ folder, env }: Pick<TestService, "folder" | "env">): Person {
  const binary = join(projectFolder, "bin", "knowctl.cjs");
  const shell = [
    "stty cols 80 rows 24",
    `knowctl() { "${process.execPath}" "${binary}" "$@"; echo "code $?"; }`,
    'while read -r line; do eval "$line"; done',
  ].join("; ");
  const child = spawn("script", ["-qec", shell, "/dev/null"], {
    cwd: folder,
    env: { ...env, TERM: "xterm", SHELL: "/bin/sh", NO_COLOR: "1" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const { stdout: screen } = follow(child, shell, folder);
  let taken = 0;
  const sees = async (text: string | RegExp): Promise<string> => {
    await vi.waitFor(() => expect(screen().slice(taken)).toMatch(text), patienceMs);
    const news = screen().slice(taken);
    const found = typeof text === "string" ? news.indexOf(text) + text.length : endOf(news, text);
    taken += found;
    return news.slice(0, found);
  };
  return {
    enter: (line) => void child.stdin.write(`${line}\r`),
    press: (keys) => void child.stdin.write(keys),
    sees,
    endsWith: (code) => sees(new RegExp(`code ${code}\\r\\n`)),
  };
}

function endOf(text: string, pattern: RegExp): number {
  const found = pattern.exec(text);
  return found ? found.index + found[0].length : text.length;
}
