import { realpathSync } from "node:fs";
import { basename, join } from "node:path";
import {
  changeDraft,
  openDraft,
  readDraft,
  saveDraft,
  type Draft,
} from "../../config/file/edit.ts";
import { findProject } from "../../config/find/discover.ts";
import { createMachine, expandPath } from "../../config/find/folders.ts";
import { environmentLayer, givenWord } from "../../config/values/given.ts";
import { AddressProblem, addressHint, isLoopback, parseBaseUrl } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { writeError, createOutput, type Output } from "../../output/terminal/output.ts";
import { createPrompt, type Prompt, readPipedKey } from "../prompt.ts";
import { remoteName } from "../../git/repository.ts";
import { findGitRoot } from "../project-root.ts";
import type { RunLine } from "../try/try.ts";
import {
  checkKeyText,
  fromStdin,
  fromTerminal,
  noteKeyOrigin,
  testConnection,
  type Answers,
  type TestOptions,
} from "./connection.ts";
import { checkedProfile, saveProject, userFile } from "./files.ts";

export interface InitOptions extends TestOptions {
  withToken?: boolean;
  /** Of the project in the working directory; "" for none, without a question. */
  idPrefix?: string;
}

/** The answers that make a profile. */
type Named = Answers & { profile: string };

/** Answers so far; `typed` names those that a person typed and may correct. */
interface Known extends Partial<Answers> {
  typed: ReadonlySet<"baseUrl" | "apiKey">;
}

/** The address in a text; `flag` names where it comes from, if nobody typed it. */
function checkedAddress(text: string, flag = ""): string {
  try {
    return parseBaseUrl(text).baseUrl;
  } catch (error) {
    if (!(error instanceof AddressProblem)) throw error;
    throw new CliError("usage", flag + error.message, { hints: [addressHint(text)] });
  }
}

/**
 * The answers of flags, environment and stdin. Throws CliError for invalid ones: nobody can
 * correct them here.
 */
async function readKnown(context: Context, options: InitOptions, prompt: Prompt): Promise<Known> {
  const given = environmentLayer(context.env, context.cwd).values;
  const address = options.baseUrl ?? given.baseUrl;
  const profile = givenWord(options, context.env, "profile")?.word;
  const known: Known = {
    typed: new Set(),
    dialect: options.dialect ?? given.dialect,
    ...(address === undefined ? {} : { baseUrl: checkedAddress(address, "--base-url: ") }),
    ...(profile === undefined ? {} : { profile: checkedProfile(profile) }),
  };
  if (options.withToken === true) {
    const apiKey = await checkKeyText(prompt, await readPipedKey(context));
    return { ...known, apiKey, keyOrigin: fromStdin };
  }
  const { apiKey, accessToken } = given as { apiKey?: string; accessToken?: string };
  const key = apiKey ?? accessToken;
  return key === undefined ? known : { ...known, apiKey: key, accessToken: apiKey && accessToken };
}

/** Asks until `read` accepts the answer. Off a terminal, or at the end of the input, throws the mistake. */
async function askUntilRead<T>(
  prompt: Prompt,
  output: Output,
  ask: () => Promise<string>,
  read: (answer: string) => T | Promise<T>,
): Promise<T> {
  for (;;) {
    const answer = await ask();
    try {
      return await read(answer);
    } catch (error) {
      const canAskAgain = prompt.canAsk && !prompt.hasEnded;
      if (!canAskAgain || !(error instanceof CliError) || error.exit === "interrupted") throw error;
      await output.problem(error.message);
      for (const hint of error.hints) await output.problem("  → ", hint);
    }
  }
}

/** `host.example` or `host:8787` with the scheme that a key may go over; other text as it is. */
function withScheme(text: string): string {
  const host = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d))(?::\d+)?(?=\/|$)/.exec(text)?.[0];
  if (host === undefined) return text;
  return `${isLoopback(host.replace(/:\d+$/, "")) ? "http" : "https"}://${text}`;
}

/** Undefined for a person without a service who wants to try a local one. */
async function askAddress(
  prompt: Prompt,
  output: Output,
  before: string | undefined,
): Promise<string | undefined> {
  const remedy = { exit: "usage", flag: "--base-url" } as const;
  const orNone = prompt.canAsk && before === undefined ? " (Enter: I have none yet)" : "";
  const question = `Address of the service${orNone}`;
  const ask = (): Promise<string> => prompt.ask(question, remedy, before);
  return await askUntilRead(prompt, output, ask, async (answer) => {
    if (answer !== "") return checkedAddress(withScheme(answer.trim()));
    const offer = "Try knowctl now, with a local service and a folder of yours?";
    if (await prompt.confirm(offer, true)) return undefined;
    throw new CliError("usage", "an address is needed to go on", {
      hints: ["ask the administrator of the service for it; Ctrl-C ends"],
    });
  });
}

