import { setTimeout as delay } from "node:timers/promises";
import { CliError, codeOf, messageOf } from "./errors.ts";

export type SqlValue = string | number | bigint | Uint8Array | null;
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

type Named = Record<string, SqlValue>;

interface Driver {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: (SqlValue | SqlValue[] | Named)[]): unknown;
    get(...values: (SqlValue | Named)[]): unknown;
    all(...values: (SqlValue | Named)[]): unknown;
    iterate(...values: (SqlValue | Named)[]): unknown;
  };
  close(): unknown;
}

export interface OpenDriver extends Driver {
  /** Values may be given as one array. */
  takesArray: boolean;
  /** Values are given by their places to `?1` as to `?`, not by name. */
  countsNumbered: boolean;
}

// Node's own takes `?1` for a name up to 22.19 and 24.6, and finds no parameter for a value.
function countsNumbered(driver: Driver): boolean {
  try {
    driver.prepare("SELECT ?1 AS value").get(1);
    return true;
  } catch {
    return false;
  }
}

/** Node's own SQLite, from 22.13 on without a flag: nothing native to ship. */
async function openOwn(path: string): Promise<OpenDriver | undefined> {
  try {
    const { DatabaseSync } = (await import("node:sqlite" as string)) as {
      DatabaseSync: new (path: string) => Driver;
    };
    const driver = new DatabaseSync(path);
    return Object.assign(driver, { takesArray: false, countsNumbered: countsNumbered(driver) });
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ERR_UNKNOWN_BUILTIN_MODULE" && code !== "ERR_MODULE_NOT_FOUND") throw error;
    return undefined;
  }
}

async function openDriver(path: string): Promise<OpenDriver> {
  const own = await openOwn(path);
  if (own?.countsNumbered) return own;
  // Of those that do not, the first have no full-text search for the sandbox either.
  let LibsqlDatabase;
  try {
    LibsqlDatabase = await loadLibsql();
  } catch (error) {
    if (own) return own;
    throw error;
  }
  own?.close();
  return Object.assign(new LibsqlDatabase(path), { takesArray: true, countsNumbered: true });
}

/** libsql, or a CliError where it was not installed: it, or its binary for this machine. */
async function loadLibsql(): Promise<new (path: string) => Driver> {
  try {
    const { default: LibsqlDatabase } = (await import("libsql")) as unknown as {
      default: new (path: string) => Driver;
    };
    return LibsqlDatabase;
  } catch (error) {
    throw new CliError("local", "there is no SQLite to keep records in", {
      cause: error,
      hints: [
        "use Node 22.13 or newer, which has SQLite built in",
        "or install knowctl with npm, without --omit=optional: that brings the package libsql",
      ],
    });
  }
}

// libsql's get(), and only get(), adds a `_metadata` member to the row (libsql 0.5.29).
function withoutMetadata(row: unknown): Row {
  const { _metadata: _, ...columns } = row as Row;
  return columns;
}

const lockWaitMs = 10_000;
const [normal, full] = ["PRAGMA synchronous = NORMAL;", "PRAGMA synchronous = FULL;"];

/**
 * Sets the journal to WAL. While another process does the same to a new file,
 * SQLite gives up at once instead of waiting its busy timeout: it cannot tell
 * the two from a deadlock. So the waiting is done here.
 */
async function prepareDriver(driver: Driver): Promise<void> {
  // libsql is built to keep temporary tables in memory: a million ids would be there.
  driver.exec(`PRAGMA busy_timeout = ${lockWaitMs}; PRAGMA temp_store = FILE;`);
  const giveUpAt = Date.now() + lockWaitMs;
  for (;;) {
    try {
      driver.exec(`PRAGMA journal_mode = WAL; ${full}`);
      return;
    } catch (error) {
      if (!/database is locked/.test(messageOf(error)) || Date.now() > giveUpAt) throw error;
      await delay(5 + Math.random() * 20);
    }
  }
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

/** The database over a driver, with what drivers do differently made alike. */
export function createDatabase(driver: OpenDriver): Database {
  let isOpen = true;
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
      const isFull = synchronous === "FULL";
      onDisk(() => driver.exec(isFull ? "BEGIN IMMEDIATE" : `${normal} BEGIN IMMEDIATE`));
      let result;
      try {
        result = body();
      } catch (error) {
        driver.exec(isFull ? "ROLLBACK" : `ROLLBACK; ${full}`);
        throw error;
      }
      onDisk(() => driver.exec(isFull ? "COMMIT" : `COMMIT; ${full}`));
      return result;
    },
    close() {
      // node:sqlite throws when it is closed twice, libsql does not.
      if (isOpen) driver.close();
      isOpen = false;
    },
  };
}
