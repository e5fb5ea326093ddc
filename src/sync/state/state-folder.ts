import { lstatSync, type Stats } from "node:fs";
import { basename, join, resolve } from "node:path";
import { realPath } from "../../documents/find/root.ts";
import { CliError } from "../../errors.ts";
import { isForeign, type OwnerRules } from "../../ownership.ts";
import { stateFailure } from "./state.ts";

/** Name of the state's folder in a project. */
const ownName = ".knowctl";
const databaseFiles = ["state.db", "state.db-wal", "state.db-shm", "state.db-journal"].concat(
  "state.db-new",
);

/**
 * The folder of `--state`. The person who names it may name a link. A folder with the name of
 * the tool's own is never reached through one: it may have come with a checkout.
 */
export function namedStateFolder(cwd: string, name: string): string {
  const path = resolve(cwd, name);
  return basename(path) === ownName ? path : (realPath(path) ?? path);
}

/** Whether the folder is the tool's own, as in a project: then it is this user's, and nobody else's. */
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

const elsewhere = "or name another folder with --state, or run with --no-state";

function refuse(path: string, problem: string, remedy: string): never {
  throw new CliError("local", `${path} ${problem}: not used`, { hints: [remedy, elsewhere] });
}

function checkOwner(path: string, stats: Stats, rules: OwnerRules): void {
  if (!isForeign(stats, rules)) return;
  throw new CliError("local", `${path} belongs to another user (uid ${stats.uid}): not used`, {
    hints: [
      `take it over: chown -R "$(id -u)" ${path}`,
      "in a container, or with a restored cache: KNOWCTL_TRUST_PROJECT=1",
      elsewhere,
    ],
  });
}

function checkLink(path: string, stats: Stats): void {
  if (!stats.isSymbolicLink()) return;
  refuse(path, "is a symbolic link", "remove the link; what it leads to stays");
}

function checkFile(path: string, rules: OwnerRules): Stats | undefined {
  const stats = statsOf(path);
  if (!stats) return undefined;
  checkLink(path, stats);
  if (!stats.isFile()) refuse(path, "is not a regular file", "remove it");
  checkOwner(path, stats, rules);
  return stats;
}

function checkDatabaseFile(path: string, rules: OwnerRules): void {
  const names = checkFile(path, rules)?.nlink ?? 1;
  // SQLite finds a journal by the name of its database: used under two names, the database breaks.
  if (names > 1) refuse(path, "has a second name (a hard link)", "put a copy in its place");
}

/**
 * Looks at the folder of a state and at the files in it, without following links. Throws CliError
 * `local` for what a checkout could have brought: a link, another kind of file, a file that
 * belongs to another user. What is not there is right.
 */
export function checkStateFolder(folder: string, rules: OwnerRules): void {
  const stats = statsOf(folder);
  if (!stats) return;
  checkLink(folder, stats);
  if (!stats.isDirectory()) refuse(folder, "is not a folder", "remove it");
  // Of a folder that the person named only what lies in it must be theirs, as on a shared disk.
  if (isOwnFolder(folder)) checkOwner(folder, stats, rules);
  for (const name of databaseFiles) checkDatabaseFile(join(folder, name), rules);
  checkFile(join(folder, ".gitignore"), rules);
}
