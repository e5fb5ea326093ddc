import type { Database, Statement, Synchronous, SqlValue } from "../../database.ts";
import {
  toAccepted,
  toFailure,
  toFile,
  type AcceptedRecord,
  type FailureRecord,
  type FileRecord,
  acceptedColumns,
  acceptedValues,
  failureColumns,
  failureValues,
  fileColumns,
  fileValues,
  createDoubt,
  type Doubtful,
} from "./records.ts";
import { createOptionsStore, type OptionsStore } from "./options.ts";
import { stateFailure } from "./state-failure.ts";
import { createVerifiedStore, noVerifiedStore, type VerifiedStore } from "./verified.ts";
import { createUploads, noUploads, type Uploads } from "./uploads.ts";
import { marks } from "./tables.ts";

interface StateBatch {
  files?: readonly FileRecord[];
  accepted?: readonly AcceptedRecord[];
  failures?: readonly FailureRecord[];
}

const updatedColumns = acceptedColumns.filter((each) => each !== "target" && each !== "id");

// What was adopted once stays adopted: a later upload does not make it this project's own.
const keptOrigin = "CASE accepted.origin WHEN 'adopted' THEN 'adopted' ELSE excluded.origin END";
// Never REPLACE: it would not fire the triggers for the old row.
const upsertAccepted = `ON CONFLICT (target, id) DO UPDATE
  SET ${updatedColumns.map((each) => `${each} = ${each === "origin" ? keptOrigin : `excluded.${each}`}`).join(", ")}`;

// Stores the target of a file only if `accepted` has the document under that target.
const checkedTarget =
  "(SELECT target FROM accepted WHERE target = ? AND id = ? AND whole = ? AND path = ?)";
const targetAt = fileColumns.indexOf("target");
const checkedRow = fileColumns.map((each) => (each === "target" ? checkedTarget : "?")).join(", ");

function checkedFileValues(each: FileRecord): SqlValue[] {
  const { document, path } = each;
  return fileValues(each).toSpliced(
    targetAt + 1,
    0,
    document?.id ?? null,
    document?.whole ?? null,
    path,
  );
}

/** Whether the batch itself proves the target of a file; the others need a check. */
function createIsProven(accepted: readonly AcceptedRecord[]): (file: FileRecord) => boolean {
  // The last record of each id. A batch with two targets is rare; its files are checked.
  const byId = new Map(accepted.map((each) => [each.id, each]));
  return ({ target, document, path }) => {
    if (target === undefined) return true;
    const found = document && byId.get(document.id);
    if (found?.target !== target || found.path !== path) return false;
    return found.whole === document?.whole;
  };
}

/** Prepares saving of batches, each in one durable transaction, see State. */
function createSave(database: Database): (batch: StateBatch, synchronous?: Synchronous) => void {
  const insert = (into: string, columns: readonly string[], row: string, tail = ""): Statement =>
    database.prepare(`INSERT ${into} (${columns.join(", ")}) VALUES (${row}) ${tail}`);
  const allOf = (columns: readonly string[]): string => marks(columns.length);
  const putProven = insert("OR REPLACE INTO files", fileColumns, allOf(fileColumns));
  const putChecked = insert("OR REPLACE INTO files", fileColumns, checkedRow);
  const ofAccepted = allOf(acceptedColumns);
  const putAccepted = insert("INTO accepted", acceptedColumns, ofAccepted, upsertAccepted);
  const ofFailures = allOf(failureColumns);
  const putFailure = insert("OR REPLACE INTO failures", failureColumns, ofFailures);
  const dropFailure = database.prepare(
    "DELETE FROM failures WHERE target = ? AND path = ? AND part = ?",
  );
  const dropStdinFailure = database.prepare(
    "DELETE FROM failures WHERE target = ? AND path = '' AND part = 0 AND id = ?",
  );
  const anyFailure = database.prepare("SELECT 1 AS yes FROM failures LIMIT 1");
  return ({ files = [], accepted = [], failures = [] }, synchronous) => {
    database.transaction(() => {
      // `accepted` first: the check of the files reads it.
      for (const each of accepted) putAccepted.run(...acceptedValues(each));
      const isProven = createIsProven(accepted);
      for (const each of files) {
        if (isProven(each)) putProven.run(...fileValues(each));
        else putChecked.run(...checkedFileValues(each));
      }
      if (accepted.length > 0 && anyFailure.get()) {
        for (const { target, path, part, id } of accepted) {
          if (path === undefined) dropStdinFailure.run(target, id);
          else dropFailure.run(target, path, part);
        }
      }
      for (const each of failures) putFailure.run(...failureValues(each));
    }, synchronous);
  };
}

