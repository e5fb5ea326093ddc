import {
  changeDraft,
  openDraft,
  readDraft,
  saveDraft,
  type Draft,
} from "../../config/file/edit.ts";
import { expandPath } from "../../config/find/folders.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { environmentLayer, givenWord } from "../../config/values/given.ts";
import { loadConfig } from "../../config/load.ts";
import { AddressProblem, parseBaseUrl } from "../../config/values/url.ts";
import { isProfileName } from "../../config/values/validate.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { askBareKey } from "./bare-key.ts";
import { createPrompt, readPipedKey, type Prompt } from "../prompt.ts";
import { machineOf, userFile } from "./files.ts";

export interface InitOptions extends GlobalFlags {
  withToken?: boolean;
  /** False for `--no-check`. */
  check?: boolean;
}

interface Answers {
  profile: string;
  baseUrl: string;
  dialect?: "standard" | "onyx" | undefined;
  /** Used for every request, except chat and administration if `accessToken` is set. */
  apiKey: string;
  accessToken?: string | undefined;
}

function checkedAddress(text: string): string {
  try {
    return parseBaseUrl(text).baseUrl;
  } catch (error) {
    if (!(error instanceof AddressProblem)) throw error;
    throw new CliError("usage", `--base-url: ${error.message}`, {
      hints: ["write it as https://assistant.example.com"],
    });
  }
}

const maxAttempts = 3;

async function askAddress(prompt: Prompt, output: Output): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const text = await prompt.ask("Address of the service", { exit: "usage", flag: "--base-url" });
    try {
      return checkedAddress(text);
    } catch (error) {
      if (!(error instanceof CliError) || attempt === maxAttempts) throw error;
      await output.problem(error.message.replace("--base-url: ", ""));
    }
  }
}

async function askProfile(prompt: Prompt, given: string | undefined): Promise<string> {
  const remedy = { exit: "usage", flag: "--profile" } as const;
  const name =
    given ??
    (prompt.canAsk ? await prompt.ask("Name of the profile", remedy, "default") : "default");
  if (isProfileName(name)) return name;
  throw new CliError("usage", `"${name}" is not a valid profile name`, {
    hints: ['use letters, digits, "-", "_" and "."'],
  });
}

const keyRemedy = {
  exit: "not-configured",
  flag: "KNOWCTL_API_KEY, or --with-token and the key on stdin",
} as const;

async function gather(context: Context, options: InitOptions, output: Output): Promise<Answers> {
  const prompt = createPrompt(context, options, output);
  const given = environmentLayer(context.env, context.cwd).values;
  const address = options.baseUrl ?? given.baseUrl;
  // Checks that need no question run first.
  const typed = address === undefined ? undefined : checkedAddress(address);
  const profile = await askProfile(prompt, givenWord(options, context.env, "profile")?.word);
  const baseUrl = typed ?? (await askAddress(prompt, output));
  const dialect = options.dialect ?? given.dialect;
  const bare = (key: string): Promise<string> => askBareKey(prompt, key);
  if (options.withToken === true)
    return { profile, baseUrl, dialect, apiKey: await bare(await readPipedKey(context)) };
  const { apiKey, accessToken } = given as { apiKey?: string; accessToken?: string };
  const known = apiKey ?? accessToken;
  if (known !== undefined)
    return { profile, baseUrl, dialect, apiKey: known, accessToken: apiKey && accessToken };
  return {
    profile,
    baseUrl,
    dialect,
    apiKey: await bare(await prompt.askHidden("API key", keyRemedy)),
  };
}

/** Applies every safety rule to the answers and, unless `--no-check`, sends a request. Returns the dialect. */
async function testConnection(
  context: Context,
  options: InitOptions,
  answers: Answers,
  output: Output,
): Promise<"standard" | "onyx"> {
  const { profile, baseUrl, dialect, apiKey, accessToken } = answers;
  const warnings: string[] = [];
  const config = await loadConfig({
    cwd: context.cwd,
    uid: context.uid,
    // The keys have the same limits as keys from the environment.
    env: { ...context.env, KNOWCTL_API_KEY: apiKey, KNOWCTL_ACCESS_TOKEN: accessToken },
    flags: { ...options, profile, baseUrl, dialect: dialect ?? "onyx" },
    sends: true,
    userOnly: true,
    mayBeNew: true,
    warn: (message) => warnings.push(message),
  });
  await config.connection();
  for (const warning of warnings) await output.warn(warning);
  if (options.check === false) return dialect ?? "standard";
  const { openClient } = await import("../connect.ts");
  const { detectService } = await import("./detect.ts");
  const { client } = await openClient(context, output, config);
  try {
    const found = await detectService(client, dialect);
    const how = dialect ? "as set" : "detected";
    await output.note(
      `connected to ${baseUrl}: ${found.connectors.length} connectors, dialect ${found.dialect} (${how})`,
    );
    return found.dialect;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(error.exit, error.message, {
      details: error.details,
      hints: [...error.hints, "nothing was saved; to save without a test: --no-check"],
      cause: error,
    });
  } finally {
    await client.close();
  }
}

function originOf(address: unknown): string | undefined {
  try {
    return typeof address === "string" ? parseBaseUrl(address).origin : undefined;
  } catch {
    return undefined;
  }
}

function withAnswers(
  draft: Draft,
  answers: Answers,
  options: InitOptions,
  context: Context,
): Draft {
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
    next = changeDraft(next, at(member), expandPath(given, context.cwd, machineOf(context).home));
  }
  if (options.timeout !== undefined) next = changeDraft(next, at("timeout"), options.timeout);
  if (readDraft(next, ["defaultProfile"]) !== undefined) return next;
  return changeDraft(next, ["defaultProfile"], answers.profile);
}

/**
 * `config init`: creates a profile in the user file. Asks on a terminal; without one it
 * reads flags, variables or stdin. Tests the connection, then saves.
 */
export async function configInit(
  context: Context,
  _args: string[],
  options: InitOptions,
): Promise<void> {
  const output = createOutput(context, options);
  const answers = await gather(context, options, output);
  if (answers.apiKey !== "sandbox") output.secrets.add(answers.apiKey);
  if (answers.apiKey === "") {
    throw new CliError("not-configured", "the key is empty", { hints: ["nothing was saved"] });
  }
  const draft = await openDraft(userFile(machineOf(context)), true, machineOf(context));
  const dialect = await testConnection(context, options, answers, output);
  const next = withAnswers(draft, { ...answers, dialect }, options, context);
  await saveDraft(next);
  await output.note(
    `profile ${answers.profile} saved, with its key, in ${draft.path} (readable only by you)`,
  );
  const current = readDraft(next, ["defaultProfile"]);
  if (current !== answers.profile) {
    await output.note(
      `the default profile is ${String(current)}; change it: knowctl config use ${answers.profile}`,
    );
  }
  await output.note("next: knowctl connectors list");
}
