import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { type Database, lockFile, openDatabase } from "../../database.ts";
import { CliError, messageOf, codeOf, writeProblem } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";

// `passages` stores the texts once; the full-text index stores none (content='').
const schema = `
CREATE TABLE IF NOT EXISTS documents (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  pairs TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT,
  source TEXT NOT NULL,
  link TEXT,
  sections TEXT NOT NULL,
  metadata TEXT NOT NULL,
  owners TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0,
  hidden INTEGER NOT NULL DEFAULT 0,
  unlisted INTEGER NOT NULL DEFAULT 0,
  visible_from INTEGER NOT NULL DEFAULT 0,
  hold INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS documents_waiting ON documents(number) WHERE indexed = 0;
CREATE TABLE IF NOT EXISTS tags (
  document INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (document, key, value)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passages (
  number INTEGER PRIMARY KEY,
  document INTEGER NOT NULL,
  link TEXT,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  marks INTEGER NOT NULL,
  chunk INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS passages_document ON passages(document, chunk);
CREATE VIRTUAL TABLE IF NOT EXISTS passage_index USING fts5(
  title, body, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2'
);
CREATE TABLE IF NOT EXISTS sessions (
  id TEXT PRIMARY KEY,
  name TEXT,
  persona_id INTEGER NOT NULL,
  project_id INTEGER,
  description TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  parent INTEGER,
  latest_child INTEGER,
  type TEXT NOT NULL,
  text TEXT NOT NULL,
  documents TEXT NOT NULL DEFAULT '[]',
  citations TEXT NOT NULL DEFAULT '{}',
  files TEXT NOT NULL DEFAULT '[]',
  error TEXT,
  model TEXT,
  sent_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS messages_session ON messages(session);
CREATE TABLE IF NOT EXISTS feedback (
  message INTEGER PRIMARY KEY,
  is_positive INTEGER,
  text TEXT
);
CREATE TABLE IF NOT EXISTS pairs (id INTEGER PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS document_sets (id INTEGER PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS files (
  file_id TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  mime TEXT NOT NULL,
  kind TEXT NOT NULL,
  project_id INTEGER,
  in_list INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  accessed_at INTEGER
);
PRAGMA user_version = 4;
`;

function unusable(what: string, why: string, cause: unknown): CliError {
  return new CliError("local", `cannot use ${what}: ${why}`, {
    cause,
    hints: ["choose another folder with --data DIR"],
  });
}

/**
 * Opens the sandbox's database file. Creates it and the data folder, for the owner only. Throws
 * CliError `local` if another sandbox uses the folder: each would answer from the other's documents.
 */
export async function openSandboxDatabase(dataFolder: string): Promise<Database> {
  const path = join(dataFolder, "sandbox.sqlite");
  try {
    makeFolder(dataFolder, 0o700);
  } catch (error) {
    const why = existsSync(dataFolder) ? "it is not a folder" : writeProblem(codeOf(error));
    throw unusable(`the data folder ${dataFolder}`, why, error);
  }
  try {
    // SQLite would let everybody read it, which counts in a folder that was there before.
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    throw unusable(`the data file ${path}`, writeProblem(codeOf(error)), error);
  }
  const release = await lockFile(join(dataFolder, "sandbox.lock"));
  if (release === undefined) {
    throw new CliError("local", `another sandbox uses the data folder ${dataFolder}`, {
      hints: ["stop it, or choose another folder with --data DIR"],
    });
  }
  try {
    const database = await openTables(path);
    return {
      ...database,
      close() {
        database.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

async function openTables(path: string): Promise<Database> {
  const database = await openDatabase(path);
  try {
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
    if (version !== 0 && version !== 4) {
      throw new CliError("local", `${path} was created by another version of knowctl`, {
        hints: ["choose another folder with --data DIR"],
      });
    }
    // One commit: each waits for the disk.
    database.transaction(() => database.exec(schema));
    return database;
  } catch (error) {
    database.close();
    if (!/no such module: fts5/.test(messageOf(error))) throw error;
    throw new CliError("local", "the SQLite of this Node has no full-text search", {
      cause: error,
      hints: ["use Node 22.16 or newer, or install knowctl with npm, which adds another SQLite"],
    });
  }
}

interface PendingWrite {
  apply(): void;
  settle(): void;
  fail(error: unknown): void;
}

/**
 * Group commit: writes that arrive together share one transaction. Each write is durable
 * when it is acknowledged, and thousands of writes per second are possible.
 */
export function createCommits(database: Database) {
  let pending: PendingWrite[] = [];

  const commit = (group: readonly PendingWrite[]): void => {
    try {
      database.transaction(() => {
        for (const item of group) item.apply();
      });
      for (const item of group) item.settle();
    } catch (error) {
      // One write failed the group: run each in its own transaction.
      if (group.length === 1) group[0]!.fail(error);
      else for (const item of group) commit([item]);
    }
  };
  const flush = (): void => {
    const group = pending;
    pending = [];
    if (group.length > 0) commit(group);
  };

  return {
    flush,
    /** Runs `apply` in the next transaction; resolves with its value after the commit. */
    submit: <T>(apply: () => T) =>
      new Promise<T>((resolve, reject) => {
        let value: T;
        if (pending.length === 0) setImmediate(flush);
        pending.push({
          apply: () => {
            value = apply();
          },
          settle: () => resolve(value),
          fail: reject,
        });
      }),
  };
}
