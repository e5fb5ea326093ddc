import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type Database } from "../../database.ts";
import { CliError, codeOf, messageOf } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";
import type { OwnerRules } from "../../ownership.ts";
import { checkStateFolder, isOwnFolder } from "./state-folder.ts";
import { prepareTables, schema } from "./state-schema.ts";
import { createState, stateFailure, type State } from "./state.ts";

/** Takes the rights of others from a file or folder; those of another owner are not ours to change. */
function closeToOthers(path: string, mode: number, { uid }: OwnerRules): void {
  const stats = lstatSync(path);
  if ((uid < 0 || stats.uid === uid) && (stats.mode & 0o077) !== 0) chmodSync(path, mode);
}

function writeIgnore(path: string): void {
  try {
    // Never through a link, nor over what another run has just written.
    writeFileSync(path, "*\n", { flag: "wx" });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function prepareFolder(folder: string, rules: OwnerRules): void {
  try {
    makeFolder(folder, 0o700);
    if (isOwnFolder(folder)) closeToOthers(folder, 0o700, rules);
    // Only in a folder of its own: beside other files, as with `--state .`, git and
    // the next run would ignore those as well.
    const isOwn = readdirSync(folder).every((name) => name.startsWith("state.db"));
    if (isOwn) writeIgnore(join(folder, ".gitignore"));
  } catch (error) {
    throw new CliError("local", `cannot create the state folder ${folder}: ${messageOf(error)}`, {
      hints: ["name a writable folder with --state, or run with --no-state"],
      cause: error,
    });
  }
}

// SQLite's words for a file that is no database, in both drivers.
function isCorrupt(error: unknown): boolean {
  const cause = error instanceof CliError ? error.cause : error;
  const text = `${codeOf(cause) ?? ""} ${messageOf(cause)}`;
  return /SQLITE_(CORRUPT|NOTADB)|not a database|malformed|no such column|has no column/.test(text);
}

function moveAside(path: string, error: unknown, now: number): CliError {
  const aside = `${path}.corrupt-${new Date(now).toISOString().replaceAll(":", "-")}`;
  renameSync(path, aside);
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
  return new CliError("local", `the state ${path} is damaged; moved to ${aside}`, {
    hints: [
      "run again: everything is sent once more under the same ids, so nothing is duplicated",
      "or bring the state back from a copy",
    ],
    cause: error,
  });
}

/** A state that lives in memory only: for `--no-state`, and for a plan where none exists yet. */
export async function openTemporaryState(): Promise<State> {
  const database = await openDatabase(":memory:");
  database.exec(schema);
  return createState(database, ":memory:", { isTemporary: true });
}

/**
 * An empty state in a file that nobody else sees and that goes when it is closed:
 * as large as may be, in little memory. Not in a database without a name, which
 * libsql keeps in memory. Throws CliError `local`.
 */
export async function openScratchState(): Promise<State> {
  let folder: string;
  try {
    folder = mkdtempSync(join(tmpdir(), "knowctl-"));
  } catch (error) {
    throw new CliError("local", `cannot write to ${tmpdir()}: ${messageOf(error)}`, {
      hints: ["name another folder for temporary files with TMPDIR"],
      cause: error,
    });
  }
  const remove = (): void => {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // Open files cannot be removed everywhere; the next call may.
    }
  };
  try {
    const database = await openDatabase(join(folder, "state.db"));
    database.exec(schema);
    // It has no name from here on: nothing is left behind, however the process ends.
    remove();
    const state = createState(database, "(temporary)", { isTemporary: true });
    return {
      ...state,
      close() {
        state.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** For what only a state that is there can tell. */
export function noStateError(folder: string): CliError {
  return new CliError("not-found", `there is no state in ${folder}`, {
    hints: ["name its folder with --state, or the project root with --root"],
  });
}

/**
 * Whether `folder` holds a state already. Throws CliError `local` where that
 * cannot be told: a state that may not be looked at is not "nothing sent yet";
 * and for one that is not to be believed (see checkStateFolder()).
 */
export function hasState(folder: string, rules: OwnerRules): boolean {
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
  /** There was a file, but nothing in it: what was recorded before is lost. */
  wasEmptied: boolean;
}

// Stands beside a new state until something is recorded: until then the folder marks no project
// root (config/find/project-mark.ts), so that a run that fails first does not change later ids.
const nothingRecorded = "state.db-new";

/**
 * Opens (and creates) the state in `folder`, which git is told to ignore. A
 * damaged file is moved aside and reported as CliError `local`: it is never
 * silently taken for an empty one. Throws CliError `local` too when the folder
 * or file cannot be written, and for one that is not to be believed (see
 * checkStateFolder()): then nothing is made or changed.
 */
export async function openState(
  folder: string,
  now: () => number,
  rules: OwnerRules,
): Promise<OpenedState> {
  const path = join(folder, "state.db");
  const existed = hasState(folder, rules);
  prepareFolder(folder, rules);
  let database: Database | undefined;
  try {
    const mark = join(folder, nothingRecorded);
    if (!existed) writeFileSync(mark, "");
    database = await openDatabase(path);
    closeToOthers(path, 0o600, rules);
    const heldTables = prepareTables(database, path);
    const onRecord = (): void => rmSync(mark, { force: true });
    return { state: createState(database, path, { onRecord }), wasEmptied: existed && !heldTables };
  } catch (error) {
    database?.close();
    throw isCorrupt(error) ? moveAside(path, error, now()) : stateFailure(path, error);
  }
}
