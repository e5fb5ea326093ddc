import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Machine } from "./folders.ts";

/** Whose folders and files a search upward may use. */
export interface UpwardRules {
  machine: Pick<Machine, "home" | "platform" | "uid">;
  /** KNOWCTL_TRUST_PROJECT: also use what belongs to other users. */
  trustAll: boolean;
}

/** The folders that a search upward looks into. */
export interface Upward {
  /** Nearest first: the start, then the folders above it. Empty where others can write to the start. */
  folders: string[];
  /** The last of the folders, where it holds `.git`. */
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
  // Runners of pipelines check out with mode 0777; a sticky folder is shared on purpose.
  return !trustAll || (mode & sticky) !== 0;
}

function realHome({ home }: UpwardRules["machine"]): string {
  try {
    return realpathSync.native(home);
  } catch {
    return home;
  }
}

/** Without git: to just below the home folder, elsewhere to just below the root of the file system. */
function withoutGit(folders: readonly string[], home: string): string[] {
  const end = folders.findIndex((folder, index) => {
    return index > 0 && (folder === home || dirname(folder) === folder);
  });
  return folders.slice(0, end === -1 ? undefined : end);
}

/**
 * The folders from `start` (an absolute real folder) upward to the git root; without git to just
 * below the home folder, outside of it to just below the root of the file system or drive. The
 * start itself always counts, except where the search stops: at a folder that others can write to.
 */
export function upwardFrom(start: string, rules: UpwardRules): Upward {
  const folders: string[] = [];
  const home = realHome(rules.machine);
  for (let folder = start; ; folder = dirname(folder)) {
    if (isOpen(folder, rules)) return { folders: withoutGit(folders, home), openFolder: folder };
    folders.push(folder);
    // A file in worktrees and submodules.
    if (existsSync(join(folder, ".git"))) return { folders, gitRoot: folder };
    if (dirname(folder) === folder) return { folders: withoutGit(folders, home) };
  }
}
