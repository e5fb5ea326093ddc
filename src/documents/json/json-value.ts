import { droppedKeys, ValueError } from "../front-matter/values.ts";

export type JsonObject = Record<string, unknown>;

const maxDepth = 100;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The type of a value, for messages. */
export function found(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/**
 * Copies a value without members that could reach a prototype. Throws ValueError for text that the
 * service would change, and for too many levels.
 */
export function copyJson(value: unknown, depth = 0): unknown {
  if (depth > maxDepth) throw new ValueError(`more than ${maxDepth} levels`);
  if (typeof value === "string") {
    if (/[\p{Surrogate}\0]/u.test(value)) throw new ValueError("a NUL or half a surrogate pair");
    return value;
  }
  if (Array.isArray(value)) return value.map((item) => copyJson(item, depth + 1));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([key]) => !droppedKeys.has(key));
  return Object.fromEntries(
    members.map(([key, member]) => [String(copyJson(key)), copyJson(member, depth + 1)]),
  );
}
