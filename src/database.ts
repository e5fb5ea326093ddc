import {
  openDriver,
  prepareDriver,
  type Driver,
  type DriverValue,
  type Named,
  type OpenDriver,
} from "./driver.ts";
import { CliError, messageOf } from "./errors.ts";

export { isWithoutSqlite } from "./driver.ts";

export type SqlValue = DriverValue;
export type Row = Record<string, SqlValue>;

export interface Statement {
  run(...values: SqlValue[]): void;
  /** As run(), for hundreds of values at once: libsql takes them as they are. */
  runMany(values: SqlValue[]): void;
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  iterate(...values: SqlValue[]): IterableIterator<Row>;
}

/** Whether a transaction ends when the disk has it (sqlite.org/pragma.html#pragma_synchronous). */
export type Synchronous = "FULL" | "NORMAL";

/** One SQLite file. Everything is synchronous, as SQLite is. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /**
   * Runs `body` in one transaction; rolls back and rethrows when it throws. With NORMAL
   * it survives the end of the process, but not of the machine unless a later one is FULL.
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
 * for another process's write lock. Throws CliError `local` when the file
 * cannot be opened or is not a database.
 */
export async function openDatabase(path: string): Promise<Database> {
  let driver: OpenDriver | undefined;
  try {
    driver = await openDriver(path);
    await prepareDriver(driver);
    return createDatabase(driver);
  } catch (error) {
    driver?.close();
    if (error instanceof CliError) throw error;
    throw new CliError("local", `cannot open the database ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * Opens a SQLite file that is there already, for reading alone; waits hardly for
 * another process's lock. SQLite may put its own helper files beside it and
 * removes them again. Throws CliError `local`.
 */
export async function openForReading(path: string): Promise<Database> {
  let driver: OpenDriver | undefined;
  try {
    driver = await openDriver(path);
    // Not an option of the driver: libsql 0.5.29 takes `readonly` and writes all the same.
    driver.exec("PRAGMA query_only = 1; PRAGMA trusted_schema = OFF; PRAGMA busy_timeout = 100;");
    return createDatabase(driver);
  } catch (error) {
    driver?.close();
    if (error instanceof CliError) throw error;
    throw new CliError("local", `cannot read the database ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Whether an error says that a disk has no room; SQLite's own error is its cause. */
export function isWithoutRoom(error: unknown): error is CliError {
  return error instanceof CliError && error.message.startsWith("no room for temporary files: ");
}

/**
 * Runs a statement. A disk without room is no bug, and where nobody knows better
 * (stateFailure() does) it is the one of temporary tables: SQLite opens their file
 * when they no longer fit into memory.
 */
function onDisk<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!/disk is full|unable to open database file/.test(messageOf(error))) throw error;
    throw new CliError("local", `no room for temporary files: ${messageOf(error)}`, {
      hints: ["make room where they go, or name another folder with TMPDIR"],
      cause: error,
    });
  }
}

function byNumber(values: readonly SqlValue[]): [Named] {
  return [Object.fromEntries(values.map((value, index) => [`?${index + 1}`, value]))];
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The caller says why.
  }
}

/** Ends the transaction that is open: what `body` did stays, or nothing of it when something throws. */
function withinTransaction<T>(driver: Driver, body: () => T): T {
  try {
    const result = body();
    onDisk(() => driver.exec("COMMIT"));
    return result;
  } catch (error) {
    // Of a full disk SQLite has rolled back by itself, and says so; what came first counts.
    attempt(() => driver.exec("ROLLBACK"));
    throw error;
  }
}

/** The database over a driver, with what drivers do differently made alike. */
export function createDatabase(driver: OpenDriver): Database {
  let isOpen = true;
  let waits: Synchronous = "FULL";
  const wait = (synchronous: Synchronous): void => {
    if (synchronous === waits) return;
    driver.exec(`PRAGMA synchronous = ${synchronous}`);
    waits = synchronous;
  };
  return {
    exec: (sql) => void onDisk(() => driver.exec(sql)),
    prepare(sql) {
      const statement = driver.prepare(sql);
      const isNamed = !driver.countsNumbered && /\?\d/.test(sql);
      const given = (values: SqlValue[]): SqlValue[] | [Named] =>
        isNamed ? byNumber(values) : values;
      return {
        run: (...values) => void onDisk(() => statement.run(...given(values))),
        runMany: (values) =>
          void onDisk(() =>
            driver.takesArray ? statement.run(values) : statement.run(...given(values)),
          ),
        get(...values) {
          const row = onDisk(() => statement.get(...given(values)));
          return row === undefined || row === null ? undefined : withoutMetadata(row);
        },
        all: (...values) => onDisk(() => statement.all(...given(values))) as Row[],
        iterate: (...values) => statement.iterate(...given(values)) as IterableIterator<Row>,
      };
    },
    transaction(body, synchronous = "FULL") {
      try {
        onDisk(() => {
          wait(synchronous);
          driver.exec("BEGIN IMMEDIATE");
        });
        return withinTransaction(driver, body);
      } finally {
        // Where this fails, the next transaction does it.
        attempt(() => wait("FULL"));
      }
    },
    close() {
      // node:sqlite throws when it is closed twice, libsql does not.
      if (isOpen) driver.close();
      isOpen = false;
    },
  };
}
