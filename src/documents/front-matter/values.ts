import { TomlDate } from "smol-toml";
import type { Owner } from "../../api/schemas.ts";

/** A front matter value, the same type for all formats. YAML scalars are text as written. */
export type Value = string | Scalar | null | Value[] | ValueMap;
export type ValueMap = { [key: string]: Value };

/** A JSON or TOML scalar that is not a string, as its JSON text. */
interface Scalar {
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
export function toValue(parsed: unknown, mostNodes = maxNodes): Value {
  let nodes = 0;
  const copy = (item: unknown): Value => {
    if (++nodes > mostNodes) throw new ValueError(`more than ${mostNodes} values`);
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

/** The texts of a list, or of one value. */
export const textsOf = (value: Value | undefined): string[] =>
  (Array.isArray(value) ? value : [value]).map(textOf).filter((each) => each !== undefined);

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
  if (typeof value === "string") return checkText(value);
  if (Array.isArray(value)) return value.map((item) => copyJson(item, depth + 1));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([key]) => !droppedKeys.has(key));
  return Object.fromEntries(
    members.map(([key, member]) => [String(copyJson(key)), copyJson(member, depth + 1)]),
  );
}

const pattern =
  /^(\d{4})([-/])(\d{2})\2(\d{2})(?:[Tt ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

// Dates that need no calculation: days that every month has, in UTC, in whole seconds.
const simpleDate =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ)?$/;

export const monthNames =
  "January February March April May June July August September October November December".split(
    " ",
  );
export const weekdayNames = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const writtenDate =
  /^(?:([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,|(\d{1,2})(?:st|nd|rd|th)? ([a-z]{3,9})\.?,?) (\d{4})$/i;

/** A date with the English name of its month as `YYYY-MM-DD`; any other text as it is. */
function inDigits(text: string): string {
  const [all, month = "", day = "", dayFirst = day, after = month, year] =
    writtenDate.exec(text) ?? [];
  const written = after.toLowerCase();
  const number = monthNames.findIndex((each) => each.toLowerCase().startsWith(written)) + 1;
  if (all === undefined || number === 0) return text;
  return [year, String(number).padStart(2, "0"), dayFirst.padStart(2, "0")].join("-");
}

function offsetMinutes(zone: string | undefined): number {
  // No zone means UTC: the document must not depend on the machine that reads it.
  if (zone === undefined || zone === "" || /^z$/i.test(zone)) return 0;
  const digits = zone.slice(1).replace(":", "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return zone.startsWith("-") ? -minutes : minutes;
}

/**
 * Converts a date to ISO 8601 in UTC with `Z`. Accepts `YYYY-MM-DD` (midnight) and RFC 3339, also
 * with `/` between year, month and day, a space for the `T`, an hour of one digit (yaml.org,
 * "Timestamp"), without seconds or without a zone (then UTC), and a day of a month by its English
 * name. Undefined for everything else, also for the 30th of February: no guessing.
 */
export function parseDate(text: string): string | undefined {
  if (simpleDate.test(text)) return text.length === 10 ? `${text}T00:00:00Z` : text;
  const match = pattern.exec(inDigits(text.trim()));
  if (!match) return undefined;
  const [, year, , month, day, hour = "00", minute = "00", second = "00", fraction = "", zone] =
    match;
  const offset = offsetMinutes(zone);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  // The minutes of the zone alone: `+02:75` would be read as +03:15.
  if (Math.abs(offset) > 14 * 60 || Number(zone?.slice(-2) ?? 0) > 59) return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const date = new Date(
    `${year}-${month}-${day}T${hour.padStart(2, "0")}:${minute}:${second}.${milliseconds}Z`,
  );
  // Date reads the 30th of February as a day in March.
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day)) return undefined;
  const time = formatTime(date.getTime() - offset * 60_000);
  // The zone may move the date out of the four-digit years.
  return time.startsWith("+") || time.startsWith("-") ? undefined : time;
}

/** Milliseconds since the epoch as ISO 8601 with `Z`, without empty milliseconds. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

/** Members of an owner, all texts. */
export const ownerMembers = [
  "display_name",
  "first_name",
  "middle_initial",
  "last_name",
  "email",
] as const satisfies readonly (keyof Owner)[];

function fromText(text: string): Owner | undefined {
  const clean = text.trim();
  if (clean === "") return undefined;
  const open = clean.endsWith(">") ? clean.lastIndexOf("<") : -1;
  if (open !== -1) {
    const rawName = clean.slice(0, open).trim();
    const name = rawName.startsWith('"') ? rawName.replace(/^"(.*)"$/, "$1") : rawName;
    const email = clean.slice(open + 1, -1).trim();
    if (name === "") return email === "" ? undefined : { email };
    return email === "" ? { display_name: name } : { display_name: name, email };
  }
  return /^[^\s@]+@[^\s@]+$/.test(clean) ? { email: clean } : { display_name: clean };
}

function fromMap(map: ValueMap): Owner | undefined {
  const owner: Owner = {};
  for (const member of ownerMembers) {
    const text = textOf(map[member])?.trim();
    if (text) owner[member] = text;
  }
  const name = textOf(map["name"])?.trim();
  if (name && !owner.display_name) owner.display_name = name;
  return Object.keys(owner).length > 0 ? owner : undefined;
}

/**
 * Owners of a front matter value: `Name <mail>`, a plain name or address, an
 * owner object (`name` counts as `display_name`), or a list of these.
 * Undefined when an item names nobody.
 */
export function parseOwners(value: Value): Owner[] | undefined {
  const owners: Owner[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    if (item === null) continue;
    const text = textOf(item);
    const owner = text === undefined ? isMap(item) && fromMap(item) : fromText(text);
    if (!owner) return undefined;
    owners.push(owner);
  }
  return owners;
}

function memberOf(map: ValueMap, name: string, anyCase: boolean): Value | undefined {
  if (Object.hasOwn(map, name)) return map[name];
  if (!anyCase) return undefined;
  const lower = name.toLowerCase();
  const key = Object.keys(map).find((each) => each.toLowerCase() === lower);
  return key === undefined ? undefined : map[key];
}

/**
 * The value at a dotted path of some data: `params.version`. Undefined without one. `anyCase` is
 * for the keys of Hugo, which have no case (gohugo.io, "Configure Hugo").
 */
export function valueAt(data: Value, path: string, anyCase = false): Value | undefined {
  let value: Value | undefined = data;
  for (const name of path.split(".")) {
    if (value === undefined || !isMap(value)) return undefined;
    value = memberOf(value, name, anyCase);
  }
  return value;
}
