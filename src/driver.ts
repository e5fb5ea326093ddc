import { setTimeout as delay } from "node:timers/promises";
import { CliError, codeOf, messageOf } from "./errors.ts";

/** A value as SQLite and JavaScript both have it. */
export type DriverValue = string | number | bigint | Uint8Array | null;
/** Values by the names of their parameters. */
export type Named = Record<string, DriverValue>;

/** What Node's own SQLite and libsql have in common. */
export interface Driver {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: (DriverValue | DriverValue[] | Named)[]): unknown;
    get(...values: (DriverValue | Named)[]): unknown;
    all(...values: (DriverValue | Named)[]): unknown;
    iterate(...values: (DriverValue | Named)[]): unknown;
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

/**
 * Opens (and creates) a SQLite file with Node's own SQLite, or with libsql where that is
 * not there or lacks something. Throws CliError `local` where there is neither.
 */
export async function openDriver(path: string): Promise<OpenDriver> {
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

const withoutSqlite = "there is no SQLite to keep records in";

/** Whether an error says that this machine has no SQLite. */
export function isWithoutSqlite(error: unknown): boolean {
  return error instanceof CliError && error.message === withoutSqlite;
}

/** libsql, or a CliError where it was not installed: it, or its binary for this machine. */
async function loadLibsql(): Promise<new (path: string) => Driver> {
  try {
    const { default: LibsqlDatabase } = (await import("libsql")) as unknown as {
      default: new (path: string) => Driver;
    };
    return LibsqlDatabase;
  } catch (error) {
    throw new CliError("local", withoutSqlite, {
      cause: error,
      hints: [
        "use Node 22.13 or newer, which has SQLite built in",
        "or install knowctl with npm, without --omit=optional: that brings the package libsql",
      ],
    });
  }
}

const lockWaitMs = 10_000;

/**
 * Sets the journal to WAL. While another process does the same to a new file,
 * SQLite gives up at once instead of waiting its busy timeout: it cannot tell
 * the two from a deadlock. So the waiting is done here.
 */
export async function prepareDriver(driver: Driver): Promise<void> {
  // libsql is built to keep temporary tables in memory: a million ids would be there.
  driver.exec(`PRAGMA busy_timeout = ${lockWaitMs}; PRAGMA temp_store = FILE;`);
  const giveUpAt = performance.now() + lockWaitMs;
  for (;;) {
    try {
      driver.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
      return;
    } catch (error) {
      if (!/database is locked/.test(messageOf(error)) || performance.now() > giveUpAt) throw error;
      await delay(5 + Math.random() * 20);
    }
  }
}
