import type { LeftOut } from "../text/left-out.ts";
import { isMap, jsonOf, textOf, type Value, type ValueMap } from "../front-matter/values.ts";

export type MetadataValue = string | string[];

/** One metadata entry with its origin, for `explain`. */
interface MetadataEntry {
  value: MetadataValue;
  origin: string;
}

export type Metadata = Map<string, MetadataEntry>;

function addTexts(values: readonly Value[], target: string[]): void {
  for (const each of values) if (each !== null) target.push(textOf(each) ?? jsonOf(each));
}

/** Receives one metadata entry. */
export type AddEntry = (name: string, value: MetadataValue) => void;

/**
 * Passes the entries of a member to `add`. Text and lists of text stay unchanged; other scalars
 * become JSON text; nested objects are flattened with dots; null is dropped.
 */
export function flatten(name: string, value: Value, add: AddEntry): void {
  if (typeof value === "string") return add(name, value);
  if (value === null) return;
  if (Array.isArray(value)) {
    const texts: string[] = [];
    addTexts(value, texts);
    return add(name, texts);
  }
  if (!isMap(value)) return add(name, value.scalar);
  for (const key of Object.keys(value)) flatten(`${name}.${key}`, value[key] ?? null, add);
}

/** Adds the members of an object, see flatten(). Replaces the value of an existing key. */
export function addMetadata(
  target: Metadata,
  map: ValueMap,
  originOf: (topKey: string) => string,
): void {
  for (const [key, value] of Object.entries(map)) {
    const origin = originOf(key);
    flatten(key, value, (name, each) => target.set(name, { value: each, origin }));
  }
}

/** Tags of a value: a list, or text with commas. */
export function tagsOf(value: Value | undefined): string[] {
  const tags: string[] = [];
  if (value === null || value === undefined) return tags;
  const text = textOf(value);
  const parts: string[] = [];
  if (text === undefined) addTexts(Array.isArray(value) ? value : [value], parts);
  for (const part of text?.split(",") ?? parts) {
    const tag = part.trim();
    if (tag !== "") tags.push(tag);
  }
  return tags;
}

/** A fact about a document that a run reports once for all documents, with their number. */
export interface Notice {
  /**
   * `access`: a front matter key that seems to restrict who may read. `dropped`: a member
   * that the service accepts and drops. `unknown`: a member that the service does not know.
   * `link`: the document has no link. `made`: a template or a style made its link. `deadLink`: it
   * has relative links to no file of the project. `leftOut`: the page shows something that the document lacks.
   * `site`: the configuration of its site does not tell all. `undefined`: it refers to attributes that
   * nothing defines.
   */
  kind:
    | "site"
    | "access"
    | "dropped"
    | "unknown"
    | "link"
    | "made"
    | "deadLink"
    | "leftOut"
    | "undefined";
  /**
   * Key or member: `private`, `chunk_count`; of `link` the reason; of `made` the link; of `site` what is not told; of `undefined`
   * the attribute; of `leftOut` a LeftOutKind.
   */
  name: string;
  /** Of `leftOut`, `undefined` and `deadLink`: how often in the document, and the first, with its line. */
  times?: number;
  example?: string;
}

/** One notice for each kind of what the reader left out, and for each undefined attribute. */
export function leftOutNotices(leftOut: readonly LeftOut[] = []): Notice[] {
  if (leftOut.length === 0) return [];
  const notices = new Map<string, Notice & { times: number }>();
  for (const { kind, what, line } of leftOut) {
    const isNamed = kind === "undefined";
    const key = `${kind} ${isNamed ? what : ""}`;
    const known = notices.get(key);
    const place = line === undefined ? "" : `line ${line}`;
    const example = [place, isNamed ? "" : what].filter((part) => part !== "").join(": ");
    const named = isNamed ? { kind, name: what } : { kind: "leftOut" as const, name: kind };
    if (known) known.times++;
    else notices.set(key, { ...named, times: 1, example });
  }
  return [...notices.values()];
}