/** The state store: one SQLite file; safe to share between processes. */
export interface State {
  file(path: string, part?: number): FileRecord | undefined;
  /** All parts of a file, in order. */
  filesOf(path: string): FileRecord[];
  /**
   * Call it before sending the rows of a file. `ours` count as not sent until they are
   * recorded again; `others` (of other shards) only when they have no record.
   */
  openParts(path: string, ours: readonly number[], others: readonly number[]): void;
  /** Deletes the records of rows after the last row of a file. */
  dropPartsBeyond(path: string, last: number): void;
  accepted(target: string, id: string): AcceptedRecord | undefined;
  /** The accepted records of `ids`, by id. For some hundred ids per call. */
  acceptedOf(target: string, ids: readonly string[]): Map<string, AcceptedRecord>;
  /** Counts recorded files and rows, up to `most`. */
  countFiles(most: number): number;
  /** Whether a target has any accepted record. */
  knows(target: string): boolean;
  /** Records of one target in order of their id. */
  listAccepted(target: string): IterableIterator<AcceptedRecord>;
  listFailures(target: string): IterableIterator<FailureRecord>;
  /** Deletes an accepted record. */
  dropAccepted(target: string, id: string): void;
  /** The options that documents and failures were recorded with. */
  readonly options: OptionsStore;
  readonly uploads: Uploads;
  readonly verified: VerifiedStore;
  /** Keys of the targets that accepted a document with this id. */
  targetsOf(id: string): string[];
  /**
   * Saves in one durable transaction (see Database). Keeps the `target` of a file only if, after
   * this batch, that target has the same version of the document from this file.
   */
  save(batch: StateBatch, synchronous?: Synchronous): void;
  /**
   * Marks records as in doubt before a request that changes the documents, see createDoubt(). With a
   * promise the request waits for it: other machines must see the marks first.
   */
  doubt(documents: readonly Doubtful[]): Promise<void> | undefined;
  /** Makes the folder mark the project root. The first save does this too. */
  markRoot(): void;
  /** Waits until all saves are on disk. */
  sync(): void;
  /** Deletes failures of a target before a time, for the paths that `isWanted` accepts. */
  clearFailures(target: string, beforeMs: number, isWanted: (path: string) => boolean): void;
  /** True for a temporary copy of a read-only state: what is recorded is lost on close. */
  readonly isCopy?: boolean;
  /** The database, for temporary tables. */
  readonly database: Database;
  close(): void;
}

function createAcceptedOf(database: Database): State["acceptedOf"] {
  const statements = new Map<number, Statement>();
  return (target, ids) => {
    if (ids.length === 0) return new Map();
    // Only powers of two, to keep few statements; the list is padded with its first id.
    const length = 2 ** Math.ceil(Math.log2(ids.length));
    let statement = statements.get(length);
    if (!statement) {
      const sql = `SELECT * FROM accepted WHERE target = ? AND id IN (${marks(length)})`;
      statement = database.prepare(sql);
      statements.set(length, statement);
    }
    const paddedIds = Array.from({ length }, (_, index) => ids[index] ?? ids[0] ?? "");
    const rows = statement.all(target, ...paddedIds);
    return new Map(rows.map((row) => [String(row["id"]), toAccepted(row)]));
  };
}

interface StateSettings {
  /** Stores failures only. */
  isTemporary?: boolean;
  /** Called once, before the first record. */
  onRecord?: () => void;
}

/**
 * Creates the state over an open database with tables; `path` is for messages. A temporary
 * state stores only failures, which the run reports at its end.
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
  const countUpTo = database.prepare("SELECT count(*) AS n FROM (SELECT 1 FROM files LIMIT ?)");
  const anyAccepted = database.prepare("SELECT 1 AS yes FROM accepted WHERE target = ? LIMIT 1");
  const listByTarget = database.prepare("SELECT * FROM accepted WHERE target = ? ORDER BY id");
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
    countFiles: (most) => Number(countUpTo.get(most)?.["n"]),
    knows: (target) => anyAccepted.get(target) !== undefined,
    *listAccepted(target) {
      for (const row of listByTarget.iterate(target)) yield toAccepted(row);
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
    uploads: isTemporary ? noUploads : createUploads(database, guarded),
    verified: isTemporary ? noVerifiedStore : createVerifiedStore(database, guarded),
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
      if (!isTemporary && documents.length > 0) {
        guarded(() => database.transaction(() => doubt(documents), "NORMAL"));
      }
      return undefined;
    },
    sync() {
      // Only a writing transaction syncs the disk, including all earlier commits. The value must
      // change: SQLite does not write equal bytes (sqlite3BtreeInsert compares them).
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
