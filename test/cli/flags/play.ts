import type { Command } from "commander";
import { describeProgram } from "../../../src/cli/program.ts";
import {
  cpSync,
  readFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from "node:fs";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { searchTurn } from "../../output/chat/lines.ts";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { SignalReceived } from "../../../src/context.ts";
import { main } from "../../main.ts";
import { startSandbox, type Sandbox } from "../../../src/sandbox/http/server.ts";
import { repositoryOf } from "../../repository.ts";
import { testKey, writeFiles } from "../../service.ts";
import { cleanEnvironment, createTestContext, projectFolder } from "../../support.ts";

/** Words of a command line: a string is split at blanks. */
type Words = string | readonly string[];

/** A text that is there in one of two runs, and not in the other. */
export interface Difference {
  /** Only the run with the flag has it. */
  gains?: RegExp;
  /** Only the run without the flag has it. */
  loses?: RegExp;
}

/** What both runs have in common. */
export interface Setting {
  /** Behind the command's own words. */
  args?: Words;
  /** Files of the working folder, which is a project root. */
  files?: Readonly<Record<string, string | Uint8Array>>;
  /** The project's configuration, trusted. */
  config?: object;
  env?: Readonly<Record<string, string>>;
  stdin?: string;
  isTTY?: boolean;
  /** Of the sandbox that is asked; `standard` without it. */
  dialect?: "standard" | "onyx";
  /** The working folder is a git repository with one commit of the files. */
  git?: boolean;
  /** Command lines that run before, in the same folder. */
  first?: readonly Words[];
  /** Files that are written after that; one without text is removed. */
  edits?: Readonly<Record<string, string | undefined>>;
  /** A command line that runs afterwards; its stdout is added. */
  after?: Words;
  /** Interrupts the command when it has printed this. */
  until?: RegExp;
}

/** Two runs, without and with the flag, that differ as the flag promises. */
export interface Effect extends Setting {
  flag: Words;
  stdout?: Difference;
  stderr?: Difference;
  /** The requests that arrived, with their bodies: a line each. */
  requests?: Difference;
  /** How often the command waited for a time, in milliseconds each. */
  waits?: Difference;
  /** The files in the working folder and the user's configuration afterwards: `path: text`. */
  left?: Difference;
  /** Exit codes without and with the flag; both 0 where this is left out. */
  codes?: readonly [without: number, with_: number];
}

/** The flag is refused: exit 2, nothing sent, a message that names it and fits. */
interface Refusal extends Setting {
  flag: Words;
  refused: RegExp;
}

/**
 * The flag is taken and changes nothing here: output and exit code stay. Only for a flag whose
 * promise is kept anyhow, and that a script reasonably gives to every command; the reason says why.
 */
interface Harmless extends Setting {
  flag: Words;
  harmless: string;
}

/** What two runs in this process cannot show: the test that shows it. */
export interface TestedElsewhere {
  /** Path of the test, which names the flag. */
  tested: string;
}

export type Case = Effect | Refusal | Harmless | TestedElsewhere;

/** One case, or several, for each flag of a command. */
export type FlagCases = Readonly<Record<string, Case | readonly Case[]>>;

/** By the path of the command: `connectors list`. */
export type Coverage = Readonly<Record<string, FlagCases>>;

const program = describeProgram();

const longOf = (command: Command): string[] =>
  command.options.map(({ long, flags }) => long ?? flags);

/** The flags that every command takes. */
export const globalFlags: readonly string[] = longOf(program);

function below(command: Command, path: string): [string, string[]][] {
  const isGlobal = new Set(globalFlags);
  const flags = longOf(command).filter((flag) => command === program || !isGlobal.has(flag));
  return [
    [path, flags],
    ...command.commands.flatMap((each) => below(each, `${path} ${each.name()}`.trim())),
  ];
}

function ends(command: Command, path: string): string[] {
  const own = command.registeredArguments.length > 0 || command.commands.length === 0;
  const paths = command.commands.flatMap((each) => ends(each, `${path} ${each.name()}`.trim()));
  return own ? [path, ...paths] : paths;
}

/** Every command that does something. */
export function leaves(): string[] {
  return ends(program, "");
}

/** Every command with its own flags; the program itself, "", with the global ones. */
export function commandsOf(): [path: string, flags: string[]][] {
  return below(program, "").filter(([, flags]) => flags.length > 0);
}

const text = readFileSync(
  new URL("../../fixtures/wire/stored-session.json", import.meta.url),
  "utf8",
).replaceAll("manager", "**manager**");
const stored = JSON.parse(text) as { chat_session_id: string; messages: object[] };

/** A stored session with a source, a word in bold and another branch. */
export const storedId = stored.chat_session_id;

/** One whose answer is still being made: reasoning, a search, interim text, a source. */
export const runningId = "11111111-2222-4333-8444-555555555555";

/** The lines of an answer with reasoning, a search, interim text, a source and a word in bold. */
export const answerLines = searchTurn.map(({ raw }) => raw.replaceAll("manager", "**manager**"));

const running = {
  ...stored,
  chat_session_id: runningId,
  messages: stored.messages.slice(0, 4),
  current_run: { run_id: "r" },
};
const stream = {
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: `${answerLines.join("\n")}\n`,
};

/** An address of the onyx dialect that answers late. */
export const latePath = "chat/get-chat-session/late";

/** Answers of a service that keeps both sessions. */
const storedRules: FaultRule[] = [
  { when: { path: `/api/${latePath}` }, do: { status: 200, body: {}, delayMs: 400 } },
  { when: { path: `/api/chat/get-chat-session/${storedId}` }, do: { status: 200, body: stored } },
  { when: { path: `/api/chat/get-chat-session/${runningId}` }, do: { status: 200, body: running } },
  { when: { path: `/api/chat/chat-session/${runningId}` }, do: stream },
];

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  requests: string;
  waits: string;
  left: string;
}

