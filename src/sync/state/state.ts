import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { isWithoutRoom, type Database, type Statement, type Synchronous } from "../../database.ts";
import { CliError, codeOf, messageOf, openFilesHint } from "../../errors.ts";
import {
  toAccepted,
  toFailure,
  toFile,
  type AcceptedRecord,
  type FailureRecord,
  type FileRecord,
} from "./records.ts";
import { createDoubt, type Doubtful } from "./doubt.ts";
import { createOptionsStore, type OptionsStore } from "./options.ts";
import { createSave, type StateBatch } from "./save.ts";
import { createUnfinishedRuns, noUnfinishedRuns, type UnfinishedRuns } from "./unfinished.ts";

/** The state store: one SQLite file; safe to share between processes. */
export interface State {
  file(path: string, part?: number): FileRecord | undefined;
  /** All parts of a file, in order. */
  filesOf(path: string): FileRecord[];
  /**
   * Rows of a file are about to be sent: `ours` count as not sent until they are
   * recorded again, `others` unless they are recorded.
   */
  openParts(path: string, ours: readonly number[], others: readonly number[]): void;
  /** Forgets the rows of a file beyond its last. */
  dropPartsBeyond(path: string, last: number): void;
  accepted(target: string, id: string): AcceptedRecord | undefined;
  /** Those of `ids` that are accepted, by id. Some hundreds at once. */
  acceptedOf(target: string, ids: readonly string[]): Map<string, AcceptedRecord>;
  /** How many files are recorded, rows of files included; counts no further than `most`. */
  countFiles(most: number): number;
  /** Whether anything is accepted under a target. */
  knows(target: string): boolean;
  /** Records of one target in order of their id. */
  listAccepted(target: string): IterableIterator<AcceptedRecord>;
  listFailures(target: string): IterableIterator<FailureRecord>;
  /** Forgets that a document was accepted. */
  dropAccepted(target: string, id: string): void;
  /** The options that documents and failures were recorded with. */
  readonly options: OptionsStore;
  readonly unfinished: UnfinishedRuns;
  /** Keys of the targets that accepted a document of this id. */
  targetsOf(id: string): string[];
  /**
   * One durable transaction (see Database). A file's claim of a target is kept only if, with the
   * batch, that target has the document, from this file and as recorded.
   */
  save(batch: StateBatch, synchronous?: Synchronous): void;
  /** Puts recorded documents in doubt, see createDoubt(): before a request that changes them. */
  doubt(documents: readonly Doubtful[]): void;
  /** The folder marks the project root from now on; the first save says so by itself. */
  markRoot(): void;
  /** Waits until the disk has all that was saved. */
  sync(): void;
  /** Forgets failures of a target that are older, of paths for which `isWanted` says so. */
  clearFailures(target: string, beforeMs: number, isWanted: (path: string) => boolean): void;
  /** There is no database: nothing is recorded, and a plan is kept in memory. */
  readonly isRecordless?: boolean;
  /** The database itself, for the plan's temporary tables; it throws where there is none. */
  readonly database: Database;
  close(): void;
}

/** Why a file or its folder cannot be written, where the system says so: SQLite's words do not. */
function denialOf(path: string): string | undefined {
  for (const each of [path, dirname(path)]) {
    try {
      accessSync(each, constants.W_OK);
    } catch (error) {
      const code = codeOf(error) ?? "";
      if (["EROFS", "EACCES", "EPERM"].includes(code)) return messageOf(error);
    }
  }
  return undefined;
}

