import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openDatabase, type Database } from "../../../database.ts";
import { CliError, codeOf, messageOf, writeProblem } from "../../../errors.ts";
import { makeFolder } from "../../../make-folder.ts";
import type { OwnerRules } from "../../../ownership.ts";
import { checkStateFolder, isOwnFolder, refuseTracked, type StateRules } from "./state-folder.ts";
import { checkTables, prepareTables, schema } from "./state-schema.ts";
import { stateFailure } from "../state-failure.ts";
import { createState, type State } from "../state.ts";

/** Removes the rights of other users from a file or folder, unless another user owns it. */
function removeRightsOfOthers(path: string, mode: number, { uid }: OwnerRules): void {
  const stats = lstatSync(path);
  if ((uid < 0 || stats.uid === uid) && (stats.mode & 0o077) !== 0) chmodSync(path, mode);
}

const ignoresAll = "*\n";

function writeIgnore(path: string): void {
  try {
    // "wx" never follows a link and never overwrites the file of a concurrent run.
    writeFileSync(path, ignoresAll, { flag: "wx" });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Whether the folder is for the state alone: another program may have a `state.db` of its own. */
function isForState(folder: string): boolean {
  if (isOwnFolder(folder)) return true;
  try {
    return readFileSync(join(folder, ".gitignore"), "utf8") === ignoresAll;
  } catch {
    return false;
  }
}

function prepareFolder(folder: string, rules: OwnerRules): void {
  try {
    makeFolder(folder, 0o700);
    if (isOwnFolder(folder)) removeRightsOfOthers(folder, 0o700, rules);
    // Only in a folder without other files: with `--state .`, git and the next run would
    // ignore the other files too.
    const isOwn = readdirSync(folder).every((name) => name.startsWith("state.db"));
    if (isOwn) writeIgnore(join(folder, ".gitignore"));
  } catch (error) {
    throw new CliError(
      "local",
      `cannot create the state folder ${folder}: ${writeProblem(codeOf(error))}`,
      {
        hints: ["name a writable folder with --state; an upload also runs with --no-state"],
        cause: error,
      },
    );
  }
}

/** Whether an error says that a database is damaged, in the words of both drivers. */
export function isCorrupt(error: unknown): boolean {
  const cause = error instanceof CliError ? error.cause : error;
  const text = `${codeOf(cause) ?? ""} ${messageOf(cause)}`;
  return /SQLITE_(CORRUPT|NOTADB)|not a database|malformed|no such column|has no column/.test(text);
}

/** A damaged state is moved aside, in a folder of its own; any other file stays as it is. */
function damaged(path: string, isOurs: boolean, error: unknown, now: number): CliError {
  if (!isOurs) {
    return new CliError("local", `${path} is no state, or a damaged one: not used`, {
      isLasting: true,
      hints: ["name another folder with --state; if it was a state, move the file away"],
      cause: error,
    });
  }
  const aside = `${path}.corrupt-${new Date(now).toISOString().replaceAll(":", "-")}`;
  renameSync(path, aside);
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return new CliError("local", `the state ${path} is damaged; moved to ${aside}`, {
    hints: [
      "run again: all documents are sent again under the same ids, without duplicates",
      "or restore the state from a backup",
    ],
    cause: error,
  });
}

/** Opens a state in memory: for `--no-state`, and for a plan without a state. */
export async function openTemporaryState(): Promise<State> {
  const database = await openDatabase(":memory:");
  database.exec(schema);
  return createState(database, ":memory:", { isTemporary: true });
}

/** Error for a command that needs an existing state. */
export function noStateError(folder: string): CliError {
  return new CliError("not-found", `there is no state in ${folder}`, {
    hints: ["name its folder with --state, or the project root with --root"],
  });
}

/**
 * Whether `folder` contains a state. Throws CliError `local` when this cannot be checked:
 * an unreadable state must not count as "nothing sent yet". Also throws for a state that
 * cannot be trusted (see checkStateFolder()).
 */
export function hasState(folder: string, rules: StateRules): boolean {
  checkStateFolder(folder, rules);
  const path = join(folder, "state.db");
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    throw stateFailure(path, error);
  }
}

export interface OpenedState {
  state: State;
  /** The file existed but was empty: the earlier records are lost. */
  wasEmptied: boolean;
}

// Exists beside a new state until the first record. Until then the folder does not mark a project
// root (config/find/places.ts), so that a failed first run does not change later ids.
export const newStateMark = "state.db-new";

/**
 * Opens (and creates) the state in `folder`, and makes git ignore the folder. A damaged
 * file is moved aside, if the folder is for the state alone, and reported as CliError `local`; it never counts as empty. Also
 * throws CliError `local` when the folder or file cannot be written. Throws for a state
 * that cannot be trusted (see checkStateFolder()), without creating or changing anything.
 */
export async function openState(
  folder: string,
  now: () => number,
  rules: StateRules,
): Promise<OpenedState> {
  const path = join(folder, "state.db");
  const existed = hasState(folder, rules);
  // Where a new state would be one that git tracks, the next run would refuse it.
  if (!existed) refuseTracked(folder, rules);
  const isOurs = isForState(folder);
  if (!existed) prepareFolder(folder, rules);
  let database: Database | undefined;
  try {
    const mark = join(folder, newStateMark);
    // With the mark, another process is about to create the tables: nothing is lost.
    const hadRecords = existed && !existsSync(mark);
    if (!existed) writeFileSync(mark, "");
    database = await openDatabase(path, (opened) => checkTables(opened, path));
    if (existed) prepareFolder(folder, rules);
    removeRightsOfOthers(path, 0o600, rules);
    const hadTables = prepareTables(database, path);
    const onRecord = (): void => rmSync(mark, { force: true });
    return {
      state: createState(database, path, { onRecord }),
      wasEmptied: hadRecords && !hadTables,
    };
  } catch (error) {
    database?.close();
    throw isCorrupt(error) ? damaged(path, isOurs, error, now()) : stateFailure(path, error);
  }
}
