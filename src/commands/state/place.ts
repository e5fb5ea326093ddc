import { join } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { stateRules } from "../files-in-state.ts";
import { stateName } from "../../config/find/places.ts";
import type { Context } from "../../context.ts";
import type { Output } from "../../output/terminal/output.ts";
import { openStateForReading } from "../../sync/state/file/read-only-state.ts";
import { hasState, noStateError, openState } from "../../sync/state/file/state-file.ts";
import { namedStateFolder } from "../../sync/state/file/state-folder.ts";
import { stateFailure } from "../../sync/state/state-failure.ts";
import type { State } from "../../sync/state/state.ts";
import { loadSettings } from "../connect.ts";
import { findProjectRoot } from "../project-root.ts";

/** Flags of all commands that use only the state. */
export interface StateFlags extends GlobalFlags {
  /** Folder of the state. */
  state?: string;
}

export interface StatePlace {
  /** Folder of the state. */
  folder: string;
  /** The project root; paths in the state are relative to it. */
  root: string;
}

/** Finds the state of the project that contains the working directory or that the flags name. */
export async function findState(
  context: Context,
  flags: StateFlags,
  output: Output,
): Promise<StatePlace> {
  const { folder: root, start } = findProjectRoot(context, [], flags);
  // Load the configuration only to report its errors, as every command does.
  await loadSettings(context, flags, output, { sends: false, needsProfile: false, root: start });
  const stateFlag = flags.state;
  return {
    root,
    folder: stateFlag ? namedStateFolder(context.cwd, stateFlag) : join(root, stateName),
  };
}

/** Opens an existing state. Throws CliError `not-found` when there is none. */
export async function openExisting(
  context: Context,
  { folder }: StatePlace,
  output: Output,
): Promise<State> {
  if (!hasState(folder, stateRules(context))) throw noStateError(folder);
  return await openOrCreate(context, { folder }, output);
}

/** Opens an existing state to read it only. Throws CliError `not-found` when there is none. */
export async function openToRead(
  context: Context,
  { folder }: StatePlace,
  output: Output,
): Promise<State> {
  if (!hasState(folder, stateRules(context))) throw noStateError(folder);
  return await openWith(openStateForReading, context, folder, output);
}

/** Opens the state, or creates it. */
export async function openOrCreate(
  context: Context,
  { folder }: Pick<StatePlace, "folder">,
  output: Output,
): Promise<State> {
  return await openWith(openState, context, folder, output);
}

async function openWith(
  open: typeof openState,
  context: Context,
  folder: string,
  output: Output,
): Promise<State> {
  const { state, wasEmptied } = await open(folder, context.now, stateRules(context));
  if (wasEmptied) await output.warn(`the state in ${folder} was empty`);
  return state;
}

/** Runs `work`, which writes to the state. Throws CliError `local` for an error of the disk or a lock. */
export function guardWriting<T>({ folder }: Pick<StatePlace, "folder">, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw stateFailure(join(folder, "state.db"), error);
  }
}
