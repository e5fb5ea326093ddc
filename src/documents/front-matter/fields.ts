import { CliError } from "../../errors.ts";
import type { FrontMatter } from "./front-matter.ts";
import type { MatterFormat } from "./matter.ts";
import { textOf, type Value } from "./values.ts";

const escapeRegExp = (key: string): string => key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Line of the file (from 1) with a top-level key; the first line of the block if not found. */
export function lineOfKey(frontMatter: FrontMatter, key: string): number {
  const name = escapeRegExp(key);
  const patterns: Record<MatterFormat, RegExp> = {
    yaml: new RegExp(`^(?:\\?[ \\t]+)?["']?${name}["']?[ \\t]*:`),
    toml: new RegExp(`^[ \\t]*\\[*["']?${name}["']?[ \\t]*[=.\\]]`),
    json: new RegExp(`"${name}"[ \\t]*:`),
  };
  const pattern = patterns[frontMatter.format];
  const index = frontMatter.block.split("\n").findIndex((line) => pattern.test(line));
  return frontMatter.firstLine + Math.max(0, index);
}

/** Receives the origin of each field. Only `explain` uses it. */
export type Trace = (field: string, origin: string) => void;

/** Front matter of one file, consumed field by field. Unused keys become metadata. */
export interface Fields {
  /** Returns the first key with a value. Marks it and blank keys before it as used. */
  take(keys: readonly string[]): { key: string; value: Value } | undefined;
  /** Like take(), as one line of text. Throws CliError `usage` for a list or an object. */
  takeText(keys: readonly string[]): { key: string; value: string } | undefined;
  /** The value of a key, used or not. */
  get(key: string): Value | undefined;
  isUsed(key: string): boolean;
  /** For messages: `the front matter`, `the row`. */
  place: string;
  /** For messages: `front matter line 3 (title)`. */
  originOf(key: string): string;
  /** Throws CliError `usage` at the line of a key. */
  fail(key: string, problem: string, hint: string): never;
}

// Failsafe YAML keeps `~` and `null` as text; such a field counts as not set.
const yamlNull = /^\s*(?:~|null)?\s*$/i;
const blank = /^\s*$/;

/** The front matter of `path` as fields. Also works without front matter. */
export function createFields(frontMatter: FrontMatter | undefined, path: string): Fields {
  const data = frontMatter?.data;
  const used = new Set<string>();
  const isNull = frontMatter?.format === "yaml" ? yamlNull : blank;
  const isBlank = (value: Value): boolean => {
    const text = value === null ? "" : textOf(value);
    return text !== undefined && isNull.test(text);
  };
  const line = (key: string): number => (frontMatter ? lineOfKey(frontMatter, key) : 1);
  const noun = frontMatter?.noun;
  const fail = (key: string, problem: string, hint: string): never => {
    const name = `${noun ?? "front matter"} ${key}`;
    throw new CliError("usage", `${path}:${line(key)}:1: ${name}: ${problem}`, {
      hints: [hint],
    });
  };
  const take: Fields["take"] = (keys) => {
    if (!data) return undefined;
    for (const key of keys) {
      const value = data[key];
      if (value === undefined) continue;
      used.add(key);
      if (!isBlank(value)) return { key, value };
    }
    return undefined;
  };
  return {
    take,
    takeText(keys) {
      const taken = take(keys);
      if (!taken) return undefined;
      const text = textOf(taken.value);
      if (text === undefined) return fail(taken.key, "expected text", "write one value");
      return { key: taken.key, value: text.replace(/\s+/g, " ").trim() };
    },
    get: (key) => data?.[key],
    isUsed: (key) => used.has(key),
    place: noun === undefined ? "the front matter" : "the row",
    // Data without source text, for example the properties of a file, has no lines.
    originOf: (key) =>
      frontMatter?.block === ""
        ? `${noun ?? "front matter"} ${key}`
        : `${noun ?? "front matter"} line ${line(key)} (${key})`,
    fail,
  };
}

/** Parses a boolean of front matter; undefined when the text is no boolean. */
export function booleanOf(text: string): boolean | undefined {
  if (/^(?:true|yes|on|1)$/i.test(text)) return true;
  return /^(?:false|no|off|0)$/i.test(text) ? false : undefined;
}

/** Front matter keys by meaning, in order of precedence. */
export interface FrontMatterKeys {
  id: readonly string[];
  title: readonly string[];
  semanticIdentifier: readonly string[];
  link: readonly string[];
  source: readonly string[];
  updatedAt: readonly string[];
  /** Read only if the service stores when a document was created. */
  createdAt: readonly string[];
  owners: readonly string[];
  secondaryOwners: readonly string[];
  /** The primary owners if `owners` has no value, else the secondary owners. */
  authors: readonly string[];
  tags: readonly string[];
  ingest: readonly string[];
  draft: readonly string[];
}

export const defaultKeys: FrontMatterKeys = {
  id: ["id"],
  // Pandoc and Quarto: the title of a page that shows none.
  title: ["title", "pagetitle"],
  semanticIdentifier: ["semantic_identifier"],
  link: ["link", "url", "permalink"],
  source: ["source"],
  updatedAt: ["doc_updated_at", "updated", "lastmod", "last_updated", "date"],
  createdAt: ["doc_created_at", "created", "created_at"],
  owners: ["primary_owners", "owner", "owners"],
  secondaryOwners: ["secondary_owners"],
  authors: ["author", "authors"],
  tags: ["tags", "keywords", "categories"],
  ingest: ["ingest"],
  draft: ["draft"],
};
