import { isMap, jsonOf, textOf, type Value, type ValueMap } from "./values.ts";

export type MetadataValue = string | string[];

/** One metadata entry with where it came from, for `explain`. */
export interface MetadataEntry {
  value: MetadataValue;
  origin: string;
}

export type Metadata = Map<string, MetadataEntry>;

function listOf(values: readonly Value[]): string[] {
  return values.filter((each) => each !== null).map((each) => textOf(each) ?? jsonOf(each));
}

/**
 * Adds the members of an object: text and lists of text as they are, other
 * scalars as JSON text, nested objects flattened with dots, null dropped.
 * A key that is there already is replaced.
 */
export function addMetadata(
  target: Metadata,
  map: ValueMap,
  originOf: (topKey: string) => string,
  prefix = "",
  topKey?: string,
): void {
  for (const [key, value] of Object.entries(map)) {
    addValue(target, prefix + key, value, originOf, topKey ?? key);
  }
}

/** Adds one member, see addMetadata(). */
export function addValue(
  target: Metadata,
  name: string,
  value: Value,
  originOf: (topKey: string) => string,
  topKey: string,
): void {
  if (typeof value === "string") target.set(name, { value, origin: originOf(topKey) });
  else if (value === null) return;
  else if (isMap(value)) addMetadata(target, value, originOf, `${name}.`, topKey);
  else {
    const flat = Array.isArray(value) ? listOf(value) : textOf(value);
    if (flat !== undefined) target.set(name, { value: flat, origin: originOf(topKey) });
  }
}

/** Tags of a value: a list, or text with commas. */
export function tagsOf(value: Value | undefined): string[] {
  if (value === null || value === undefined) return [];
  const text = textOf(value);
  const tags =
    text === undefined ? listOf(Array.isArray(value) ? value : [value]) : text.split(",");
  return tags.map((tag) => tag.trim()).filter((tag) => tag !== "");
}
