import { hash } from "node:crypto";
import type { Database } from "../../database.ts";
import type { RawSettings } from "../../documents/map/settings.ts";

/**
 * How a run selected files and shaped their documents: what flags and configuration said.
 * It is recorded with each document and each failure, and never holds a key.
 */
export interface RecordedOptions {
  /** Whether the configured `include` found the files, not a path of the command line. */
  byInclude: boolean;
  /** Whether a flag named the target, which then wins over rules and rows. */
  pairFromFlag: boolean;
  /** Version of the mapping, see mappingVersion. */
  mapping: number;
  /** Flags and configuration; the flags are in `flags`. The root is not among them. */
  settings: Omit<RawSettings, "root">;
}

/** The options of the runs that one state knows, each stored once under a number. */
export interface OptionsStore {
  /** The number of these options; they are stored when they are new. `json` is optionsJson(). */
  store(json: string): number;
  /** The number of these options; undefined when they are not stored. */
  find(json: string): number | undefined;
  get(number: number | undefined): RecordedOptions | undefined;
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}

/** The options as text: the same for the same options, whatever the order of their members. */
export function optionsJson(options: RecordedOptions): string {
  return JSON.stringify(options, sortedKeys);
}

/** Identifies options in exported states and in reports: 32 hex digits. */
export function optionsKey(json: string): string {
  return hash("sha256", json, "hex").slice(0, 32);
}

/** Reads options that another state or a report holds; undefined for what is none. */
export function parseOptions(value: unknown): RecordedOptions | undefined {
  const { byInclude, pairFromFlag, mapping, settings } = (value ?? {}) as Partial<RecordedOptions>;
  const isKnown =
    typeof byInclude === "boolean" &&
    typeof pairFromFlag === "boolean" &&
    typeof mapping === "number" &&
    typeof settings === "object" &&
    settings !== null;
  return isKnown ? { byInclude, pairFromFlag, mapping, settings } : undefined;
}

function readOptions(json: string): RecordedOptions {
  let options: RecordedOptions | undefined;
  try {
    options = parseOptions(JSON.parse(json));
  } catch {
    // Damaged, or written by somebody else.
  }
  if (!options) throw new Error("its recorded options cannot be read");
  return options;
}

/** The options of a state. Throws what the database throws, and an Error for options that are none. */
export function createOptionsStore(database: Database): OptionsStore {
  const select = database.prepare("SELECT number FROM options WHERE key = ?");
  const byNumber = database.prepare("SELECT json FROM options WHERE number = ?");
  const insert = database.prepare("INSERT OR IGNORE INTO options (key, json) VALUES (?, ?)");
  const known = new Map<number, RecordedOptions>();
  const find = (json: string): number | undefined => {
    const row = select.get(optionsKey(json));
    return row && Number(row["number"]);
  };
  return {
    find,
    store(json) {
      const before = find(json);
      if (before !== undefined) return before;
      database.transaction(() => insert.run(optionsKey(json), json));
      const number = find(json);
      if (number === undefined) throw new Error("options that were stored are not there");
      return number;
    },
    get(number) {
      if (number === undefined) return undefined;
      let options = known.get(number);
      if (!options) {
        const row = byNumber.get(number);
        if (!row) return undefined;
        known.set(number, (options = readOptions(String(row["json"]))));
      }
      return options;
    },
  };
}
