import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readStdin } from "../chat/message.ts";
import { resolve, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { IngestionDocument } from "../../api/schemas.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { bold, dim } from "../../output/terminal/text.ts";
import { startSandbox } from "../../sandbox/http/server.ts";
import { storedId } from "../../sandbox/store/documents.ts";
import { commandWord } from "../command-word.ts";
import { createPrompt } from "../prompt.ts";
import { dataFolder, tokenDelayMs } from "../sandbox/sandbox.ts";
import { createHash, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { makeFolder } from "../../make-folder.ts";
import { defaultPairs } from "../../sandbox/store/seeds.ts";
import { createMachine } from "../../config/find/folders.ts";
import { statsOf } from "../stats-of.ts";

/** The pair of the sandbox that takes uploads. */
const pair = 2;
const profile = "try";

/** The folder of the local service, and of what the commands write for themselves. */
interface Place {
  folder: string;
  /** Key of the service: other users of this machine could guess the public one. */
  key: string;
  /** Data of the service. */
  data: string;
  isKept: boolean;
  /** Removes the folder, but data that is kept. */
  remove(): void;
}

function makeTemporary(): string {
  try {
    return mkdtempSync(join(tmpdir(), "knowctl-try-"));
  } catch (error) {
    throw new CliError("local", `cannot write to ${tmpdir()}: ${writeProblem(codeOf(error))}`, {
      hints: ["set TMPDIR to another folder for temporary files"],
      cause: error,
    });
  }
}

function removeKept(data: string): void {
  try {
    rmSync(data, { recursive: true, force: true });
    // rmSync says nothing of a file in place of a folder above, from Node 22 on.
    makeFolder(dirname(data));
  } catch (error) {
    throw new CliError("local", `cannot replace ${data}: ${writeProblem(codeOf(error))}`, {
      hints: ["set XDG_DATA_HOME to another folder, or leave out --keep"],
      cause: error,
    });
  }
}

/**
 * Opens a place in a temporary folder. With `isKept` the data is in the user's data folder instead,
 * without what an earlier trial of the same documents left there. Throws CliError `local`.
 */
function openPlace(context: Context, documents: string, isKept: boolean): Place {
  const name = createHash("sha256").update(documents).digest("hex").slice(0, 12);
  const kept = join(dataFolder(context, "try"), name);
  if (isKept) removeKept(kept);
  const folder = makeTemporary();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const data = isKept ? kept : join(folder, "service");
  return { folder, key: randomUUID(), data, isKept, remove };
}

/** The environment of the commands that are run: no setting of the user's reaches them. */
function environmentOf(context: Context, { folder }: Place): Context["env"] {
  const own = Object.entries(context.env).filter(([name]) => !name.startsWith("KNOWCTL_"));
  const places = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"];
  return {
    ...Object.fromEntries(own),
    ...Object.fromEntries(places.map((name) => [name, folder])),
  };
}

/** The pairs of the local service: one has a name that fits. */
const pairs = defaultPairs.map((each) =>
  each.cc_pair_id === pair ? { ...each, name: "Your documents" } : each,
);

/**
 * Writes the configuration of the commands; returns its path. The link of a document is the
 * address of its file, so that a source opens the file.
 */
function writeConfig(
  { folder, key }: Place,
  documents: string,
  { baseUrl, dialect }: { baseUrl: string; dialect: string },
): string {
  const path = join(folder, "config.json");
  const connection = { baseUrl, dialect, apiKey: key };
  const content = {
    defaultProfile: profile,
    profiles: { [profile]: { ...connection, ingest: { ccPairId: pair } } },
    ingest: { sections: "headings", link: `${pathToFileURL(documents).href}/{path}` },
  };
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
  return path;
}

/** Puts the questions into the history of the conversation, the first one nearest. */
function writeHistory({ folder }: Place, questions: readonly string[]): void {
  const history = join(folder, "knowctl", "history");
  makeFolder(history, 0o700);
  const lines = questions.toReversed().map((each) => `${JSON.stringify(each)}\n`);
  writeFileSync(join(history, `${profile}.ndjson`), lines.join(""), { mode: 0o600 });
}

/** What questions are made from: a title, and the headings of its sections. */
interface Headed {
  title: string;
  headings: readonly string[];
}

// `--sections headings` begins the text of a section with this line: TITLE > HEADING > …
const between = " > ";

function headingOf(text: string, title: string): string | undefined {
  const [first = ""] = text.split("\n", 1);
  if (!first.startsWith(title + between)) return undefined;
  return first
    .slice(title.length + between.length)
    .split(between)
    .at(-1)
    ?.trim();
}

/** Title and headings of a document that was uploaded with `--sections headings`. */
export function headedOf(document: IngestionDocument): Headed {
  const title = document.title ?? document.semantic_identifier;
  const found = document.sections.map((each) => headingOf(each.text ?? "", title));
  return { title, headings: [...new Set(found)].filter((each) => each !== undefined) };
}

function questionOf({ title, headings }: Headed, number: number): string {
  const heading = headings[number % Math.max(1, headings.length)];
  if (heading === undefined) return `What is in "${title}"?`;
  return heading.endsWith("?") ? heading : `What about "${heading}" in "${title}"?`;
}

const most = 3;

/** Up to three questions, about different documents where there are so many; those with headings come first. */
export function questionsOf(documents: readonly Headed[]): string[] {
  const withHeadings = documents.filter(({ headings }) => headings.length > 0);
  const ordered = [...withHeadings, ...documents.filter((each) => !withHeadings.includes(each))];
  const step = Math.max(1, Math.floor(withHeadings.length / most));
  const questions = new Set<string>();
  for (let number = 0; questions.size < most && number < most * ordered.length; number++) {
    const document = ordered[(number * step) % ordered.length];
    if (document) questions.add(questionOf(document, number));
  }
  return [...questions];
}

export interface TryFlags extends GlobalFlags {
  keep?: boolean;
}

/** Runs a whole command line in a context; throws its errors. */
export type RunLine = (argv: readonly string[], context: Context) => Promise<unknown>;

interface Trial {
  output: Output;
  /** Of the commands that are run. */
  context: Context;
  runLine: RunLine;
  /** Flags of every command line. */
  flags: readonly string[];
  folder: string;
}

/** Enough documents to make questions from. */
const mostHeaded = 1000;

/** False also where the system cannot look: a loop of links, a file above, a name too long. */
const isFolder = (path: string): boolean => statsOf(path)?.isDirectory() === true;

function noFolder(name: string): CliError {
  return new CliError("usage", `${name} is not a folder`, {
    hints: ["name a folder of documents: knowctl try FOLDER"],
  });
}

/** The folder that the user names; without one, the handbook that comes with the package. */
async function folderOf(
  context: Context,
  named: string | undefined,
  { output, flags }: { output: Output; flags: TryFlags },
): Promise<string> {
  // A shell expands the tilde, a question does not.
  const resolved = (name: string): string =>
    resolve(context.cwd, name.replace(/^~(?=$|[/\\])/, createMachine(context).home));
  if (named !== undefined) {
    // An empty name is a variable of a script that is not set, not the current folder.
    if (named.trim() === "" || !isFolder(resolved(named))) throw noFolder(named || '""');
    return resolved(named);
  }
  const { handbook } = context;
  const prompt = createPrompt(context, flags, output);
  const orHandbook = handbook === undefined ? "" : " (Enter: the handbook of knowctl)";
  while (prompt.canAsk) {
    const remedy = { exit: "usage", flag: "the argument FOLDER" } as const;
    const answer = await prompt.ask(`Which folder of documents${orHandbook}`, remedy);
    if (answer === "" && handbook !== undefined) return handbook;
    if (answer !== "" && isFolder(resolved(answer))) return resolved(answer);
    await output.warn(answer === "" ? "name a folder" : `${answer} is not a folder`);
  }
  if (handbook === undefined) {
    throw new CliError("usage", "no folder named", { hints: ["name one: knowctl try FOLDER"] });
  }
  return handbook;
}

/** Uploads the folder. Returns the error if documents failed: the others are enough to ask about. */
async function upload({ context, runLine, flags, folder }: Trial): Promise<CliError | undefined> {
  try {
    await runLine(["ingest", folder, "--root", folder, "--no-state", ...flags], context);
    return undefined;
  } catch (error) {
    if (error instanceof CliError && error.exit === "partial") return error;
    throw error;
  }
}

/** Title and headings of the first documents that the local service accepts. */
function collectHeaded() {
  const byId = new Map<string, Headed>();
  const files = new Map<string, string>();
  return {
    /** The file of each document, by the id in answers; writeConfig() made the links. */
    files,
    add(document: IngestionDocument): void {
      const { id } = document;
      const link = document.sections.find((each) => each.link !== undefined)?.link;
      if (link?.startsWith("file:")) files.set(storedId(id), fileURLToPath(link));
      if (byId.has(id) || byId.size < mostHeaded) byId.set(id, headedOf(document));
    },
    /** By id: the order in which documents arrive varies. */
    sorted(): Headed[] {
      const entries = [...byId].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return entries.map(([, headed]) => headed);
    },
  };
}

/**
 * Opens the conversation. Off a terminal asks what is piped in, else the first question; on a dumb
 * one the typed one.
 */
async function ask(trial: Trial, place: Place, questions: readonly string[]): Promise<void> {
  const { context, output, runLine, flags } = trial;
  const [first] = questions;
  if (first === undefined) {
    throw new CliError("partial", "no document of the folder could be read", {
      hints: ["name another folder: knowctl try FOLDER"],
    });
  }
  const prompt = createPrompt(context, {}, output);
  const canAsk = prompt.canAsk && !flags.includes("--no-input");
  // A dumb terminal shows no conversation, but reads a line.
  const isDumb = context.env["TERM"] === "dumb";
  if (!canAsk || isDumb || context.terminal?.() === undefined) {
    const remedy = { exit: "usage", flag: "--no-input" } as const;
    const piped = context.stdin.isTTY ? "" : (await readStdin(context)).trim();
    const typed = canAsk && isDumb ? await prompt.ask("Your question", remedy, first) : piped;
    const question = typed || first;
    await output.note(`$ knowctl chat ${commandWord(question)}`);
    await output.flush();
    return void (await runLine(["chat", "--no-remember", ...flags, "--", question], context));
  }
  writeHistory(place, questions);
  await output.note(bold("Ask what you like."), " The key ↑ brings these questions:");
  for (const each of questions) await output.note("  ", each);
  await output.flush();
  await runLine(["chat", ...flags], context);
}

/** Says what is left, and how to go on. */
async function end(output: Output, place: Place, dialect: string | undefined): Promise<void> {
  const isStandard = dialect === undefined || dialect === "standard";
  const flag = isStandard ? "" : ` --dialect ${dialect}`;
  await (place.isKept
    ? output.note(
        `To go on with these documents: knowctl sandbox --data ${commandWord(place.data)}${flag}`,
      )
    : output.note(dim("the local service has ended, and the session with it; nothing is left")));
  await output.note("To connect to a service of yours: knowctl config init");
}

/** Flags that the commands take over. */
function passedFlags({ quiet, verbose, debug, color, input }: TryFlags): string[] {
  return [
    ...(quiet ? ["--quiet"] : []),
    ...(verbose ? ["--verbose"] : []),
    ...(debug ? ["--debug"] : []),
    ...(color === false ? ["--no-color"] : []),
    ...(input === false ? ["--no-input"] : []),
  ];
}

/**
 * `try`: a local service, the documents of a folder in it, and a conversation about them. The
 * folder is only read. Throws CliError `usage` for a folder that is none, `partial` where a document
 * cannot be read, after the conversation about the others, and what the upload and the chat throw.
 */
export async function tryOut(
  context: Context,
  [named]: string[],
  flags: TryFlags,
  runLine: RunLine,
): Promise<void> {
  const output = createOutput(context, flags);
  const folder = await folderOf(context, named, { output, flags });
  const place = openPlace(context, folder, flags.keep === true);
  try {
    const dialect = flags.dialect ?? "standard";
    const headed = collectHeaded();
    const sandbox = await startSandbox({
      port: 0,
      dataFolder: place.data,
      key: place.key,
      dialect,
      clock: context,
      tokenDelayMs,
      ledger: "off",
      onDocument: headed.add,
      pairs,
    });
    let failed: CliError | undefined;
    try {
      const trial: Trial = {
        output,
        context: { ...context, env: environmentOf(context, place), trialFiles: headed.files },
        runLine,
        flags: [
          "--config",
          writeConfig(place, folder, { baseUrl: sandbox.url, dialect }),
          ...passedFlags(flags),
        ],
        folder,
      };
      await output.note(bold("A local service runs"), `: nothing leaves this machine.`);
      await output.note(dim(`$ knowctl ingest ${commandWord(named ?? folder)}`));
      await output.flush();
      failed = await upload(trial);
      await sandbox.idle();
      await ask(trial, place, questionsOf(headed.sorted()));
    } finally {
      await sandbox.close();
    }
    await end(output, place, flags.dialect);
    if (failed) throw failed;
  } finally {
    place.remove();
  }
}
