import { hash } from "node:crypto";
import type { Database } from "../../database.ts";
import type { RawSettings, ShapingOption } from "../../documents/map/settings.ts";
import { createLastOptions } from "./by-path.ts";

/**
 * The flags and configuration by which a run selected files and shaped documents.
 * Recorded with each document and each failure. Never contains an API key.
 */
export interface RecordedOptions {
  /** Whether the configured `include` found the files, not a path of the command line. */
  byInclude: boolean;
  /** Whether a flag named the target, which then overrides rules and rows. */
  pairFromFlag: boolean;
  /** Version of the mapping, see mappingVersion. */
  mapping: number;
  /** Flags (in `flags`) and configuration, without the root. */
  settings: Omit<RawSettings, "root">;
  /** Of another state or a report: a format was left out, so these options give other documents. */
  lacksFormat?: true | undefined;
}

/** The options of all recorded runs, each stored once under a number. */
export interface OptionsStore {
  /**
   * Stores new options; returns the number of the options, or undefined when they must not be
   * stored. `json` is from optionsJson().
   */
  store(json: string): number | undefined;
  /** Returns the number of the options; undefined when they are not stored. */
  find(json: string): number | undefined;
  get(number: number | undefined): RecordedOptions | undefined;
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}

/** Serialises options, or a part of them, so that equal ones have equal texts: those of a file have its order. */
export function optionsJson(options: unknown): string {
  return JSON.stringify(options, sortedKeys) ?? "";
}

/**
 * Key of what a command line chose: its flags and its format, with `byPair` also whether it named the pair.
 * The configuration of that time is no part of it.
 */
export function flagsKey({ settings, pairFromFlag }: RecordedOptions, byPair: boolean): string {
  const { flags = {}, format } = settings;
  return optionsJson({ flags, format, pairFromFlag: byPair && pairFromFlag });
}

/** Key of options in exported states and reports: 32 hex digits. */
export function optionsKey(json: string): string {
  return hash("sha256", json, "hex").slice(0, 32);
}

/** Parses options from another state or a report; undefined when invalid. */
export function parseOptions(value: unknown): RecordedOptions | undefined {
  const { byInclude, pairFromFlag, mapping, settings, lacksFormat } = (value ??
    {}) as Partial<RecordedOptions>;
  const isKnown =
    typeof byInclude === "boolean" &&
    typeof pairFromFlag === "boolean" &&
    typeof mapping === "number" &&
    typeof settings === "object" &&
    settings !== null &&
    !Array.isArray(settings);
  if (!isKnown) return undefined;
  const lacking = lacksFormat === true ? { lacksFormat } : {};
  return { byInclude, pairFromFlag, mapping, settings, ...lacking };
}

/** Parses the recorded options. Throws Error for damaged ones. */
function readOptions(json: string): RecordedOptions {
  let options: RecordedOptions | undefined;
  try {
    options = parseOptions(JSON.parse(json));
  } catch {
    // Damaged, or from another program.
  }
  if (!options) throw new Error("its recorded options cannot be read");
  return options;
}

/** Opens the options of a state. Throws what the database throws, and Error for damaged options. */
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
      if (number === undefined) throw new Error("stored options were not found");
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

type Settings = Omit<RawSettings, "root">;

/** Options that shape documents: name in messages, and default. */
const shapingOptions: Readonly<Record<ShapingOption, readonly [name: string, byDefault: string]>> =
  {
    sections: ["sections", "whole"],
    idPrefix: ["id prefix", "none"],
    link: ["link", "none"],
    linkStyle: ["link style", "none"],
    linkBase: ["link base", "none"],
    links: ["links", "rewrite"],
    source: ["source", "file"],
    anchors: ["anchors", "github"],
    maxSectionChars: ["max section chars", "none"],
    updatedAt: ["updated at", "none"],
    owners: ["owners", "none"],
    metaCommit: ["meta commit", "false"],
    versionTag: ["version tag", "false"],
    images: ["images", "skip"],
    drafts: ["drafts", "false"],
    columns: ["map", "none"],
    metadata: ["metadata", "none"],
    tags: ["tags", "none"],
  };

/** Options that are only reported as changed: their values are too long for a line. */
const longOptions: { readonly [Key in keyof Settings]?: string } = {
  rules: "rules",
  frontMatter: "front matter keys",
  format: "format",
  componentAttributes: "component attributes",
  hidden: "hidden text",
  generator: "site generator",
  attributes: "attributes",
};

const maxShownChars = 60;

function textOf(value: unknown, byDefault: string): string {
  if (value === undefined || value === "") return byDefault;
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "object" && value !== null ? optionsJson(value) : String(value);
}

function valueOf(settings: Settings, key: ShapingOption): unknown {
  const [flag, configured] = [settings.flags?.[key], settings[key]];
  // Flags add tags and metadata to the configured ones.
  if (key === "tags") return [...(settings.tags ?? []), ...(settings.flags?.tags ?? [])];
  if (key === "metadata") return { ...settings.metadata, ...settings.flags?.metadata };
  return flag ?? configured;
}

/**
 * Describes how options differ from earlier options, e.g. `sections headings → whole, tags
 * changed`. Returns "" when no option that shapes documents differs.
 */
export function differenceOf(before: RecordedOptions, now: RecordedOptions): string {
  const [old, current] = [before.settings, now.settings];
  const changed = Object.entries(shapingOptions).flatMap(([option, [name, byDefault]]) => {
    const key = option as ShapingOption;
    const [from, to] = [old, current].map((each) => textOf(valueOf(each, key), byDefault));
    if (from === to || from === undefined || to === undefined) return [];
    const isShort = from.length + to.length <= maxShownChars && !/[{\n]/.test(from + to);
    return [isShort ? `${name} ${from || "none"} → ${to || "none"}` : `${name} changed`];
  });
  for (const [key, name] of Object.entries(longOptions)) {
    const [from, to] = [old, current].map((each) => optionsJson(each[key as keyof Settings]));
    if (from !== to) changed.push(`${name} changed`);
  }
  if (before.mapping !== now.mapping)
    changed.push("this version of knowctl maps files differently");
  return changed.join(", ");
}

/** The options recorded with the documents and failures of some targets. */
interface RecordedNumbers {
  /** The numbers of all options. */
  numbers(): number[];
  /** The number of the last options of a file; undefined for a file without a record. */
  of(path: string): number | undefined;
}

/** `keys` are those of the targets. */
export function createRecordedOptions(
  database: Database,
  keys: readonly string[],
): RecordedNumbers {
  const lastOptions = createLastOptions(database);
  return {
    numbers: () =>
      ["accepted", "failures"].flatMap((table) =>
        keys.flatMap((key) =>
          database
            .prepare(`SELECT DISTINCT options FROM ${table} WHERE target = ? AND options NOT NULL`)
            .all(key)
            .map((row) => Number(row["options"])),
        ),
      ),
    of(path) {
      const found = keys.flatMap((key) => lastOptions(key, path) ?? []);
      return found.toSorted((a, b) => b.atMs - a.atMs)[0]?.number;
    },
  };
}

/** The paths of the files of which documents of some targets are recorded. */
export function recordedPaths(database: Database, keys: readonly string[]): string[] {
  return keys.flatMap((key) =>
    database
      .prepare("SELECT DISTINCT path FROM accepted WHERE target = ? AND path > ''")
      .all(key)
      .map((row) => String(row["path"])),
  );
}
