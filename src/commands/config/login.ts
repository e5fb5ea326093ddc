import {
  changeDraft,
  openDraft,
  readDraft,
  saveDraft,
  type Draft,
} from "../../config/file/edit.ts";
import { lacksPermission } from "../../api/answers/status.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Config } from "../../config/load.ts";
import { AddressProblem, parseBaseUrl, type BaseUrl } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError } from "../../errors.ts";
import { writeError, createOutput, type Output } from "../../output/terminal/output.ts";
import { loadToShow, userFile } from "./files.ts";
import {
  checkKeyText,
  fromStdin,
  fromTerminal,
  noteKeyOrigin,
  testConnection,
  type TestOptions,
} from "./connection.ts";
import { createPrompt, readPipedKey, type Prompt } from "../prompt.ts";
import { createMachine } from "../../config/find/folders.ts";

export interface LoginOptions extends TestOptions {
  withToken?: boolean;
  /** Which key: `api-key` (default; can be the only key) or `access-token`. */
  kind?: "api-key" | "access-token";
}

const members = { "api-key": "apiKey", "access-token": "accessToken" } as const;

/**
 * The base URL for the key: the profile's own in the user file, else a new one from flag,
 * variable or a trusted project file. It is stored with the key, because a key is sent only
 * to the origin that is stored with it.
 */
function addressFor(config: Config, draft: Draft): string {
  const refuse = (message: string, ...hints: string[]): CliError =>
    new CliError("not-configured", message, { hints });
  const parsed = (address: string): BaseUrl => {
    try {
      return parseBaseUrl(address);
    } catch (error) {
      throw error instanceof AddressProblem ? refuse(error.message) : error;
    }
  };
  const own = readDraft(draft, ["profiles", config.profile, "baseUrl"]);
  const inEffect = config.values.baseUrl;
  if (typeof own === "string") {
    if (inEffect === undefined || parsed(inEffect).origin === parsed(own).origin) return own;
    throw refuse(
      `profile "${config.profile}" is for ${parsed(own).origin}, not for ${parsed(inEffect).origin}`,
      "store the key in another profile: --profile NAME",
    );
  }
  const origin = config.origins.get("baseUrl");
  const project = config.files.find((file) => file.layer === "project");
  if (origin?.source === "project" && project && !project.trusted) {
    throw refuse(
      `${origin.where} sets the address, but this file is not trusted`,
      "trust it: knowctl config trust",
      "or set the address: --base-url URL",
    );
  }
  if (inEffect !== undefined) return parsed(inEffect).baseUrl;
  throw refuse(
    `profile "${config.profile}" has no base URL, so no key can be stored`,
    "set it: --base-url URL",
    "or answer questions: knowctl config init",
  );
}

/**
 * What to do about a key that the service did not take, before it replaces one that works. A key that
 * the service knows but that may not list connectors is a good one. Throws the error of any other,
 * unless the person stores it anyway.
 */
async function storeAnyway(error: unknown, prompt: Prompt, output: Output): Promise<void> {
  if (error instanceof CliError && error.cause instanceof ApiError) {
    // Services of the onyx dialect answer 403 to an unknown key as well, without a code.
    if (error.cause.status === 403 && lacksPermission.test(error.cause.code ?? "")) return;
  }
  if (!(error instanceof CliError) || !prompt.canAsk) throw error;
  await writeError(output, new CliError(error.exit, error.message, { details: error.details }));
  if (await prompt.confirm("Store this key anyway?")) return;
  throw new CliError(error.exit, "nothing was stored", { cause: error });
}

/** `login`: stores a key for the profile in the user file (mode 0600). It is never an argument. */
export async function login(
  context: Context,
  _args: string[],
  options: LoginOptions,
): Promise<void> {
  const output = createOutput(context, options);
  const machine = createMachine(context);
  const config = await loadToShow(context, options, output, { mayBeNew: true });
  const draft = await openDraft(userFile(machine), true, machine);
  const baseUrl = addressFor(config, draft);
  const prompt = createPrompt(context, options, output);
  const remedy = { exit: "not-configured", flag: "--with-token and the key on stdin" } as const;
  if (prompt.canAsk && options.withToken !== true) await noteKeyOrigin(output, config.dialect);
  const given =
    options.withToken === true
      ? await readPipedKey(context)
      : await prompt.askHidden(`Key for ${baseUrl}`, remedy);
  const key = await checkKeyText(prompt, given);
  output.secrets.add(key);
  const { profile, dialect } = config;
  if (options.check !== false) {
    const keyOrigin = options.withToken === true ? fromStdin : fromTerminal;
    const answers = { profile, baseUrl, dialect, apiKey: key, accessToken: key, keyOrigin };
    await testConnection(context, options, answers, output).catch((error: unknown) =>
      storeAnyway(error, prompt, output),
    );
  }
  const at = (member: string): string[] => ["profiles", profile, member];
  const withAddress = changeDraft(draft, at("baseUrl"), baseUrl);
  await saveDraft(changeDraft(withAddress, at(members[options.kind ?? "api-key"]), key));
  await output.note(
    `key of profile ${profile} for ${baseUrl} stored in ${draft.path} (readable only by you)`,
  );
}

/** `logout`: removes the stored keys of the profile from the user file; references to a key stay. */
export async function logout(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  const output = createOutput(context, options);
  const machine = createMachine(context);
  const config = await loadToShow(context, options, output, { userOnly: true });
  let draft = await openDraft(userFile(machine), true, machine);
  const stored = Object.values(members).filter(
    (member) => typeof readDraft(draft, ["profiles", config.profile, member]) === "string",
  );
  for (const member of stored)
    draft = changeDraft(draft, ["profiles", config.profile, member], undefined);
  if (stored.length > 0) await saveDraft(draft);
  await output.note(
    stored.length > 0
      ? `stored keys of profile ${config.profile} removed from ${draft.path}`
      : `profile ${config.profile} has no stored key in ${draft.path}`,
  );
  for (const name of ["KNOWCTL_API_KEY", "KNOWCTL_ACCESS_TOKEN"]) {
    if (context.env[name]) await output.warn(`${name} is still set and is used`);
  }
}
