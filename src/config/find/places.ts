import { basename, dirname, join } from "node:path";
import { existsSync, realpathSync, statSync, lstatSync, readFileSync } from "node:fs";
import type { Machine } from "./folders.ts";
import { CliError } from "../../errors.ts";
import { isForeign } from "../../ownership.ts";

/** The unparsed text of a configuration file; our own parser knows positions for messages. */
export interface FoundFile {
  path: string;
  text: string;
}

/** The member of a package.json that holds a configuration. */
export const member = "cliconfig";

/** Names of a project file, in order of preference. `package.json` needs a `cliconfig` member. */
export const projectPlaces = [
  ".cliconfig.json",
  ".cliconfig.yaml",
  ".cliconfig.yml",
  ".cliconfig",
  "package.json",
];

/** Names of the user file, in order of preference. */
export const userPlaces = ["config.json", "config.yaml"];

/** Whether the text of a package.json has our member. */
export function hasMember(text: string): boolean {
  if (!text.includes(`"${member}"`)) return false;
  try {
    return Object.hasOwn(JSON.parse(text) as object, member);
  } catch {
    // Broken, but it names our member: our own parser will report the position.
    return true;
  }
}

/** Path of the configuration inside a file of this name. */
export function prefixOf(path: string): string[] {
  return basename(path) === "package.json" ? [member] : [];
}

/** Which owners' folders and files an upward search may use. */
export interface UpwardRules {
  machine: Pick<Machine, "home" | "platform" | "uid">;
  /** KNOWCTL_TRUST_PROJECT: also use files of other users. */
  trustAll: boolean;
}

/** The folders that an upward search includes. */
interface Upward {
  /** Nearest first: the start, then the folders above it. Empty where others can write to the start. */
  folders: string[];
  /** The last folder, if it holds `.git`. */
  gitRoot?: string;
  /** The folder at which the search stopped because other users can write to it. */
  openFolder?: string;
}

const othersWrite = 0o002;
const sticky = 0o1000;

/** Whether other users can put files into a folder, as into /tmp. */
function isOpen(folder: string, { machine, trustAll }: UpwardRules): boolean {
  // Windows has no such mode.
  if (machine.platform === "win32" || machine.uid < 0) return false;
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & othersWrite) === 0) return false;
  // CI runners check out with mode 0777; a sticky folder is shared on purpose.
  return !trustAll || (mode & sticky) !== 0;
}

function realHome({ home }: UpwardRules["machine"]): string {
  try {
    return realpathSync.native(home);
  } catch {
    return home;
  }
}

/** Without git, the search ends just below the home folder, or just below the file system root. */
function limitWithoutGit(folders: readonly string[], home: string): string[] {
  const end = folders.findIndex((folder, index) => {
    return index > 0 && (folder === home || dirname(folder) === folder);
  });
  return folders.slice(0, end === -1 ? undefined : end);
}

/**
 * The folders from `start` (an absolute real folder) upward to the git root. Without git they end
 * just below the home folder; outside of it, just below the root of the file system or drive. The
 * search stops before a folder that others can write to. Any other start is always included.
 */
export function upwardFrom(start: string, rules: UpwardRules): Upward {
  const folders: string[] = [];
  const home = realHome(rules.machine);
  for (let folder = start; ; folder = dirname(folder)) {
    if (isOpen(folder, rules))
      return { folders: limitWithoutGit(folders, home), openFolder: folder };
    folders.push(folder);
    // A file in worktrees and submodules.
    if (existsSync(join(folder, ".git"))) return { folders, gitRoot: folder };
    if (dirname(folder) === folder) return { folders: limitWithoutGit(folders, home) };
  }
}

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
    isLasting: true,
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
