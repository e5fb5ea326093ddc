import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { openDatabase, type Database, type Row } from "../database.ts";
import { CliError, codeOf, messageOf } from "../errors.ts";

/** Raised when a stored table changes its meaning; an older tool then refuses the file. */
const schemaVersion = 1;

/**
 * What reading a file gave the last time, valid while its stamp and mapping are
 * the same. Like an entry of git's index: lets an unchanged file stay unread.
 */
export interface FileRecord {
  path: string;
  stamp: string;
  mapping: string;
  /** Milliseconds since the epoch, taken before the file was read. */
  seenAtMs: number;
  /** The document the file gave, or why it gives none. */
  document: { id: string; ccPairId: number | undefined; whole: string; fields: string } | undefined;
  skipped: string | undefined;
}

/** What the service accepted with HTTP 200 under one target and id. */
export interface AcceptedRecord {
  target: string;
  id: string;
  path: string | undefined;
  whole: string;
  fields: string;
  sentAtMs: number;
}

/** The state store: one SQLite file; safe to share between processes. */
export interface State {
  file(path: string): FileRecord | undefined;
  accepted(target: string, id: string): AcceptedRecord | undefined;
  /** Records of one target in order of their id. */
  listAccepted(target: string): IterableIterator<AcceptedRecord>;
  /** One durable transaction. */
  save(files: readonly FileRecord[], accepted: readonly AcceptedRecord[]): void;
  /** The database itself, for the plan's temporary table. */
  readonly database: Database;
  close(): void;
}

const schema = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS files (
  path TEXT PRIMARY KEY, stamp TEXT NOT NULL, mapping TEXT NOT NULL, seen_at INTEGER NOT NULL,
  id TEXT, cc_pair_id INTEGER, whole TEXT, fields TEXT, skipped TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS accepted (
  target TEXT NOT NULL, id TEXT NOT NULL, path TEXT, whole TEXT NOT NULL, fields TEXT NOT NULL,
  sent_at INTEGER NOT NULL, PRIMARY KEY (target, id)
) WITHOUT ROWID;
`;

function optionalText(value: Row[string]): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

function toFile(row: Row): FileRecord {
  const id = optionalText(row["id"] ?? null);
  return {
    path: String(row["path"]),
    stamp: String(row["stamp"]),
    mapping: String(row["mapping"]),
    seenAtMs: Number(row["seen_at"]),
    skipped: optionalText(row["skipped"] ?? null),
    document:
      id === undefined
        ? undefined
        : {
            id,
            ccPairId: row["cc_pair_id"] === null ? undefined : Number(row["cc_pair_id"]),
            whole: String(row["whole"]),
            fields: String(row["fields"]),
          },
  };
}

function toAccepted(row: Row): AcceptedRecord {
  return {
    target: String(row["target"]),
    id: String(row["id"]),
    path: optionalText(row["path"] ?? null),
    whole: String(row["whole"]),
    fields: String(row["fields"]),
    sentAtMs: Number(row["sent_at"]),
  };
}

function checkVersion(database: Database, path: string): void {
  database.exec(schema);
  const row = database.prepare("SELECT value FROM meta WHERE key = 'schema'").get();
  const version = row === undefined ? schemaVersion : Number(row["value"]);
  if (version > schemaVersion) {
    throw new CliError("local", `the state ${path} was written by a newer knowctl`, {
      hints: ["update knowctl, or name another folder with --state"],
    });
  }
  // Also the test write: a full or read-only disk shows before anything is sent.
  database
    .prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', ?)")
    .run(String(schemaVersion));
}

function prepareFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const ignore = join(folder, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
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

function failure(path: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  return new CliError("local", `cannot use the state ${path}: ${messageOf(error)}`, {
    hints: ["check the disk, name another folder with --state, or run with --no-state"],
    cause: error,
  });
}

function createState(database: Database, path: string): State {
  const file = database.prepare("SELECT * FROM files WHERE path = ?");
  const accepted = database.prepare("SELECT * FROM accepted WHERE target = ? AND id = ?");
  const list = database.prepare("SELECT * FROM accepted WHERE target = ? ORDER BY id");
  const putFile = database.prepare("INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?,?)");
  const putAccepted = database.prepare("INSERT OR REPLACE INTO accepted VALUES (?,?,?,?,?,?)");
  return {
    database,
    file(filePath) {
      const row = file.get(filePath);
      return row && toFile(row);
    },
    accepted(target, id) {
      const row = accepted.get(target, id);
      return row && toAccepted(row);
    },
    *listAccepted(target) {
      for (const row of list.iterate(target)) yield toAccepted(row);
    },
    save(files, acceptedRecords) {
      if (files.length === 0 && acceptedRecords.length === 0) return;
      try {
        database.transaction(() => {
          for (const each of files) {
            const { document } = each;
            putFile.run(
              each.path,
              each.stamp,
              each.mapping,
              each.seenAtMs,
              document?.id ?? null,
              document?.ccPairId ?? null,
              document?.whole ?? null,
              document?.fields ?? null,
              each.skipped ?? null,
            );
          }
          for (const each of acceptedRecords) {
            const { target, id, whole, fields, sentAtMs } = each;
            putAccepted.run(target, id, each.path ?? null, whole, fields, sentAtMs);
          }
        });
      } catch (error) {
        throw failure(path, error);
      }
    },
    close: () => database.close(),
  };
}

/** A state that lives in memory only: for `--no-state`, and for a plan where none exists yet. */
export async function openTemporaryState(): Promise<State> {
  const database = await openDatabase(":memory:");
  database.exec(schema);
  return createState(database, ":memory:");
}

/** Whether `folder` holds a state already. */
export function hasState(folder: string): boolean {
  return existsSync(join(folder, "state.db"));
}

/**
 * Opens (and creates) the state in `folder`, which git is told to ignore. A
 * damaged file is moved aside and reported as CliError `local`: it is never
 * silently taken for an empty one. Throws CliError `local` too when the folder
 * or file cannot be written.
 */
export async function openState(folder: string, now: () => number): Promise<State> {
  prepareFolder(folder);
  const path = join(folder, "state.db");
  let database: Database | undefined;
  try {
    database = await openDatabase(path);
    chmodSync(path, 0o600);
    checkVersion(database, path);
    return createState(database, path);
  } catch (error) {
    database?.close();
    throw isCorrupt(error) ? moveAside(path, error, now()) : failure(path, error);
  }
}