async function askKey(prompt: Prompt, output: Output): Promise<string> {
  const flag = "KNOWCTL_API_KEY, or --with-token and the key on stdin";
  const ask = (): Promise<string> => prompt.askHidden("API key", { exit: "not-configured", flag });
  return await askUntilRead(prompt, output, ask, (answer) => checkKeyText(prompt, answer));
}

async function askProfile(prompt: Prompt, output: Output): Promise<string> {
  const remedy = { exit: "usage", flag: "--profile" } as const;
  const ask = (): Promise<string> => prompt.ask("Name of this profile", remedy, "default");
  return await askUntilRead(prompt, output, ask, checkedProfile);
}

/**
 * Asks for what is missing of address and key. `before` is an address that failed. Undefined for
 * a person without a service who wants to try a local one. Off a terminal throws CliError with the
 * flag that replaces the first missing answer.
 */
async function askMissing(
  prompt: Prompt,
  output: Output,
  known: Known,
  before?: string,
): Promise<(Answers & Known) | undefined> {
  const typed = new Set(known.typed);
  let { baseUrl, apiKey, keyOrigin } = known;
  if (baseUrl === undefined) {
    baseUrl = await askAddress(prompt, output, before);
    if (baseUrl === undefined) return undefined;
    typed.add("baseUrl");
  }
  if (apiKey === undefined) {
    // A second time for a refused key, where the origin was shown already.
    if (prompt.canAsk && !typed.has("apiKey")) await noteKeyOrigin(output, known.dialect);
    apiKey = await askKey(prompt, output);
    keyOrigin = fromTerminal;
    typed.add("apiKey");
  }
  const profile = known.profile ?? (prompt.canAsk ? undefined : "default");
  const rest = { dialect: undefined, accessToken: undefined };
  return { ...rest, ...known, baseUrl, apiKey, keyOrigin, profile, typed };
}

/** The typed answer that a failed test of the connection puts in doubt; undefined if none. */
function doubtfulAnswer(error: CliError, { typed }: Known): "baseUrl" | "apiKey" | undefined {
  const ofAddress = ["unreachable", "timeout", "server-error", "not-found", "not-configured"];
  const isAddress = ofAddress.includes(error.exit);
  const answer = isAddress ? "baseUrl" : error.exit === "auth" ? "apiKey" : undefined;
  return answer !== undefined && typed.has(answer) ? answer : undefined;
}

function originOf(address: unknown): string | undefined {
  try {
    return typeof address === "string" ? parseBaseUrl(address).origin : undefined;
  } catch {
    return undefined;
  }
}

function withAnswers(draft: Draft, answers: Named, options: InitOptions, context: Context): Draft {
  const at = (member: string): string[] => ["profiles", answers.profile, member];
  const moved = originOf(readDraft(draft, at("baseUrl"))) !== originOf(answers.baseUrl);
  let next = changeDraft(draft, at("baseUrl"), answers.baseUrl);
  next = changeDraft(next, at("dialect"), answers.dialect);
  next = changeDraft(next, at("apiKey"), answers.apiKey);
  // A key that was stored for another address must not be sent to this one.
  if (moved || answers.accessToken)
    next = changeDraft(next, at("accessToken"), answers.accessToken);
  if (options.proxy !== undefined) next = changeDraft(next, at("proxy"), options.proxy);
  for (const member of ["caFile", "clientCert", "clientKey"] as const) {
    const given = options[member];
    if (given === undefined) continue;
    next = changeDraft(
      next,
      at(member),
      expandPath(given, context.cwd, createMachine(context).home),
    );
  }
  if (options.timeout !== undefined) next = changeDraft(next, at("timeout"), options.timeout);
  if (readDraft(next, ["defaultProfile"]) !== undefined) return next;
  return changeDraft(next, ["defaultProfile"], answers.profile);
}

/** The failure of a test, with what to do about it here instead of its own hints. */
function askedAgain(error: CliError, doubtful: "baseUrl" | "apiKey"): CliError {
  const hint =
    doubtful === "apiKey"
      ? "enter another key; the address is kept"
      : "correct the address; the key is kept";
  const hints = [`${hint} (Ctrl-C ends, and nothing is saved)`];
  return new CliError(error.exit, error.message, { details: error.details, hints });
}

/**
 * Asks and tests the connection until it works; an answer in doubt is asked again, the others stay.
 * Undefined for a person without a service who wants to try a local one.
 */
async function connectAsking(
  context: Context,
  options: InitOptions,
  prompt: Prompt,
  output: Output,
  draft: Draft,
): Promise<Named | undefined> {
  let known = await readKnown(context, options, prompt);
  let before: string | undefined;
  for (;;) {
    const answers = await askMissing(prompt, output, known, before);
    if (answers === undefined) return undefined;
    for (const key of [answers.apiKey, answers.accessToken]) {
      if (key !== undefined && key !== "sandbox") output.secrets.add(key);
    }
    try {
      // A wrong key is reported before the next question.
      const dialect = await testConnection(context, options, answers, output);
      const profile = answers.profile ?? (await askProfile(prompt, output));
      const tested = { ...answers, dialect, profile };
      // A profile that exists has settings of its own, such as a proxy.
      const isOther = profile !== answers.profile && readDraft(draft, ["profiles", profile]);
      if (isOther) await testConnection(context, options, tested, output);
      return tested;
    } catch (error) {
      const doubtful = error instanceof CliError ? doubtfulAnswer(error, answers) : undefined;
      if (doubtful === undefined) throw error;
      await writeError(output, askedAgain(error as CliError, doubtful));
      const { [doubtful]: wrong, ...others } = answers;
      known = others;
      // The address of a web page of the service, perhaps: its path is none of the interface's.
      const isPage = error instanceof CliError && error.exit === "not-found";
      before =
        doubtful === "baseUrl" ? ((isPage ? originOf(wrong) : undefined) ?? wrong) : undefined;
    }
  }
}