/** A fault of the disk or of SQLite as the error that ends the run. */
export function stateFailure(path: string, given: unknown): CliError {
  // A full disk is that of the state here, not the one for temporary files.
  const error = isWithoutRoom(given) ? given.cause : given;
  if (error instanceof CliError && error.hints.length > 0) return error;
  // An error of openDatabase() names the path already.
  const told =
    error instanceof CliError ? error.message : `cannot use the state ${path}: ${messageOf(error)}`;
  const denial = denialOf(path);
  const message = denial === undefined ? told : `${told} (${denial})`;
  if (/too many open files/i.test(message)) {
    return new CliError("local", message, { hints: [openFilesHint], cause: error });
  }
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

function createAcceptedOf(database: Database): State["acceptedOf"] {
  const statements = new Map<number, Statement>();
  return (target, ids) => {
    if (ids.length === 0) return new Map();
    // Few lengths, so that few statements are kept; the rest is asked for twice.
    const length = 2 ** Math.ceil(Math.log2(ids.length));
    let statement = statements.get(length);
    if (!statement) {
      const marks = Array.from({ length }, () => "?").join(",");
      statement = database.prepare(`SELECT * FROM accepted WHERE target = ? AND id IN (${marks})`);
      statements.set(length, statement);
    }
    const asked = Array.from({ length }, (_, index) => ids[index] ?? ids[0] ?? "");
    const rows = statement.all(target, ...asked);
    return new Map(rows.map((row) => [String(row["id"]), toAccepted(row)]));
  };
}

interface StateSettings {
  /** Keeps failures only. */
  isTemporary?: boolean;
  /** Called once, before anything is recorded. */
  onRecord?: () => void;
}

/**
 * The state over an open database that has the tables; `path` is for messages. A
 * temporary one keeps failures only, which the run itself tells at its end.
 */
export function createState(
  database: Database,
  path: string,
  { isTemporary = false, onRecord = () => {} }: StateSettings = {},
): State {
  let isMarked = isTemporary;
  const markRoot = (): void => {
    if (!isMarked) onRecord();
    isMarked = true;
  };
  const file = database.prepare("SELECT * FROM files WHERE path = ? AND part = ?");
  const accepted = database.prepare("SELECT * FROM accepted WHERE target = ? AND id = ?");
  const count = database.prepare("SELECT count(*) AS n FROM (SELECT 1 FROM files LIMIT ?)");
  const any = database.prepare("SELECT 1 AS yes FROM accepted WHERE target = ? LIMIT 1");
  const list = database.prepare("SELECT * FROM accepted WHERE target = ? ORDER BY id");
  const failures = database.prepare("SELECT * FROM failures WHERE target = ? ORDER BY path, part");
  const targetsOf = database.prepare("SELECT target FROM accepted WHERE id = ? ORDER BY target");
  const allParts = database.prepare("SELECT * FROM files WHERE path = ? ORDER BY part");
  const dropParts = database.prepare("DELETE FROM files WHERE path = ? AND part > ?");
  const placeholder = "INTO files (path, part, seen, content) VALUES (?, ?, '', '')";
  const openPart = database.prepare(`INSERT OR REPLACE ${placeholder}`);
  const keepPart = database.prepare(`INSERT OR IGNORE ${placeholder}`);
  const save = createSave(database);
  const options = createOptionsStore(database);
  const doubt = createDoubt(database);
  const guarded = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw stateFailure(path, error);
    }
  };
  return {
    database,
    file(filePath, part = 0) {
      const row = file.get(filePath, part);
      return row && toFile(row);
    },
    filesOf: (filePath) => allParts.all(filePath).map(toFile),
    openParts(filePath, ours, others) {
      if (isTemporary) return;
      guarded(() => {
        database.transaction(() => {
          for (const part of ours) openPart.run(filePath, part);
          for (const part of others) keepPart.run(filePath, part);
        });
      });
    },
    dropPartsBeyond(filePath, last) {
      if (!isTemporary) guarded(() => dropParts.run(filePath, last));
    },
    accepted(target, id) {
      const row = accepted.get(target, id);
      return row && toAccepted(row);
    },
    acceptedOf: createAcceptedOf(database),
    countFiles: (most) => Number(count.get(most)?.["n"]),
    knows: (target) => any.get(target) !== undefined,
    *listAccepted(target) {
      for (const row of list.iterate(target)) yield toAccepted(row);
    },
    *listFailures(target) {
      for (const row of failures.iterate(target)) yield toFailure(row);
    },
    dropAccepted(target, id) {
      guarded(() =>
        database.prepare("DELETE FROM accepted WHERE target = ? AND id = ?").run(target, id),
      );
    },
    options: {
      ...options,
      store: (json) => guarded(() => options.store(json)),
      get: (number) => guarded(() => options.get(number)),
    },
    unfinished: isTemporary ? noUnfinishedRuns : createUnfinishedRuns(database, guarded),
    targetsOf: (id) => targetsOf.all(id).map((row) => String(row["target"])),
    save(batch, synchronous) {
      if (isTemporary) batch = { failures: batch.failures ?? [] };
      if (Object.values(batch).every((records: readonly unknown[]) => records.length === 0)) return;
      guarded(() => {
        markRoot();
        save(batch, synchronous);
      });
    },
    markRoot: () => guarded(markRoot),
    doubt(documents) {
      if (isTemporary || documents.length === 0) return;
      guarded(() => database.transaction(() => doubt(documents), "NORMAL"));
    },
    sync() {
      // Only a transaction that writes waits for the disk, with all before it; and what is as
      // it was is not written (sqlite3BtreeInsert compares the bytes).
      const write = `INSERT INTO meta (key, value) VALUES ('syncs', 1)
        ON CONFLICT (key) DO UPDATE SET value = value + 1`;
      if (!isTemporary) guarded(() => database.transaction(() => database.exec(write)));
    },
    clearFailures(target, beforeMs, isWanted) {
      guarded(() => {
        const old = database.prepare(
          "SELECT DISTINCT path FROM failures WHERE target = ? AND failed_at < ?",
        );
        const drop = database.prepare(
          "DELETE FROM failures WHERE target = ? AND path = ? AND failed_at < ?",
        );
        const paths = old.all(target, beforeMs).map((row) => String(row["path"]));
        database.transaction(() => {
          for (const each of paths.filter(isWanted)) drop.run(target, each, beforeMs);
        });
      });
    },
    close: () => database.close(),
  };
}
