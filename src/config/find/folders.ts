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

/** Folder of the user's configuration file. */
export function userFolder({ env, platform, home }: Machine): string {
  if (platform === "win32") {
    return join(absolute(env["APPDATA"]) ?? join(home, "AppData", "Roaming"), "knowctl");
  }
  return join(absolute(env["XDG_CONFIG_HOME"]) ?? join(home, ".config"), "knowctl");
}

/** Folder of the tool's own records: trusted files, the last session. */
export function stateFolder({ env, platform, home }: Machine): string {
  if (platform === "win32") {
    return join(absolute(env["LOCALAPPDATA"]) ?? join(home, "AppData", "Local"), "knowctl");
  }
  return join(absolute(env["XDG_STATE_HOME"]) ?? join(home, ".local", "state"), "knowctl");
}

/** Folder of data that may be lost at any time: names for completion. */
export function cacheFolder({ env, platform, home }: Machine): string {
  if (platform === "win32") {
    return join(
      absolute(env["LOCALAPPDATA"]) ?? join(home, "AppData", "Local"),
      "knowctl",
      "cache",
    );
  }
  return join(absolute(env["XDG_CACHE_HOME"]) ?? join(home, ".cache"), "knowctl");
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