type Dialect = "standard" | "onyx";

let top = "";
let count = 0;
const sandboxes = new Map<Dialect, Sandbox>();

/** A sandbox of each dialect for all cases of the file: nearly no case needs one of its own. */
export function useSandboxes(): void {
  beforeAll(async () => {
    top = mkdtempSync(join(tmpdir(), "knowctl-flags-"));
    for (const dialect of ["standard", "onyx"] as const) {
      const dataFolder = join(top, dialect);
      const more = { models: { Acme: ["large"] }, faults: { rules: storedRules } };
      const options = { port: 0, dataFolder, key: testKey, dialect, ...more };
      sandboxes.set(dialect, await startSandbox(options));
    }
  });
  afterAll(async () => {
    for (const sandbox of sandboxes.values()) await sandbox.close();
    rmSync(top, { recursive: true, force: true });
  });
}

function wordsOf(words: Words): string[] {
  return typeof words === "string" ? words.split(" ").filter((word) => word !== "") : [...words];
}

function readLeft(folder: string, below = ""): string {
  if (!existsSync(join(folder, below))) return "";
  return readdirSync(join(folder, below), { withFileTypes: true })
    .filter(({ name }) => name !== ".git")
    .map((entry) => {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return readLeft(folder, path);
      const isText = !path.includes("state.db");
      return `${path}: ${isText ? readFileSync(join(folder, path), "utf8") : ""}`;
    })
    .join("\n");
}

function requestsOf({ ledger }: Sandbox): string {
  const lines = ledger.requests.map(
    ({ method, path, headers }) => `${method} ${path} ${JSON.stringify(headers)}`,
  );
  const documents = [...ledger.documents.values()].flat();
  return [
    `most in flight: ${ledger.maxInFlight}`,
    ...lines,
    ...documents.map((each) => JSON.stringify(each)),
    ...ledger.chats.map((each) => JSON.stringify(each)),
  ].join("\n");
}

