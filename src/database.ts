import {
  openDriver,
  prepareDriver,
  type Driver,
  type DriverValue,
  type Named,
  type OpenDriver,
} from "./driver.ts";
import { CliError, messageOf } from "./errors.ts";

export type SqlValue = DriverValue;
export type Row = Record<string, SqlValue>;

export interface Statement {
  run(...values: SqlValue[]): void;
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  iterate(...values: SqlValue[]): IterableIterator<Row>;
}

/** FULL waits for the disk at each commit (sqlite.org/pragma.html#pragma_synchronous). */
export type Synchronous = "FULL" | "NORMAL";

/** One SQLite file. All calls are synchronous. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /**
   * Runs `body` in one transaction; rolls back and rethrows when it throws. A NORMAL commit
   * survives the end of the process. It survives a power loss only after a later FULL commit.
   */
  transaction<T>(body: () => T, synchronous?: Synchronous): T;
  close(): void;
}

// libsql's get(), and only get(), adds a `_metadata` member to the row (libsql 0.5.29).
function withoutMetadata(row: unknown): Row {
  const { _metadata: _, ...columns } = row as Row;
  return columns;
}

/**
 * Opens (and creates) a SQLite file in WAL mode with full synchronisation:
 * a committed transaction survives `kill -9` and power loss. Waits up to 10 s
 * for another process's write lock. `check` throws for a file that must not be written to. Throws
 * CliError `local` when the file cannot be opened or is not a database.
 */
