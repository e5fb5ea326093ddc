import { lstatSync, type Stats } from "node:fs";
import { basename, join, resolve } from "node:path";
import { realPath } from "../../../documents/files/root.ts";
import { CliError } from "../../../errors.ts";
import { isForeign, type OwnerRules } from "../../../ownership.ts";
import { stateFailure } from "../state-failure.ts";

/** A file of a state that a repository tracks: `name` is its path from the folder `top`. */
interface TrackedState {
  top: string;
  name: string;
}

/** Which states to use. */
export interface StateRules extends OwnerRules {
  /** The first of the files `names` in `folder` that git tracks. Throws CliError `local` where it cannot tell. */
  findTracked: (folder: string, names: readonly string[]) => TrackedState | undefined;
}

/** Name of the state folder in a project. */
const ownName = ".knowctl";
const databaseFiles = ["state.db", "state.db-wal", "state.db-shm", "state.db-journal"].concat(
  "state.db-new",
);

/**
 * Resolves the folder of `--state`. The user may name a link. Links to a folder named `.knowctl`
 * are not resolved: they may come from a checkout.
 */
export function namedStateFolder(cwd: string, name: string): string {
  const path = resolve(cwd, name);
  return basename(path) === ownName ? path : (realPath(path) ?? path);
}

/** Whether the folder is the tool's own (`.knowctl`), which must belong to this user. */
export function isOwnFolder(folder: string): boolean {
  return basename(folder) === ownName;
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw stateFailure(path, error);
  }
}

const otherFolderHint = "or name another folder with --state; an upload also runs with --no-state";

function refuse(path: string, problem: string, remedy: string): never {
  throw new CliError("local", `${path} ${problem}: not used`, {
    isLasting: true,
    hints: [remedy, otherFolderHint],
  });
}

/** Never advises to remove the file: it may be one of the user's own. */
function refuseFile(path: string): never {
  throw new CliError("local", `${path} is not a folder: not used`, {
    isLasting: true,
    hints: isOwnFolder(path)
      ? ["give the file another name, or name another root with --root", otherFolderHint]
      : [
          "name a folder with --state; a missing one is created",
          `or leave out --state: the state is then in ${ownName} in the project root`,
        ],
  });
}

function checkOwner(path: string, stats: Stats, rules: OwnerRules): void {
  if (!isForeign(stats, rules)) return;
  throw new CliError("local", `${path} belongs to another user (uid ${stats.uid}): not used`, {
    isLasting: true,
    hints: [
      `take it over: chown -R "$(id -u)" ${path}`,
      "in a container, or with a restored cache: KNOWCTL_TRUST_PROJECT=1",
      otherFolderHint,
    ],
  });
}

function checkLink(path: string, stats: Stats): void {
  if (!stats.isSymbolicLink()) return;
  refuse(path, "is a symbolic link", "remove the link; its target is kept");
}

function checkFile(path: string, rules: OwnerRules): Stats | undefined {
  const stats = statsOf(path);
  if (!stats) return undefined;
  checkLink(path, stats);
  if (!stats.isFile()) refuse(path, "is not a regular file", "move it to another folder");
  checkOwner(path, stats, rules);
  return stats;
}

function checkDatabaseFile(path: string, rules: OwnerRules): void {
  const linkCount = checkFile(path, rules)?.nlink ?? 1;
  // SQLite finds the journal by the database name: use under two names damages the database.
  if (linkCount > 1) refuse(path, "has a second name (a hard link)", "replace it with a copy");
}

const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;

/**
 * Throws CliError `local` for a state that git tracks: a checkout may have brought it, with records
 * that choose what is sent and removed. No flag or variable permits it.
 */
export function refuseTracked(folder: string, { findTracked }: StateRules): void {
  const tracked = findTracked(folder, databaseFiles);
  if (tracked === undefined) return;
  const { top, name } = tracked;
  const isOwn = isOwnFolder(folder) && name.includes("/");
  const what = isOwn ? `-r ${quoted(name.slice(0, name.lastIndexOf("/")))}` : quoted(name);
  const message = `git tracks the state ${join(folder, basename(name))}, so it may be of somebody else: not used`;
  throw new CliError("local", message, {
    isLasting: true,
    hints: [
      `untrack it: cd ${quoted(top)} && git rm --cached -f ${what}`,
      "unless you made this state, delete its folder as well: the next upload sends all documents again, under the same ids",
    ],
  });
}

/**
 * Checks the state folder and its files, without following links. Throws CliError `local` for
 * anything that a checkout could have added: a link, another kind of file, a file of another
 * user, a file that git tracks. Missing files are accepted.
 */
export function checkStateFolder(folder: string, rules: StateRules): void {
  const stats = statsOf(folder);
  if (!stats) return;
  checkLink(folder, stats);
  if (!stats.isDirectory()) refuseFile(folder);
  // A folder named with --state may belong to another user (a shared disk); its files may not.
  if (isOwnFolder(folder)) checkOwner(folder, stats, rules);
  for (const name of databaseFiles) checkDatabaseFile(join(folder, name), rules);
  checkFile(join(folder, ".gitignore"), rules);
  refuseTracked(folder, rules);
}
