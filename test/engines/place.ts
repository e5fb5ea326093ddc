import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { Sandbox } from "../../src/sandbox/http/server.ts";
import { patienceMs } from "../patience.ts";
import { follow, type CliResult, type Followed } from "../ran.ts";
import { commitAll, runGit } from "../repository.ts";
import { startTestService } from "../service.ts";
import { projectFolder } from "../support.ts";

export const examplesFolder = join(projectFolder, "examples");
/** Where the examples of engines stand. */
export const enginesFolder = join(examplesFolder, "engines");

/** A folder of documents, the service for it, and the environment of a worker there. */
export interface Place {
  folder: string;
  env: Record<string, string>;
  sandbox: Sandbox;
}

/** So long a request to the service takes. */
const delayMs = 20;
const ingestion = "/api/svc-api/ingestion";

/** A project with `count` documents, with `knowctl` on the PATH, and a service that needs 20 ms for each. */
export async function prepareDocuments(count: number): Promise<Place> {
  const files = Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`docs/${n}.md`, `# Document ${n}\n\nText ${n}.\n`]),
  );
  const faults = { rules: [{ when: { method: "POST", path: ingestion }, do: { delayMs } }] };
  return withProgram(await startTestService({ files, faults }));
}

/** The same place with `knowctl` on the PATH. */
export function withProgram(place: Place): Place {
  const programs = join(place.folder, "..", "bin");
  mkdirSync(programs);
  symlinkSync(join(projectFolder, "bin", "knowctl.cjs"), join(programs, "knowctl"));
  return { ...place, env: { ...place.env, PATH: `${programs}:${place.env["PATH"]}` } };
}

/** Makes a folder a checkout: a run of workers is named by its commit. */
export function makeCheckout(folder: string): void {
  runGit(folder, ["init", "-q", "-b", "main"]);
  commitAll(folder);
}

/** How often the service accepted a document that it had accepted already. */
export function sentTwice({ ledger }: Sandbox): number {
  return [...ledger.documents.values()].reduce((sum, all) => sum + all.length - 1, 0);
}

/** Resolves as soon as the condition holds; throws what `problem` says if it never does. */
export async function until(holds: () => boolean, problem: () => string): Promise<void> {
  const last = Date.now() + patienceMs;
  while (!holds()) {
    if (Date.now() > last) throw new Error(problem());
    await wait(5);
  }
}

export interface Process extends Followed {
  child: ChildProcess;
  /** Ends it and the processes that it started, as the loss of a machine does. */
  kill(): void;
}

/** Starts a program that leads a group of processes, and is ended with the test. */
export function start(program: string, args: readonly string[], { folder, env }: Place): Process {
  const child = spawn(program, args, {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const kill = (): void => {
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  onTestFinished(kill);
  return { ...follow(child, [program, ...args].join(" "), folder), child, kill };
}

/** Runs a program to its end. */
export function run(program: string, args: readonly string[], place: Place): Promise<CliResult> {
  return start(program, args, place).ended;
}

/** Whether a command of the machine exits with 0. */
export function works(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
