import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Context } from "../../src/context.ts";
import { main } from "../../src/main.ts";
import { cleanEnvironment, createTestContext, runCli, type CliOptions } from "../support.ts";
import { lineOf } from "../ran.ts";
import { newDatabase } from "../postgres.ts";
import type { Project } from "./project.ts";
import { modelKey, startModelService, type Dialect, type ModelService } from "./service.ts";
import { createStateModel, type StateModel } from "./state.ts";
import { folders, type Sequence } from "./steps.ts";
import type { FileState } from "./world.ts";

/** Notes that something happened, to see that the sequences are about something. */
export type Count = (what: string, times?: number) => void;

interface Writer {
  /** Its folder, "" for a run without a state. */
  state: string;
  pair: number | undefined;
  answered: boolean;
}

/** Where a sequence is played. */
export interface World {
  dialect: Dialect;
  /** Two: the second has a state of its own, and both share a record. */
  machines: 1 | 2;
}

/** A sequence on its way: the folders, the service, and what the model expects of both. */
export interface Run {
  home: string;
  env: Record<string, string>;
  dialect: Dialect;
  service: ModelService;
  projects: Project[];
  /** Those that have their first files. */
  started: Set<Project>;
  states: Map<string, StateModel>;
  /** Who wrote a stored id last. */
  writers: Map<string, Writer>;
  /** By stored id, the projects that a document belongs to, with the pairs that they sent it to. */
  owners: Map<string, Map<string, Set<number | undefined>>>;
  /** Content of files before their last change, by absolute path. */
  before: Map<string, FileState>;
  /** The second project has the ids of the first, and a pair of its own. */
  shared: boolean;
  /** The database of the record that two machines share; undefined for one machine. */
  record: Awaited<ReturnType<typeof newDatabase>> | undefined;
  nextMarker(): number;
  count: Count;
  /** The sequence as a script to replay by hand. */
  script: string[];
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** What the program did is not what the specification says. */
export class Violation extends Error {}

/** The path of an input as typed in the working directory. */
export function typed(path: string, cwd: string): string {
  return relative(`/${cwd}`, `/${path}`).replaceAll("\\", "/") || ".";
}

export function note(run: Run, line: string): void {
  run.script.push(line);
}

/** How a command line runs: in a process of its own, or with other waits. */
export type Running = Pick<CliOptions, "onStart"> | Pick<Context, "sleep">;

/** Runs a command line in this process, or with `onStart` in one of its own. */
export async function command(
  run: Run,
  project: Project,
  cwd: string,
  args: readonly string[],
  running: Running = {},
): Promise<Ran> {
  const folder = join(project.folder, cwd);
  note(run, `(cd ${lineOf([`${project.name}/${cwd}`])} && ${lineOf(["knowctl", ...args])})`);
  if ("onStart" in running) return await runCli(args, { cwd: folder, env: run.env, ...running });
  const context = createTestContext({ cwd: folder, env: run.env });
  const code = await main(args, { ...context, ...running });
  const ran = { code, stdout: context.stdoutText(), stderr: context.stderrText() };
  note(run, `# exit ${code}; ${ran.stderr.trim().split("\n").slice(-4).join(" | ")}`);
  return ran;
}

/** The state of a folder as the model knows it. */
export function stateOf(run: Run, folder: string): StateModel {
  const known = run.states.get(folder) ?? createStateModel(folder);
  run.states.set(folder, known);
  return known;
}

function createProject(home: string, name: string): Project {
  const folder = join(home, name);
  for (const each of folders) mkdirSync(join(folder, each), { recursive: true });
  return { name, folder, files: new Map(), ignored: new Set() };
}

/** Variables that no flag has: they must change nothing. */
const switches = Object.fromEntries(
  [
    ..."PRUNE TOMBSTONE YES FORCE OVERWRITE ALLOW_ID_CHANGE ALLOW_PRUNED ALLOW_SYNC ALLOW_SECRETS".split(
      " ",
    ),
    ..."DROP_ACCESS NO_STATE NO_IGNORE DRAFTS EXTRA MISSING REMOTE DRY_RUN ALLOW_EMPTY VERIFY".split(
      " ",
    ),
  ]
    .map((name) => [name, "1"])
    .concat([
      ["MAX_DELETE", "100%"],
      ["CLASS", "excluded"],
      ["ID_PREFIX", "other/"],
      ["TAG", "other"],
      ["SOURCE", "web"],
      ["SECTIONS", "headings"],
      ["EXCLUDE", "**/*.md"],
      ["SHARD", "1/2"],
    ])
    .map(([name, value]) => [`KNOWCTL_${name}`, value ?? ""]),
);

/** Starts the service and makes the folders; `close` removes both. */
export async function openRun(
  { shared, variables }: Sequence,
  { dialect, machines }: World,
  count: Count,
): Promise<Run & { close(): Promise<void> }> {
  const record = machines === 2 ? await newDatabase() : undefined;
  const home = mkdtempSync(join(tmpdir(), "knowctl-model-"));
  const service = await startModelService(home, dialect);
  const env = cleanEnvironment(home, {
    KNOWCTL_BASE_URL: service.sandbox.url,
    KNOWCTL_API_KEY: modelKey,
    KNOWCTL_DIALECT: dialect,
    ...(variables ? switches : {}),
    ...(record && { KNOWCTL_SHARED_STATE: record.url, KNOWCTL_STATE_PROJECT: "work" }),
  });
  let marker = 0;
  return {
    home,
    env,
    dialect,
    service,
    projects: ["work", "second"].map((name) => createProject(home, name)),
    started: new Set(),
    states: new Map(),
    writers: new Map(),
    owners: new Map(),
    before: new Map(),
    shared,
    record,
    nextMarker: () => ++marker,
    count,
    script: [`# dialect ${dialect}; the service: knowctl sandbox --port 0`],
    async close() {
      await service.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
