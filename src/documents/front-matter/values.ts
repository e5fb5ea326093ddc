import { TomlDate } from "smol-toml";

/** A front matter value, the same type for all formats. YAML scalars are text as written. */
export type Value = string | Scalar | null | Value[] | ValueMap;
export type ValueMap = { [key: string]: Value };

/** A JSON or TOML scalar that is not a string, as its JSON text. */
export interface Scalar {
  readonly scalar: string;
}

/** Copying `__proto__` into an ordinary object would change its prototype. */
export const droppedKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

// An alias bomb of 478 bytes expands to more nodes than fit into memory. So the limit counts the
// nodes after expansion.
const maxNodes = 2000;

/** Data that cannot become a Value. The message names the invalid content. */
export class ValueError extends Error {}

export function isScalar(value: Value): value is Scalar {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.getPrototypeOf(value) === scalarPrototype
  );
}

const scalarPrototype: object = Object.freeze({ isScalar: true });

function scalar(text: string): Scalar {
  return Object.assign(Object.create(scalarPrototype) as object, { scalar: text });
}

export function isMap(value: Value): value is ValueMap {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isScalar(value);
}

// Escapes can produce characters that a file must not contain; the service would strip them.
function checkText(text: string): string {
  if (/[\p{Surrogate}\0]/u.test(text)) throw new ValueError("a NUL or half a surrogate pair");
  return text;
}

/**
 * Copies parsed data into a Value, within the node budget. Objects get no
 * prototype; `__proto__`, `constructor` and `prototype` are dropped.
 * Throws ValueError.
 */
export function toValue(parsed: unknown): Value {
  let nodes = 0;
  const copy = (item: unknown): Value => {
    if (++nodes > maxNodes) throw new ValueError(`more than ${maxNodes} values`);
    if (typeof item === "string") return checkText(item);
    if (item === null || item === undefined) return null;
    if (item instanceof TomlDate) return item.toISOString();
    if (Array.isArray(item)) return item.map(copy);
    if (typeof item !== "object") return scalar(String(item));
    const map = Object.create(null) as ValueMap;
    for (const [key, member] of Object.entries(item)) {
      if (!droppedKeys.has(key)) map[checkText(key)] = copy(member);
    }
    return map;
  };
  return copy(parsed);
}

/** Text of a single value; undefined for null, lists and objects. */
export function textOf(value: Value | undefined): string | undefined {
  if (typeof value === "string") return value;
  return value !== undefined && value !== null && isScalar(value) ? value.scalar : undefined;
}

/** JSON text of a value, for list items that are lists or objects. */
export function jsonOf(value: Value): string {
  return JSON.stringify(value, (_key, member: Value) =>
    // Numbers and booleans keep their JSON type.
    member !== null && isScalar(member) ? scalarJson(member.scalar) : member,
  );
}

function scalarJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

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
