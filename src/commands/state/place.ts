import { join } from "node:path";
import type { Config } from "../../config/load.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { stateName } from "../../config/find/places.ts";
import type { Context } from "../../context.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { openStateForReading } from "../../sync/state/file/read-only-state.ts";
import { readBond } from "../../sync/shared/bond.ts";
import { hasState, noStateError, openState } from "../../sync/state/file/state-file.ts";
import { namedStateFolder } from "../../sync/state/file/state-folder.ts";
import { stateFailure } from "../../sync/state/state-failure.ts";
import type { State } from "../../sync/state/state.ts";
import { loadSettings } from "../connect.ts";
import { findProjectRoot } from "../project-root.ts";
import { stateRules } from "../files-in-state.ts";

/** Flags of all commands that use only the state. */
export interface StateFlags extends GlobalFlags {
  /** Folder of the state. */
  state?: string;
}

/** An open state, with the folder that holds it and the root that its paths are relative to. */
export interface OpenState {
  output: Output;
  config: Config;
  state: State;
  folder: string;
  root: string;
}

/**
 * Runs `work` with the state of the project that contains the working directory or that the flags
 * name: to read it, to change what it has, or to create it where there is none. Throws CliError
 * `not-found` where there is none to read or change.
 */
export async function withState(
  context: Context,
  flags: StateFlags,
  mode: "read" | "change" | "create",
  work: (open: OpenState) => Promise<void>,
): Promise<void> {
  const output = createOutput(context, flags);
  const { folder: root, start } = findProjectRoot(context, [], flags);
  const settings = { sends: false, needsProfile: false, root: start };
  const config = await loadSettings(context, flags, output, settings);
  const named = flags.state;
  const folder = named ? namedStateFolder(context.cwd, named) : join(root, stateName);
  const rules = stateRules(context);
  if (mode !== "create" && !hasState(folder, rules)) throw noStateError(folder);
  const open = mode === "read" ? openStateForReading : openState;
  const { state, wasEmptied } = await open(folder, context.now, rules);
  if (wasEmptied) await output.warn(`the state in ${folder} was empty`);
  try {
    const bond = mode === "read" ? readBond(state.database) : undefined;
    if (bond) {
      await output.note(
        `this is project ${bond.project} as this machine fetched it last: \`knowctl status\` fetches it again`,
      );
    }
    await work({ output, config, state, folder, root });
  } finally {
    state.close();
  }
}

/** Runs `work`, which writes to the state. Throws CliError `local` for an error of the disk or a lock. */
export function guardWriting<T>({ folder }: Pick<OpenState, "folder">, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw stateFailure(join(folder, "state.db"), error);
  }
}
