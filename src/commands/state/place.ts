import { join } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { ownerRules } from "../../config/values/given.ts";
import { stateName } from "../../config/find/project-mark.ts";
import type { Context } from "../../context.ts";
import type { Output } from "../../output/terminal/output.ts";
import { hasState, noStateError, openState } from "../../sync/state/state-file.ts";
import { namedStateFolder } from "../../sync/state/state-folder.ts";
import { stateFailure, type State } from "../../sync/state/state.ts";
import { loadSettings } from "../connect.ts";
import { findProjectRoot } from "../project-root.ts";

/** Flags of every command that works on the state alone. */
export interface StateFlags extends GlobalFlags {
  /** Folder of the state. */
  state?: string;
}

export interface StatePlace {
  /** Folder of the state. */
  folder: string;
  /** The project root, which the paths in the state are relative to. */
  root: string;
}

/** The state of the project that the working directory lies in, or that the flags name. */
export async function findState(
  context: Context,
  flags: StateFlags,
  output: Output,
): Promise<StatePlace> {
  const { folder: root, start } = findProjectRoot(context, [], flags);
  // A broken configuration is reported here as by every other command.
  await loadSettings(context, flags, output, { sends: false, root: start });
  const named = flags.state;
  return { root, folder: named ? namedStateFolder(context.cwd, named) : join(root, stateName) };
}

/** Opens a state that is there already. Throws CliError `not-found` where none is. */
export async function openExisting(
  context: Context,
  { folder }: StatePlace,
  output: Output,
): Promise<State> {
  if (!hasState(folder, ownerRules(context))) throw noStateError(folder);
  return await openOrCreate(context, { folder }, output);
}

/** Opens the state, or creates it. */
export async function openOrCreate(
  context: Context,
  { folder }: Pick<StatePlace, "folder">,
  output: Output,
): Promise<State> {
  const { state, wasEmptied } = await openState(folder, context.now, ownerRules(context));
  if (wasEmptied) await output.warn(`the state in ${folder} was empty`);
  return state;
}

/** Runs what writes to the state. Throws CliError `local` for a fault of the disk or a lock. */
export function guardWriting<T>({ folder }: Pick<StatePlace, "folder">, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw stateFailure(join(folder, "state.db"), error);
  }
}
