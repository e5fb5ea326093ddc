import type { Database } from "../../../database.ts";
import { CliError } from "../../../errors.ts";

/** Raise it when a table changes: a state of another version is refused. */
const schemaVersion = 9;

// files.target is a cached look-up in `accepted`. The triggers clear it on every change of
// `accepted`. The condition on replace() makes SQLite use the index files_id.
const clearTargetTrigger = (name: string, event: string): string => `
CREATE TRIGGER IF NOT EXISTS ${name} AFTER ${event} BEGIN
  UPDATE files SET target = NULL
  WHERE id IS NOT NULL AND replace(id, ' ', '_') = replace(OLD.id, ' ', '_')
    AND id = OLD.id AND target = OLD.target;
END;`;

/** What a shared record has of each table: its kind there, its key, and which rows. */
const sharedTables: readonly [kind: string, table: string, keys: string[], rows?: string][] = [
  ["options", "options", ["key"]],
  ["accepted", "accepted", ["target", "id"]],
  ["failure", "failures", ["target", "path", "part", "id"]],
  ["upload", "uploads", ["target", "inputs"], "ROW.ended = 1"],
  ["file", "files", ["path", "part"], "ROW.content <> ''"],
  ["image", "images", ["service", "hash"]],
  ["check", "verified", ["target", "id"], "ROW.verified_at IS NOT NULL"],
];

// A fresh checkout reads every file again: only what another machine does not know is pushed.
const isNewFile = `AND NOT EXISTS (SELECT 1 FROM files f WHERE f.path = NEW.path AND f.part = NEW.part
    AND f.content = NEW.content AND (f.id, f.cc_pair_id, f.whole, f.skipped)
      IS (NEW.id, NEW.cc_pair_id, NEW.whole, NEW.skipped))`;

// Each change of a state that is shared is noted in the transaction that makes it: what a killed run
// did not push, the next one does. Only states that were shared once have these triggers: SQLite
// reads them all each time it opens a file. The mark tells whether a row changed again while it was pushed.
// Never OR REPLACE: the clause of the statement that fires a trigger counts in the trigger too.
function noteTriggers([kind, table, keys, rows = "TRUE"]: (typeof sharedTables)[number]): string {
  const note = (row: "NEW" | "OLD"): string => {
    const key = `json_array(${keys.map((each) => `${row}.${each}`).join(", ")})`;
    return `DELETE FROM unpushed WHERE kind = '${kind}' AND key = ${key};
  INSERT INTO unpushed (kind, key, at, mark)
    VALUES ('${kind}', ${key}, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER), abs(random() % 1000000007));`;
  };
  const when = (row: "NEW" | "OLD", more = ""): string =>
    `WHEN ${rows.replace("ROW", row)} AND EXISTS (SELECT 1 FROM meta WHERE key = 'shared') ${more}`;
  const trigger = (name: string, event: string, body: string): string =>
    `CREATE TRIGGER IF NOT EXISTS unpushed_${kind}_${name} ${event} BEGIN\n  ${body}\nEND;\n`;
  const isFile = kind === "file";
  const of = isFile ? "OF content, id, cc_pair_id, whole, skipped, path, part" : "";
  return [
    trigger(
      "added",
      `BEFORE INSERT ON ${table} ${when("NEW", isFile ? isNewFile : "")}`,
      note("NEW"),
    ),
    trigger("changed", `AFTER UPDATE ${of} ON ${table} ${when("NEW")}`, note("OLD") + note("NEW")),
    trigger("dropped", `AFTER DELETE ON ${table} ${when("OLD")}`, note("OLD")),
  ].join("");
}

