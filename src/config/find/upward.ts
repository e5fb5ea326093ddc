import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Machine } from "./folders.ts";

/** Which owners' folders and files an upward search may use. */
export interface UpwardRules {
  machine: Pick<Machine, "home" | "platform" | "uid">;
  /** KNOWCTL_TRUST_PROJECT: also use files of other users. */
  trustAll: boolean;
}

/** The folders that an upward search includes. */
export interface Upward {
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
