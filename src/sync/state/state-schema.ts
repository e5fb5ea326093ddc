import type { Database } from "../../database.ts";
import { CliError } from "../../errors.ts";

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

/** The tables of a state; for a temporary one this is all it takes. */
export const schema = `
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
CREATE TABLE IF NOT EXISTS unfinished (
  target TEXT NOT NULL, inputs TEXT NOT NULL, part TEXT NOT NULL, started_at INTEGER NOT NULL,
  PRIMARY KEY (target, inputs, part)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS images (
  service TEXT NOT NULL, hash TEXT NOT NULL, file_id TEXT NOT NULL, sent_at INTEGER NOT NULL,
  PRIMARY KEY (service, hash)
) WITHOUT ROWID;
${unmarking("accepted_changed", "UPDATE ON accepted WHEN (OLD.target, OLD.id, OLD.path, OLD.whole) IS NOT (NEW.target, NEW.id, NEW.path, NEW.whole)")}
${unmarking("accepted_dropped", "DELETE ON accepted")}
`;

/** Makes the tables where they are missing. Gives false when the file held none yet. */
export function prepareTables(database: Database, path: string): boolean {
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
