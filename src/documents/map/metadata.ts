import { isMap, jsonOf, textOf, type Value, type ValueMap } from "../front-matter/values.ts";

export type MetadataValue = string | string[];

/** One metadata entry with where it came from, for `explain`. */
export interface MetadataEntry {
  value: MetadataValue;
  origin: string;
}

export type Metadata = Map<string, MetadataEntry>;

function addTexts(values: readonly Value[], target: string[]): void {
  for (const each of values) if (each !== null) target.push(textOf(each) ?? jsonOf(each));
}

/** Takes an entry of metadata. */
export type AddEntry = (name: string, value: MetadataValue) => void;

/**
 * Hands on what a member becomes: text and lists of text as they are, other
 * scalars as JSON text, nested objects flattened with dots, null dropped.
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

/** Adds the members of an object, see flatten(). A key that is there already is replaced. */
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