const prefixMember = ["ingest", "idPrefix"];
const noPrefix = "-";

/** `handbook/` for the project in `folder`: by its git remote, else by the folder; "" without a name. */
async function proposedPrefix(context: Context, folder: string): Promise<string> {
  const remote = await remoteName(folder, context.env, { signal: context.signal });
  const name = (remote ?? basename(folder)).replace(/[^\p{L}\p{N}._-]+/gu, "-");
  return /[\p{L}\p{N}]/u.test(name) ? `${name}/` : "";
}

async function askPrefix(context: Context, prompt: Prompt, output: Output, folder: string) {
  await output.note(
    "Ids of documents count in the whole service: a prefix keeps those of this project apart.",
  );
  const question = `Id prefix of documents from ${folder} ("${noPrefix}" for none)`;
  const remedy = { exit: "usage", flag: "--id-prefix" } as const;
  const proposed = (await proposedPrefix(context, folder)) || noPrefix;
  for (;;) {
    const prefix = await prompt.ask(question, remedy, proposed);
    // Whoever types ahead answers with the next command; nobody would notice.
    if (prefix === proposed || !/[\s;|&]|^(?:y|yes|n|no)$/i.test(prefix)) return prefix;
    await output.problem(`${JSON.stringify(prefix)} is no id prefix`);
    await output.problem(
      `  → write a prefix without spaces, for example handbook/, or press Enter for ${proposed}`,
    );
  }
}

/**
 * Writes `ingest.idPrefix` to the project file: of --id-prefix, else as a person answers on a terminal.
 * A file that this creates, or that was trusted, is trusted afterwards. `isSet`: another file has one.
 */
async function initIdPrefix(
  context: Context,
  given: string | undefined,
  prompt: Prompt,
  output: Output,
  isSet: boolean,
): Promise<void> {
  if (given === "" || (given === undefined && (!prompt.canAsk || isSet))) return;
  const machine = createMachine(context);
  const cwd = realpathSync(context.cwd);
  const folder = findGitRoot(context, cwd) ?? cwd;
  // Documents of all projects lie below the home folder.
  if (given === undefined && folder === realpathSync(machine.home)) return;
  const { file: found, refused } = await findProject(cwd, { machine, trustAll: false });
  if (refused) throw refused;
  const path = found?.path ?? join(folder, ".cliconfig.json");
  const draft = await openDraft(path, false, machine);
  if (given === undefined && readDraft(draft, prefixMember) !== undefined) return;
  const prefix = given ?? (await askPrefix(context, prompt, output, folder));
  if (prefix === noPrefix || prefix === "") return;
  const untrusted = await saveProject(changeDraft(draft, prefixMember, prefix));
  await output.note(
    `ids of documents from ${folder} begin with ${prefix} (ingest.idPrefix in ${path})`,
  );
  if (untrusted !== undefined) await output.note(untrusted);
}

/**
 * `config init`: creates a profile in the user file. Asks on a terminal for address, key and name;
 * without one it reads flags, variables or stdin. Tests the connection, saves, and gives the project
 * of the working directory an id prefix. `runLine` runs `knowctl try` for a person without a service.
 */
export async function configInit(
  context: Context,
  options: InitOptions,
  runLine: RunLine,
): Promise<void> {
  const output = createOutput(context, options);
  const draft = await openDraft(userFile(createMachine(context)), true, createMachine(context));
  const prompt = createPrompt(context, options, output);
  const answers = await connectAsking(context, options, prompt, output, draft);
  if (answers === undefined) {
    const { tryOut } = await import("../try/try.ts");
    return await tryOut(context, [], options, runLine);
  }
  const next = withAnswers(draft, answers, options, context);
  await saveDraft(next);
  const { profile } = answers;
  await output.note(
    `profile ${profile} saved, with its key, in ${draft.path} (readable only by you)`,
  );
  const current = readDraft(next, ["defaultProfile"]);
  if (current !== profile) {
    await output.note(
      `the default profile is ${String(current)}; change it: knowctl config use ${profile}`,
    );
  }
  const isSet = readDraft(next, ["ingest", "idPrefix"]) !== undefined;
  await initIdPrefix(context, options.idPrefix, prompt, output, isSet);
  await output.note("next: knowctl connectors list");
}
