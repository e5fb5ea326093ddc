import type { Database, Row } from "../database.ts";
import { CliError, codeOf, messageOf } from "../errors.ts";

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
  /** Keys of the targets that accepted a document of this id. */
  targetsOf(id: string): string[];
  /** One durable transaction. */
  save(files: readonly FileRecord[], accepted: readonly AcceptedRecord[]): void;
  /** The database itself, for the plan's temporary table. */
  readonly database: Database;
  close(): void;
}

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

/** A fault of the disk or of SQLite as the error that ends the run. */
export function stateFailure(path: string, error: unknown): CliError {
  if (error instanceof CliError && error.hints.length > 0) return error;
  // An error of openDatabase() names the path already.
  const message =
    error instanceof CliError ? error.message : `cannot use the state ${path}: ${messageOf(error)}`;
  const isLocked = /SQLITE_BUSY|database is locked/.test(`${codeOf(error)} ${messageOf(error)}`);
  return new CliError("local", message, {
    hints: [
      isLocked
        ? "another run has been writing to it for 10 s; wait for it, or see whether it hangs"
        : "check the disk, name another folder with --state, or run with --no-state",
    ],
    cause: error,
  });
}

/** The state over an open database that has the tables; `path` is for messages. */
export function createState(database: Database, path: string): State {
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
    targetsOf: (id) =>
      database
        .prepare("SELECT target FROM accepted WHERE id = ? ORDER BY target")
        .all(id)
        .map((row) => String(row["target"])),
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
        throw stateFailure(path, error);
      }
    },
    close: () => database.close(),
  };
}