export async function openDatabase(
  path: string,
  check: (database: Database) => void = () => {},
): Promise<Database> {
  let driver: OpenDriver | undefined;
  try {
    driver = await openDriver(path);
    const database = createDatabase(driver, path);
    await prepareDriver(driver, () => check(database));
    return database;
  } catch (error) {
    driver?.close();
    if (error instanceof CliError) throw error;
    throw new CliError("local", `cannot open the database ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * Opens an existing SQLite file read-only. Waits at most 100 ms for another process's
 * lock. SQLite may create helper files beside it, and removes them again.
 * Throws CliError `local`.
 */
export async function openForReading(path: string): Promise<Database> {
  let driver: OpenDriver | undefined;
  try {
    driver = await openDriver(path);
    // Not the driver's own option: libsql 0.5.29 accepts `readonly` but still writes.
    driver.exec("PRAGMA query_only = 1; PRAGMA trusted_schema = OFF; PRAGMA busy_timeout = 100;");
    return createDatabase(driver, path);
  } catch (error) {
    driver?.close();
    if (error instanceof CliError) throw error;
    throw new CliError("local", `cannot read the database ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * Locks a file for this process; returns the function that releases it, or undefined if another
 * process has the lock. The system releases the lock of a process that was killed. Throws CliError
 * `local` if the file cannot be opened.
 */
export async function lockFile(path: string): Promise<(() => void) | undefined> {
  let driver: OpenDriver | undefined;
  try {
    driver = await openDriver(path);
    driver.exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE");
    return driver.close.bind(driver);
  } catch (error) {
    driver?.close();
    if (error instanceof CliError) throw error;
    if (/locked|busy/i.test(messageOf(error))) return undefined;
    throw new CliError("local", `cannot lock ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Whether an error reports a full or failing disk; its cause is SQLite's error. */
export function isDiskFailure(error: unknown): error is CliError {
  return (
    error instanceof CliError &&
    /^(?:no room for temporary files|cannot use the database .*): /.test(error.message)
  );
}

/**
 * The error of a statement. A full disk is a CliError `local` about temporary files: SQLite opens a
 * file for temporary tables once they outgrow memory; stateFailure() replaces this error where the
 * state's own disk is full. So is a number that JavaScript does not hold: this program writes none.
 */
function explained(error: unknown, path: string): unknown {
  const message = messageOf(error);
  if (/disk I\/O error/.test(message)) {
    return new CliError("local", `cannot use the database ${path}: ${message}`, {
      hints: ["check the disk, then run the command again"],
      cause: error,
    });
  }
  if (/too large to be represented/.test(message)) {
    return new CliError("local", `the records hold a number above 2^53: ${message}`, {
      isLasting: true,
      hints: [
        "the file is damaged, or another program wrote it: restore it from a backup, or move it away",
      ],
      cause: error,
    });
  }
  if (!/disk is full|unable to open database file/.test(message)) return error;
  return new CliError("local", `no room for temporary files: ${message}`, {
    hints: ["free space in the temporary folder, or set TMPDIR to another folder"],
    cause: error,
  });
}

/** Runs a statement; throws its explained error. */
type Explaining = <T>(work: () => T) => T;

function createExplaining(path: string): Explaining {
  return (work) => {
    try {
      return work();
    } catch (error) {
      throw explained(error, path);
    }
  };
}

function* explainedRows(rows: () => Iterable<unknown>, path: string): Generator<Row> {
  try {
    yield* rows() as Iterable<Row>;
  } catch (error) {
    throw explained(error, path);
  }
}

function toNumberedParameters(values: readonly SqlValue[]): [Named] {
  return [Object.fromEntries(values.map((value, index) => [`?${index + 1}`, value]))];
}

function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {
    // Every caller has a comment that explains why it ignores the error.
  }
}

/** Runs `body` in the open transaction; commits, or rolls back and rethrows. */
function commitOrRollBack<T>(driver: Driver, body: () => T, explaining: Explaining): T {
  try {
    const result = body();
    explaining(() => driver.exec("COMMIT"));
    return result;
  } catch (error) {
    // On a full disk SQLite has rolled back already and ROLLBACK fails; keep the first error.
    ignoreErrors(() => driver.exec("ROLLBACK"));
    throw error;
  }
}

/** Wraps a driver and hides the differences between drivers; `path` is for messages. */
export function createDatabase(driver: OpenDriver, path = "in memory"): Database {
  const explaining = createExplaining(path);
  let isOpen = true;
  let currentMode: Synchronous = "FULL";
  const setSynchronous = (mode: Synchronous): void => {
    if (mode === currentMode) return;
    driver.exec(`PRAGMA synchronous = ${mode}`);
    currentMode = mode;
  };
  return {
    exec: (sql) => void explaining(() => driver.exec(sql)),
    prepare(sql) {
      // Few of the statements of a state are used in a run, and SQLite compiles each.
      let prepared: ReturnType<Driver["prepare"]> | undefined;
      const statement = (): ReturnType<Driver["prepare"]> => (prepared ??= driver.prepare(sql));
      const isNamed = !driver.countsNumbered && /\?\d/.test(sql);
      const bind = (values: SqlValue[]): SqlValue[] | [Named] =>
        isNamed ? toNumberedParameters(values) : values;
      // run() of node:sqlite reports the last row id, and throws (Node 26) if no number holds it:
      // the tables of a full-text index have such ids.
      const run = (values: SqlValue[]): unknown =>
        driver.takesArray ? statement().run(values) : statement().all(...bind(values));
      return {
        run: (...values) => void explaining(() => run(values)),
        get(...values) {
          const row = explaining(() => statement().get(...bind(values)));
          return row === undefined || row === null ? undefined : withoutMetadata(row);
        },
        all: (...values) => explaining(() => statement().all(...bind(values))) as Row[],
        iterate: (...values) =>
          explainedRows(() => statement().iterate(...bind(values)) as never, path),
      };
    },
    transaction(body, synchronous = "FULL") {
      try {
        explaining(() => {
          setSynchronous(synchronous);
          driver.exec("BEGIN IMMEDIATE");
        });
        return commitOrRollBack(driver, body, explaining);
      } finally {
        // If this fails, the next transaction sets the mode.
        ignoreErrors(() => setSynchronous("FULL"));
      }
    },
    close() {
      // node:sqlite throws on a second close; libsql does not.
      if (isOpen) driver.close();
      isOpen = false;
    },
  };
}
