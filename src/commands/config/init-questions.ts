import type { DialectName } from "../../api/dialects.ts";
import { environmentLayer, givenWord } from "../../config/values/given.ts";
import { AddressProblem, addressHint, parseBaseUrl } from "../../config/values/url.ts";
import { isProfileName } from "../../config/values/validate.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { readPipedKey, type Prompt } from "../prompt.ts";
import { askBareKey, checkKeyText } from "./bare-key.ts";
import { noteKeyOrigin } from "./key-origin.ts";

export interface InitOptions extends GlobalFlags {
  withToken?: boolean;
  /** False for `--no-check`. */
  check?: boolean;
  /** Of the project in the working directory; "" for none, without a question. */
  idPrefix?: string;
}

export interface Answers {
  baseUrl: string;
  dialect: DialectName | undefined;
  /** Used for every request, except chat and administration if `accessToken` is set. */
  apiKey: string;
  accessToken: string | undefined;
  profile: string;
}

/** Answers so far; `typed` names those that a person typed and may correct. */
export interface Known extends Partial<Answers> {
  typed: ReadonlySet<"baseUrl" | "apiKey">;
}

function checkedAddress(text: string): string {
  try {
    return parseBaseUrl(text).baseUrl;
  } catch (error) {
    if (!(error instanceof AddressProblem)) throw error;
    throw new CliError("usage", error.message, { hints: [addressHint(text)] });
  }
}

function checkedProfile(name: string): string {
  if (isProfileName(name)) return name;
  throw new CliError("usage", `"${name}" is not a valid profile name`, {
    hints: ['use letters, digits, "-", "_" and "."'],
  });
}

/**
 * The answers of flags, environment and stdin. Throws CliError for invalid ones: nobody can
 * correct them here.
 */
export async function readKnown(
  context: Context,
  options: InitOptions,
  prompt: Prompt,
): Promise<Known> {
  const given = environmentLayer(context.env, context.cwd).values;
  const address = options.baseUrl ?? given.baseUrl;
  const profile = givenWord(options, context.env, "profile")?.word;
  const known: Known = {
    typed: new Set(),
    dialect: options.dialect ?? given.dialect,
    ...(address === undefined ? {} : { baseUrl: namedAddress(address) }),
    ...(profile === undefined ? {} : { profile: checkedProfile(profile) }),
  };
  if (options.withToken === true) {
    const key = await askBareKey(prompt, await readPipedKey(context));
    return { ...known, apiKey: checkKeyText(key) };
  }
  const { apiKey, accessToken } = given as { apiKey?: string; accessToken?: string };
  const key = apiKey ?? accessToken;
  return key === undefined ? known : { ...known, apiKey: key, accessToken: apiKey && accessToken };
}

function namedAddress(address: string): string {
  try {
    return checkedAddress(address);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(error.exit, `--base-url: ${error.message}`, { hints: error.hints });
  }
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
    if (answer !== "") return checkedAddress(answer);
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
  return await askUntilRead(prompt, output, ask, async (answer) =>
    checkKeyText(await askBareKey(prompt, answer)),
  );
}

async function askProfile(prompt: Prompt, output: Output): Promise<string> {
  if (!prompt.canAsk) return "default";
  const remedy = { exit: "usage", flag: "--profile" } as const;
  const ask = (): Promise<string> => prompt.ask("Name of this profile", remedy, "default");
  return await askUntilRead(prompt, output, ask, checkedProfile);
}

/**
 * Asks for what is missing: address, key, name. `before` is an address that failed. Undefined for
 * a person without a service who wants to try a local one. Off a terminal throws CliError with the
 * flag that replaces the first missing answer.
 */
export async function askMissing(
  prompt: Prompt,
  output: Output,
  known: Known,
  before?: string,
): Promise<(Answers & Known) | undefined> {
  const typed = new Set(known.typed);
  let { baseUrl, apiKey } = known;
  if (baseUrl === undefined) {
    baseUrl = await askAddress(prompt, output, before);
    if (baseUrl === undefined) return undefined;
    typed.add("baseUrl");
  }
  if (apiKey === undefined) {
    // A second time for a refused key, where the origin was shown already.
    if (prompt.canAsk && !typed.has("apiKey")) await noteKeyOrigin(output, known.dialect);
    apiKey = await askKey(prompt, output);
    typed.add("apiKey");
  }
  const profile = known.profile ?? (await askProfile(prompt, output));
  return { dialect: undefined, accessToken: undefined, ...known, baseUrl, apiKey, profile, typed };
}

/** The typed answer that a failed test of the connection puts in doubt; undefined if none. */
export function doubtfulAnswer(
  error: CliError,
  { typed }: Known,
): "baseUrl" | "apiKey" | undefined {
  const wrong = {
    auth: "apiKey",
    unreachable: "baseUrl",
    timeout: "baseUrl",
    "server-error": "baseUrl",
    "not-found": "baseUrl",
    "not-configured": "baseUrl",
  } as const;
  const answer = Object.hasOwn(wrong, error.exit)
    ? wrong[error.exit as keyof typeof wrong]
    : undefined;
  return answer !== undefined && typed.has(answer) ? answer : undefined;
}
