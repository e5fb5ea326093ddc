import { platform as systemPlatform, userInfo } from "node:os";
import { isAbsolute, join, relative, sep } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Properties of the machine that decide where files are and who owns them. Tests pass their own. */
export interface Machine {
  env: Environment;
  platform: NodeJS.Platform;
  home: string;
  /** -1 where files have no owner (Windows). */
  uid: number;
}

// A relative value must be ignored (XDG Base Directory Specification).
function absolute(path: string | undefined): string | undefined {
  return path && isAbsolute(path) ? path : undefined;
}

// Ignores an empty or relative HOME: it would make a file of the working directory the user
// file, which needs no trust. A user id without an account is valid (context.ts sets a home).
function homeOf(env: Environment): string {
  const named = absolute(env["HOME"]);
  if (named !== undefined) return named;
  try {
    return userInfo().homedir;
  } catch {
    return sep;
  }
}

export function createMachine(given: {
  env: Environment;
  uid: number;
  platform?: NodeJS.Platform | undefined;
  home?: string | undefined;
}): Machine {
  const { env, platform = systemPlatform(), home = homeOf(env), uid } = given;
  return { env, platform, home, uid: platform === "win32" ? -1 : uid };
}

type Place = readonly [variable: string, ...usual: string[]];

/** The folder of the tool in that of a variable, or in the usual one below the home folder. */
function ownFolder({ env, platform, home }: Machine, unix: Place, windows: Place): string {
  const [variable, ...usual] = platform === "win32" ? windows : unix;
  return join(absolute(env[variable]) ?? join(home, ...usual), "knowctl");
}

const localData: Place = ["LOCALAPPDATA", "AppData", "Local"];

/** Folder of the user's configuration file. */
export const userFolder = (machine: Machine): string =>
  ownFolder(machine, ["XDG_CONFIG_HOME", ".config"], ["APPDATA", "AppData", "Roaming"]);

/** Folder of the tool's own records: trusted files, the last session. */
export const stateFolder = (machine: Machine): string =>
  ownFolder(machine, ["XDG_STATE_HOME", ".local", "state"], localData);

/** Folder of data that may be lost at any time: names for completion. */
export function cacheFolder(machine: Machine): string {
  const folder = ownFolder(machine, ["XDG_CACHE_HOME", ".cache"], localData);
  return machine.platform === "win32" ? join(folder, "cache") : folder;
}

/** Makes `~/x` and relative paths absolute; relative paths start at `folder`. */
export function expandPath(path: string, folder: string, home: string): string {
  if (path === "~") return home;
  if (/^~[/\\]/.test(path)) return join(home, path.slice(2));
  return isAbsolute(path) ? path : join(folder, path);
}

/** Whether `path` is `folder` or lies below it; both absolute and real. */
export function isInside(folder: string, path: string): boolean {
  const relativePath = relative(folder, path);
  return relativePath.split(sep)[0] !== ".." && !isAbsolute(relativePath);
}