/** The last first runs of each sandbox, while it has only been read from since, and what they left. */
const firstRuns = new Map<Sandbox, { key: string; home: string }>();

function forget(sandbox: Sandbox): void {
  const { ledger } = sandbox;
  const isReading = ledger.requests.every(
    ({ method, path }) => method === "GET" || path.includes("search"),
  );
  if (!isReading) firstRuns.delete(sandbox);
  ledger.requests.length = 0;
  ledger.maxInFlight = 0;
  ledger.chats.length = 0;
  ledger.documents.clear();
}

function sandboxOf({ dialect = "standard" }: Setting): Sandbox {
  const sandbox = sandboxes.get(dialect);
  if (!sandbox) throw new Error("useSandboxes() first");
  return sandbox;
}

interface Place {
  folder: string;
  env: Record<string, string>;
  sandbox: Sandbox;
}

function prepare(setting: Setting, template?: string): Place {
  const { files = {}, config, env = {}, git, dialect = "standard" } = setting;
  const sandbox = sandboxOf(setting);
  const home = join(top, `home${++count}`);
  const folder = join(home, "work");
  if (template !== undefined) cpSync(template, home, { recursive: true, preserveTimestamps: true });
  else {
    mkdirSync(join(folder, ".git"), { recursive: true });
    const project = config ? { ".cliconfig.json": JSON.stringify(config) } : {};
    const all = { ...files, ...project };
    writeFiles(folder, git ? { ...all, ...repositoryOf(all) } : all);
  }
  const address = {
    KNOWCTL_BASE_URL: sandbox.url,
    KNOWCTL_API_KEY: testKey,
    KNOWCTL_DIALECT: dialect,
    KNOWCTL_TRUST_PROJECT: "1",
  };
  // An empty variable counts as none; a case takes one away with it.
  return { folder, env: cleanEnvironment(home, { ...address, ...env }), sandbox };
}

async function runOnce(place: Place, args: string[], setting: Setting, mayStop = true) {
  const { folder: cwd, env } = place;
  const { stdin, isTTY = false, until } = setting;
  const given = stdin === undefined ? {} : { stdin };
  const context = createTestContext({ cwd, env, isTTY, ...given });
  const stop = (): void => {
    const text = context.stdoutText() + context.stderrText();
    if (mayStop && until?.test(text)) context.abort(new SignalReceived("SIGINT", "interrupted"));
  };
  const watched = (sink: typeof context.stdout): typeof context.stdout => ({
    ...sink,
    write: async (text) => {
      await sink.write(text);
      stop();
    },
  });
  const streams = { stdout: watched(context.stdout), stderr: watched(context.stderr) };
  const code = await main(args, until ? { ...context, ...streams } : context);
  const waits = context.sleeps.join(" ");
  return { code, stdout: context.stdoutText(), stderr: context.stderrText(), waits };
}

/**
 * A folder in which the first runs of the setting are over. Those of an earlier case are not repeated
 * if they were the same and their sandbox has only been read from since.
 */
async function prepareFirst(setting: Setting): Promise<Place> {
  const { files, config, env, git, stdin, isTTY, first = [] } = setting;
  const sandbox = sandboxOf(setting);
  forget(sandbox);
  if (first.length === 0) return prepare(setting);
  const key = JSON.stringify([files, config, env, git, stdin, isTTY, first]);
  const known = firstRuns.get(sandbox);
  if (known?.key === key) return prepare(setting, known.home);
  const place = prepare(setting);
  for (const words of first) {
    const { code, stderr } = await runOnce(place, wordsOf(words), setting, false);
    // Some first runs fail on purpose: a document that cannot be read.
    expect([0, 10], `${String(words)}: ${stderr}`).toContain(code);
    await sandbox.idle();
  }
  forget(sandbox);
  const home = join(top, `first${count}`);
  cpSync(dirname(place.folder), home, { recursive: true, preserveTimestamps: true });
  firstRuns.set(sandbox, { key, home });
  return place;
}