// The index accepted_path lacks documents from stdin, so that a run with files does not read a million
// of them. SQLite chooses it for the condition path > '', but not for path IS NOT NULL.
/** The tables of a state; a temporary state needs nothing else. */
export const schema = `
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS files (
  path TEXT NOT NULL, part INTEGER NOT NULL, seen TEXT NOT NULL, content TEXT NOT NULL,
  id TEXT, cc_pair_id INTEGER, whole TEXT, skipped TEXT, target TEXT, parts TEXT,
  PRIMARY KEY (path, part)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_id ON files (replace(id, ' ', '_')) WHERE id IS NOT NULL;
CREATE TABLE IF NOT EXISTS accepted (
  target TEXT NOT NULL, id TEXT NOT NULL, path TEXT, part INTEGER NOT NULL, whole TEXT NOT NULL,
  fields TEXT NOT NULL, updated_at TEXT, stored_id TEXT, sent_at INTEGER NOT NULL,
  answered_at INTEGER, options INTEGER, origin TEXT, PRIMARY KEY (target, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS accepted_path ON accepted (target, path) WHERE path IS NOT NULL;
CREATE TABLE IF NOT EXISTS failures (
  target TEXT NOT NULL, path TEXT NOT NULL, part INTEGER NOT NULL, id TEXT NOT NULL,
  reason TEXT NOT NULL, retryable INTEGER NOT NULL, status INTEGER, failed_at INTEGER NOT NULL,
  options INTEGER, PRIMARY KEY (target, path, part, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS options (
  number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, json TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS uploads (
  target TEXT NOT NULL, inputs TEXT NOT NULL, part TEXT NOT NULL, started_at INTEGER NOT NULL,
  options INTEGER, ended INTEGER NOT NULL, origin TEXT, PRIMARY KEY (target, inputs, part)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS verified (
  target TEXT NOT NULL, id TEXT NOT NULL, verified_at INTEGER, result TEXT, suspect TEXT,
  PRIMARY KEY (target, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS images (
  service TEXT NOT NULL, hash TEXT NOT NULL, file_id TEXT NOT NULL, sent_at INTEGER NOT NULL,
  PRIMARY KEY (service, hash)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unpushed (
  number INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, at INTEGER NOT NULL,
  mark INTEGER NOT NULL, UNIQUE (kind, key)
);
${clearTargetTrigger("accepted_changed", "UPDATE ON accepted WHEN (OLD.target, OLD.id, OLD.path, OLD.whole) IS NOT (NEW.target, NEW.id, NEW.path, NEW.whole)")}
${clearTargetTrigger("accepted_dropped", "DELETE ON accepted")}
`;

/** The triggers that note changes, which a state has from its first bond on. */
export const notes = sharedTables.map(noteTriggers).join("");

const metaTable = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)";

/** What SQLite keeps of the statements of a script, in sqlite_master. */
function statementsOf(script: string): string[] {
  return script
    .split(/;\s*\n\s*(?=CREATE|$)/)
    .map((statement) => statement.trim().replace(" IF NOT EXISTS ", " "))
    .filter((statement) => statement !== "");
}

const ownStatements = statementsOf(schema);
const allowedStatements: ReadonlySet<unknown> = new Set([...ownStatements, ...statementsOf(notes)]);

/**
 * Returns the statements that made a database. Throws CliError `local` for one that has anything
 * beside what the schema makes: a trigger or view of another hand could change records, or compute
 * for hours.
 */
export function checkSchema(database: Database, path: string): ReadonlySet<unknown> {
  const rows = database
    .prepare("SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL LIMIT 100")
    .all();
  const other = rows.find(({ sql }) => !allowedStatements.has(sql));
  if (!other) return new Set(rows.map(({ sql }) => sql));
  const what = `the ${String(other["type"])} ${String(other["name"]).slice(0, 60)}`;
  throw new CliError("local", `${path} has ${what}, which knowctl did not make: not used`, {
    isLasting: true,
    hints: [
      "it may be of another program or of somebody else: name another folder with --state",
      "or move it away: the next upload sends all documents again, under the same ids",
    ],
  });
}

/**
 * Returns the statements that made the file, none for a new one. Throws CliError `local` for another
 * version, and for what checkSchema() refuses.
 */
export function checkTables(database: Database, path: string): ReadonlySet<unknown> {
  const hasTables = database
    .prepare("SELECT 1 AS yes FROM sqlite_master WHERE name = 'meta' AND sql = ?")
    .get(metaTable);
  const row = hasTables && database.prepare("SELECT value FROM meta WHERE key = 'schema'").get();
  const version = row === undefined ? schemaVersion : Number(row["value"]);
  if (version !== schemaVersion) throw otherVersion(path);
  return checkSchema(database, path);
}

/** Creates missing tables. Returns false when the file had none. Throws as checkTables(). */
export function prepareTables(database: Database, path: string): boolean {
  return database.transaction(() => {
    // Another process may have made the tables since the file was opened.
    const found = checkTables(database, path);
    if (!ownStatements.every((statement) => found.has(statement))) database.exec(schema);
    // Also a test write: a full or read-only disk fails here, before any upload.
    database
      .prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', ?)")
      .run(String(schemaVersion));
    return found.has(metaTable);
  });
}

function otherVersion(path: string): CliError {
  return new CliError("local", `the state ${path} was written by another version of knowctl`, {
    isLasting: true,
    hints: [
      "use the version of knowctl that wrote it",
      "or move the file away and upload again: all documents are sent again under the same ids",
      "or name another folder with --state",
    ],
  });
}
