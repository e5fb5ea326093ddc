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
import { openDatabase, type Database } from "../database.ts";
import { CliError, codeOf, messageOf } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import type { OwnerRules } from "../ownership.ts";
import { checkStateFolder, isOwnFolder } from "./state-folder.ts";
import { createState, stateFailure, type State } from "./state.ts";

/** Raised when a stored table changes its meaning; an older tool then refuses the file. */
const schemaVersion = 4;

// The target of a file stands for a look at what is accepted, so it goes with that,
// whoever changes it and by whatever statement. The index files_id finds the file.
const unmarking = (name: string, event: string): string => `
CREATE TRIGGER IF NOT EXISTS ${name} AFTER ${event} BEGIN
  UPDATE files SET target = NULL
  WHERE id IS NOT NULL AND replace(id, ' ', '_') = replace(OLD.id, ' ', '_')
    AND id = OLD.id AND target = OLD.target;
END;`;

const schema = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS files (
  path TEXT NOT NULL, part INTEGER NOT NULL, seen TEXT NOT NULL, content TEXT NOT NULL,
  id TEXT, cc_pair_id INTEGER, whole TEXT, skipped TEXT, target TEXT, PRIMARY KEY (path, part)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_id ON files (replace(id, ' ', '_')) WHERE id IS NOT NULL;
CREATE TABLE IF NOT EXISTS accepted (
  target TEXT NOT NULL, id TEXT NOT NULL, path TEXT, part INTEGER NOT NULL, whole TEXT NOT NULL,
  fields TEXT NOT NULL, updated_at TEXT, stored_id TEXT, sent_at INTEGER NOT NULL,
  options INTEGER, PRIMARY KEY (target, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (
  target TEXT NOT NULL, path TEXT NOT NULL, part INTEGER NOT NULL, id TEXT NOT NULL,
  reason TEXT NOT NULL, retryable INTEGER NOT NULL, status INTEGER, failed_at INTEGER NOT NULL,
  options INTEGER, PRIMARY KEY (target, path, part, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS options (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, json TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS images (
  service TEXT NOT NULL, hash TEXT NOT NULL, file_id TEXT NOT NULL, sent_at INTEGER NOT NULL,
  PRIMARY KEY (service, hash)
) WITHOUT ROWID;
${unmarking("accepted_changed", "UPDATE ON accepted WHEN (OLD.target, OLD.id, OLD.path, OLD.whole) IS NOT (NEW.target, NEW.id, NEW.path, NEW.whole)")}
${unmarking("accepted_dropped", "DELETE ON accepted")}
`;

/** Makes the tables where they are missing. Gives false when the file held none yet. */
function prepareTables(database: Database, path: string): boolean {
  return database.transaction(() => {
    const held = database
      .prepare("SELECT 1 AS yes FROM sqlite_master WHERE type = 'table' AND name = 'meta'")
      .get();
    const row = held && database.prepare("SELECT value FROM meta WHERE key = 'schema'").get();
    const version = row === undefined ? schemaVersion : Number(row["value"]);
    if (version > schemaVersion) {
      throw new CliError("local", `the state ${path} was written by a newer knowctl`, {
        hints: ["update knowctl, or name another folder with --state"],
      });
    }
    // Version 1 never left the workshop; what it recorded is sent once more under the same ids.
    if (version < 2) {
      database.exec("DROP TABLE files; DROP TABLE accepted; DROP TABLE IF EXISTS failures;");
    }
    // Files of version 2 have no target; what is accepted tells of them.
    if (version === 2) database.exec("ALTER TABLE files ADD COLUMN target TEXT;");
    // Of what was recorded before version 4 nobody knows the options.
    if (version === 2 || version === 3) {
      for (const table of ["accepted", "failures"]) {
        database.exec(`ALTER TABLE ${table} ADD COLUMN options INTEGER;`);
      }
    }
    database.exec(schema);
    // Also the test write: a full or read-only disk shows before anything is sent.
    database
      .prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', ?)")
      .run(String(schemaVersion));
    return held !== undefined && version >= 2;
  });
}

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
// root (config/project-mark.ts), so that a run that fails first does not change later ids.
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