/** Runs the command of a case in a folder of its own; `flag` is empty for the run without it. */
export async function play(path: string, flag: Words, setting: Setting): Promise<Ran> {
  const place = await prepareFirst(setting);
  for (const [file, text] of Object.entries(setting.edits ?? {})) {
    if (text === undefined) rmSync(join(place.folder, file));
    else writeFiles(place.folder, { [file]: text });
  }
  const mark = String(count);
  const fill = (words: string[]): string[] =>
    words.map((word) =>
      word.replaceAll("{service}", place.sandbox.url).replaceAll("{count}", mark),
    );
  const args = fill([...wordsOf(path), ...wordsOf(setting.args ?? ""), ...wordsOf(flag)]);
  const ran = await runOnce(place, args, setting);
  const requests = requestsOf(place.sandbox);
  const last = setting.after === undefined ? [] : [setting.after];
  for (const words of last)
    ran.stdout += (await runOnce(place, fill(wordsOf(words)), setting)).stdout;
  return {
    ...ran,
    requests,
    left: `${readLeft(place.folder)}\n${readLeft(join(place.folder, "../config"))}`,
  };
}

const kinds = ["stdout", "stderr", "requests", "waits", "left"] as const;

export function expectDifference(
  without: Ran,
  with_: Ran,
  kind: (typeof kinds)[number],
  difference: Difference,
) {
  const { gains, loses } = difference;
  if (gains) {
    expect(without[kind], `${kind} without the flag`).not.toMatch(gains);
    expect(with_[kind], `${kind} with the flag`).toMatch(gains);
  }
  if (loses) {
    expect(without[kind], `${kind} without the flag`).toMatch(loses);
    expect(with_[kind], `${kind} with the flag`).not.toMatch(loses);
  }
}

function expectEffect(without: Ran, with_: Ran, effect: Effect): void {
  const codes = effect.codes ?? [0, 0];
  const told = `without: ${without.stderr}\nwith: ${with_.stderr}`;
  expect([without.code, with_.code], told).toEqual(codes);
  const seen = kinds.filter((kind) => effect[kind] !== undefined);
  expect(seen.length > 0 || codes[0] !== codes[1], "the case says no difference").toBe(true);
  for (const kind of seen) expectDifference(without, with_, kind, effect[kind] ?? {});
}

const bareRuns = new Map<string, Promise<Ran>>();
const ofEffect = new Set(["flag", "harmless", "codes", ...kinds]);

/** The run without a flag, which all cases of one setting share. */
function playBare(path: string, each: Effect | Harmless): Promise<Ran> {
  const setting = Object.entries(each).filter(([name]) => !ofEffect.has(name));
  const key = JSON.stringify([path, setting], (_name, value: unknown) => {
    if (value instanceof RegExp) return value.source;
    // JSON leaves it out, and a file without text is removed.
    return value === undefined ? null : value;
  });
  const known = bareRuns.get(key) ?? play(path, "", each);
  bareRuns.set(key, known);
  return known;
}

/** Runs one case of a flag and expects what it says. */
export async function expectCase(path: string, flag: string, each: Case): Promise<void> {
  if ("tested" in each) {
    expect(readFileSync(join(projectFolder, each.tested), "utf8")).toContain(flag);
    return;
  }
  const given = await play(path, each.flag, each);
  if ("refused" in each) {
    expect({ code: given.code, requests: given.requests }, given.stderr).toEqual({
      code: 2,
      requests: "most in flight: 0",
    });
    expect(given.stderr).toContain(flag);
    expect(given.stderr).toMatch(each.refused);
    expect(given.stderr, "what to do").toMatch(/\n {2}→ /);
    return;
  }
  const bare = await playBare(path, each);
  if ("harmless" in each) {
    const { code, stdout } = bare;
    expect({ code: given.code, stdout: given.stdout }, given.stderr).toEqual({ code, stdout });
  } else expectEffect(bare, given, each);
}
