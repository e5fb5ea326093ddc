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
import { AddressProblem, parseBaseUrl } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError } from "../../errors.ts";
import { writeError, createOutput, type Output } from "../../output/terminal/output.ts";
import { askBareKey, checkKeyText } from "./bare-key.ts";
import { loadToShow, machineOf, userFile } from "./files.ts";
import { testConnection } from "./init-connection.ts";
import { noteKeyOrigin } from "./key-origin.ts";
import { createPrompt, readPipedKey, type Prompt } from "../prompt.ts";

export interface LoginOptions extends GlobalFlags {
  withToken?: boolean;
  /** Which key: `api-key` (default; can be the only key) or `access-token`. */
  kind?: "api-key" | "access-token";
  /** False for `--no-check`: the key is stored without a request. */
  check?: boolean;
}

interface Trial {
  options: LoginOptions;
  config: Config;
  prompt: Prompt;
  output: Output;
}

const members = { "api-key": "apiKey", "access-token": "accessToken" } as const;

function parsed(address: string): { baseUrl: string; origin: string } {
  try {
    return parseBaseUrl(address);
  } catch (error) {
    if (!(error instanceof AddressProblem)) throw error;
    throw new CliError("not-configured", error.message);
  }
}

/**
 * The base URL for the key: the profile's own in the user file, else a new one from flag,
 * variable or a trusted project file. It is stored with the key, because a key is sent only
 * to the origin that is stored with it.
 */
function addressFor(config: Config, draft: Draft): string {
  const own = readDraft(draft, ["profiles", config.profile, "baseUrl"]);
  const origin = config.origins.get("baseUrl");
  const inEffect = config.values.baseUrl;
  if (typeof own === "string") {
    const isOther = inEffect !== undefined && parsed(inEffect).origin !== parsed(own).origin;
    if (!isOther) return own;
    throw new CliError(
      "not-configured",
      `profile "${config.profile}" is for ${parsed(own).origin}, not for ${parsed(inEffect).origin}`,
      {
        hints: ["store the key in another profile: --profile NAME"],
      },
    );
  }
  const project = config.files.find((file) => file.layer === "project");
  if (origin?.source === "project" && project && !project.trusted) {
    throw new CliError(
      "not-configured",
      `${origin.where} sets the address, but this file is not trusted`,
      {
        hints: ["trust it: knowctl config trust", "or set the address: --base-url URL"],
      },
    );
  }
  if (inEffect !== undefined) return parsed(inEffect).baseUrl;
  throw new CliError(
    "not-configured",
    `profile "${config.profile}" has no base URL, so no key can be stored`,
    {
      hints: ["set it: --base-url URL", "or answer questions: knowctl config init"],
    },
  );
}

/**
 * Tries a key before it replaces one that works. A key that the service knows but that may not list
 * connectors is a good one. Throws CliError for a refused key, or a service that does not answer,
 * unless the person stores it anyway.
 */
async function tryKey(
  context: Context,
  { options, config, prompt, output }: Trial,
  baseUrl: string,
  key: string,
): Promise<void> {
  if (options.check === false) return;
  const { profile, dialect } = config;
  try {
    await testConnection(
      context,
      options,
      { profile, baseUrl, dialect, apiKey: key, accessToken: key },
      output,
    );
  } catch (error) {
    if (error instanceof CliError && error.cause instanceof ApiError) {
      // Services of the onyx dialect answer 403 to an unknown key as well, without a code.
      if (error.cause.status === 403 && lacksPermission.test(error.cause.code ?? "")) return;
    }
    if (!(error instanceof CliError) || !prompt.canAsk) throw error;
    await writeError(output, new CliError(error.exit, error.message, { details: error.details }));
    if (!(await prompt.confirm("Store this key anyway?"))) {
      throw new CliError(error.exit, "nothing was stored", { cause: error });
    }
  }
}

/** `login`: stores a key for the profile in the user file (mode 0600). It is never an argument. */
export async function login(
  context: Context,
  _args: string[],
  options: LoginOptions,
): Promise<void> {
  const output = createOutput(context, options);
  const machine = machineOf(context);
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
  const key = checkKeyText(await askBareKey(prompt, given));
  output.secrets.add(key);
  await tryKey(context, { options, config, prompt, output }, baseUrl, key);
  const at = (member: string): string[] => ["profiles", config.profile, member];
  const withAddress = changeDraft(draft, at("baseUrl"), baseUrl);
  await saveDraft(changeDraft(withAddress, at(members[options.kind ?? "api-key"]), key));
  await output.note(
    `key of profile ${config.profile} for ${baseUrl} stored in ${draft.path} (readable only by you)`,
  );
}

/** `logout`: removes the stored keys of the profile from the user file; references to a key stay. */
export async function logout(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  const output = createOutput(context, options);
  const machine = machineOf(context);
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
