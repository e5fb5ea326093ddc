import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "../../errors.ts";
import { isForeign } from "../../ownership.ts";
import { hasMember, projectPlaces } from "./places.ts";
import { upwardFrom, type UpwardRules } from "./upward.ts";

/** Name of the state folder in the project root. */
export const stateName = ".knowctl";

/** A folder that is the project root, and why. */
export interface ProjectMark {
  folder: string;
  kind: "configuration" | "state" | "git";
}

/** Whether a folder holds a project configuration. A package.json needs a `cliconfig` member. */
export function holdsConfiguration(folder: string): boolean {
  const present = projectPlaces.filter((place) => existsSync(join(folder, place)));
  return present.some((place) => isConfiguration(folder, place));
}

function isConfiguration(folder: string, place: string): boolean {
  if (place !== "package.json") return true;
  try {
    // Reading a pipe may never end: the search reports it.
    const stats = statSync(join(folder, place));
    if (!stats.isFile()) return !stats.isDirectory();
    return hasMember(readFileSync(join(folder, place), "utf8"));
  } catch {
    // The search for the configuration reports why it is unreadable.
    return true;
  }
}

function refuseForeign(state: string, { machine, trustAll }: UpwardRules): void {
  const stats = lstatSync(state, { throwIfNoEntry: false });
  if (!stats || !isForeign(stats, { uid: machine.uid, trustAll })) return;
  throw new CliError("local", `${state} belongs to another user (uid ${stats.uid}): not used`, {
    hints: [
      "to use it anyway, as in a container or a restored cache, set KNOWCTL_TRUST_PROJECT=1",
      "or name another project root with --root",
    ],
  });
}

/**
 * Finds the project root for files in `start` (an absolute real folder): the nearest folder
 * upward with a project configuration, else with a state, else the git root. Throws CliError
 * `local` for a state of another user: ignoring it would give the same files other ids.
 */
export function findProjectMark(start: string, rules: UpwardRules): ProjectMark | undefined {
  const { folders, gitRoot } = upwardFrom(start, rules);
  const configured = folders.find(holdsConfiguration);
  if (configured !== undefined) return { folder: configured, kind: "configuration" };
  const stated = folders.find(holdsState);
  if (stated !== undefined) {
    refuseForeign(join(stated, stateName), rules);
    return { folder: stated, kind: "state" };
  }
  return gitRoot === undefined ? undefined : { folder: gitRoot, kind: "git" };
}

/** File that marks a state folder with nothing recorded yet, see sync/state/state-file.ts. */
const nothingRecorded = "state.db-new";

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // A file in place of the state folder, or a closed one: opening the state reports it.
    return false;
  }
}

/** Ignores a state left by a failed first run: it does not mark the project root. */
function holdsState(folder: string): boolean {
  const state = join(folder, stateName);
  return exists(state) && !exists(join(state, nothingRecorded));
}

/** The folder that would be the project root of `start` if others could not write to it. */
export function findUnusedMark(start: string, rules: UpwardRules): string | undefined {
  const { openFolder } = upwardFrom(start, rules);
  if (openFolder === undefined) return undefined;
  const isMarked =
    holdsConfiguration(openFolder) ||
    holdsState(openFolder) ||
    existsSync(join(openFolder, ".git"));
  return isMarked ? openFolder : undefined;
}

/** The name in a folder that makes it a separate project: its configuration or its state. */
export function projectNameIn(
  folder: string,
  names: readonly { name: string }[],
): string | undefined {
  let found: string | undefined;
  for (const { name } of names) {
    // Runs for each of a hundred thousand files: most names stop here.
    if (name.charCodeAt(0) !== 0x2e && name !== "package.json") continue;
    if (name === stateName && holdsState(folder)) return name;
    if (projectPlaces.includes(name) && isConfiguration(folder, name)) found ??= name;
  }
  return found;
}
