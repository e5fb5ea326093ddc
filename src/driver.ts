import { setTimeout as delay } from "node:timers/promises";
import { CliError, codeOf, messageOf } from "./errors.ts";

/** A value that SQLite and JavaScript both support. */
export type DriverValue = string | number | bigint | Uint8Array | null;
/** Values by parameter name. */
export type Named = Record<string, DriverValue>;

/** The part that node:sqlite and libsql share. */
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
  /** Accepts all values as one array. */
  takesArray: boolean;
  /** Binds `?1` by position, like `?`, and not by name. */
  countsNumbered: boolean;
}

// node:sqlite up to Node 22.19 and 24.6 treats `?1` as a name: binding by position then fails.
function countsNumbered(driver: Driver): boolean {
  try {
    driver.prepare("SELECT ?1 AS value").get(1);
    return true;
  } catch {
    return false;
  }
}

/** Opens node:sqlite; undefined where Node lacks it. Node 22.13 has it without a flag. */
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
 * Opens (and creates) a SQLite file with node:sqlite. Uses libsql where node:sqlite is
 * missing or lacks a feature. Throws CliError `local` when neither is available.
 */
export async function openDriver(path: string): Promise<OpenDriver> {
  const own = await openOwn(path);
  if (own?.countsNumbered) return own;
  // The oldest versions without countsNumbered also lack the full-text search of the sandbox.
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

/** Loads libsql. Throws CliError `local` when it, or its binary for this machine, is missing. */
async function loadLibsql(): Promise<new (path: string) => Driver> {
  try {
    const { default: LibsqlDatabase } = (await import("libsql")) as unknown as {
      default: new (path: string) => Driver;
    };
    return LibsqlDatabase;
  } catch (error) {
    throw new CliError("local", "SQLite is not available, so no records can be kept", {
      isLasting: true,
      cause: error,
      hints: [
        "use Node 22.13 or newer, which has SQLite built in",
        "or install knowctl with npm, without --omit=optional, to add the package libsql",
      ],
    });
  }
}

const lockWaitMs = 10_000;

/**
 * Sets the journal to WAL, and retries for up to 10 s. While another process does the same
 * to a new file, SQLite fails at once instead of waiting for its busy timeout: it cannot
 * distinguish this case from a deadlock. Calls `check` before: the mode is written to the file.
 */
export async function prepareDriver(driver: Driver, check: () => void): Promise<void> {
  // libsql is built to keep temporary tables in memory, even one of a million ids.
  driver.exec(`PRAGMA busy_timeout = ${lockWaitMs}; PRAGMA temp_store = FILE;`);
  const giveUpAt = performance.now() + lockWaitMs;
  for (;;) {
    try {
      check();
      driver.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
      return;
    } catch (error) {
      if (!/database is locked/.test(messageOf(error)) || performance.now() > giveUpAt) throw error;
      await delay(5 + Math.random() * 20);
    }
  }
}
