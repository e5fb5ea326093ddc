import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { saveDraft, type Draft } from "../../config/file/edit.ts";
import { parseFound } from "../../config/file/parse.ts";
import { findProject, readNamed } from "../../config/find/discover.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { createMachine, userFolder, type Machine } from "../../config/find/folders.ts";
import { givenWord } from "../../config/values/given.ts";
import { loadConfig, type Config } from "../../config/load.ts";
import { userPlaces } from "../../config/find/places.ts";
import { claimsOf, isTrusted, rememberTrust } from "../../config/trust.ts";
import type { Context } from "../../context.ts";
import type { Output } from "../../output/terminal/output.ts";
import { storedSecrets } from "../secrets.ts";
import { isProfileName } from "../../config/values/validate.ts";
import { CliError } from "../../errors.ts";

/** Second safeguard: registers stored keys for redaction, in case a mask misses one. */
export function hideStoredKeys(config: Config, output: Output): void {
  const { keys, headers } = storedSecrets(config);
  for (const text of [...keys, ...headers]) output.secrets.add(text);
}

/** The configuration for a command that sends nothing: all files, trusted or not. Writes warnings. */
export async function loadToShow(
  context: Context,
  options: GlobalFlags,
  output: Output,
  request: { userOnly?: boolean; mayBeNew?: boolean; needsProfile?: boolean } = {},
): Promise<Config> {
  const warnings: string[] = [];
  const config = await loadConfig({
    cwd: context.cwd,
    env: context.env,
    uid: context.uid,
    flags: options,
    sends: false,
    warn: (message) => warnings.push(message),
    ...request,
  });
  for (const warning of warnings) await output.warn(warning);
  hideStoredKeys(config, output);
  return config;
}

export function checkedProfile(name: string): string {
  if (isProfileName(name)) return name;
  throw new CliError("usage", `"${name}" is not a valid profile name`, {
    hints: ['use letters, digits, "-", "_" and "."'],
  });
}

/** The existing user file, else the path where it would be created. */
export function userFile(machine: Machine): string {
  const paths = userPlaces.map((place) => join(userFolder(machine), place));
  return paths.find((path) => existsSync(path)) ?? paths[0] ?? "";
}

export interface Target {
  path: string;
  isPrivate: boolean;
  /** Whether the file needs trust: --config names a file without. */
  isProject: boolean;
}

/** The file to change: `--config`, with `--local` the project file, else the user file. */
export async function targetFile(
  context: Context,
  options: GlobalFlags & { local?: boolean },
): Promise<Target> {
  const machine = createMachine(context);
  const named = givenWord(options, context.env, "config");
  // A flag wins over the variable.
  if (named && !(options.local === true && named.source === "env")) {
    return { path: resolve(context.cwd, named.word), isPrivate: false, isProject: false };
  }
  if (options.local !== true) {
    return { path: userFile(machine), isPrivate: true, isProject: false };
  }
  const found = await findProject(context.cwd, { machine, trustAll: false });
  if (found.refused) throw found.refused;
  const path = found.file?.path ?? join(context.cwd, ".cliconfig.json");
  return { path, isPrivate: false, isProject: true };
}

/**
 * Saves a changed project file. One that this creates, or that was trusted, is trusted afterwards.
 * Resolves with what to say of another one, if its settings need trust.
 */
export async function saveProject(draft: Draft): Promise<string | undefined> {
  const { path, machine } = draft;
  const read = async () => await parseFound(await readNamed(path, ""));
  const keepsTrust = !existsSync(path) || (await isTrusted(await read(), machine));
  await saveDraft(draft);
  const file = await read();
  if (keepsTrust) await rememberTrust(file, machine);
  else if (claimsOf(file.content).length > 0)
    return `trust ${path} before you upload: knowctl config trust`;
  return undefined;
}
