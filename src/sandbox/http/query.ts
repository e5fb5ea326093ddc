import type { Call } from "./call.ts";
import { parseTimestamp } from "../store/identity.ts";
import { laxUuid, refuseBody } from "./validation.ts";

function refuse(place: string, name: string, input: string, type: string, msg: string) {
  return refuseBody([{ type, loc: [place, name], msg, input }]);
}

/** Parses an integer of the path or the query. Throws the 422 Refusal. */
function toInteger(place: string, name: string, text: string): number {
  if (/^\s*[+-]?\d{1,15}\s*$/.test(text)) return Number(text);
  const msg = "Input should be a valid integer, unable to parse string as an integer";
  throw refuse(place, name, text, "int_parsing", msg);
}

/** The integer of a `:name` segment. Throws the 422 Refusal. */
export function pathInteger(call: Call, name: string): number {
  return toInteger("path", name, call.parameters[name] ?? "");
}

/** The UUID of a `:name` segment, in its usual notation. Throws the 422 Refusal. */
export function pathUuid(call: Call, name: string): string {
  const text = call.parameters[name] ?? "";
  const parsed = laxUuid.safeParse(text);
  if (parsed.success) return parsed.data;
  throw refuse("path", name, text, "uuid_parsing", "Input should be a valid UUID");
}

/** An integer of the query. Throws the 422 Refusal for other text and outside the limits. */
export function queryInteger<Default extends number | undefined>(
  call: Call,
  name: string,
  {
    otherwise,
    min = -Infinity,
    max = Infinity,
  }: { otherwise: Default; min?: number; max?: number },
): number | Default {
  const text = call.query.get(name);
  if (text === null) return otherwise;
  const value = toInteger("query", name, text);
  if (value >= min && value <= max) return value;
  const [type, msg] =
    value < min
      ? (["greater_than_equal", `Input should be greater than or equal to ${min}`] as const)
      : (["less_than_equal", `Input should be less than or equal to ${max}`] as const);
  throw refuse("query", name, text, type, msg);
}

/** An integer that the query must have. Throws the 422 Refusal. */
export function requiredInteger(call: Call, name: string): number {
  const value = queryInteger(call, name, { otherwise: undefined });
  if (value !== undefined) return value;
  const msg = "Field required";
  throw refuseBody([{ type: "missing", loc: ["query", name], msg, input: null }]);
}

/** A boolean of the query, in the words that the service accepts. Throws the 422 Refusal. */
export function queryBoolean(call: Call, name: string): boolean {
  const text = call.query.get(name);
  if (text === null || /^(?:false|0|no|off|f|n)$/i.test(text)) return false;
  if (/^(?:true|1|yes|on|t|y)$/i.test(text)) return true;
  const msg = "Input should be a valid boolean, unable to interpret input";
  throw refuse("query", name, text, "bool_parsing", msg);
}

/** One of the words that the query may have. Throws the 422 Refusal. */
export function queryChoice<Word extends string>(
  call: Call,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = call.query.get(name);
  if (text === null) return undefined;
  const known = words.find((word) => word === text);
  if (known !== undefined) return known;
  const msg = `Input should be ${words.map((word) => `'${word}'`).join(", ")}`;
  throw refuse("query", name, text, "enum", msg);
}

/** A time of the query, in milliseconds since the epoch. Throws the 422 Refusal. */
export function queryTime(call: Call, name: string): number | undefined {
  const text = call.query.get(name);
  if (text === null) return undefined;
  const time = parseTimestamp(text);
  if (time) return time.ms;
  const msg = "Input should be a valid datetime or date, invalid character in year";
  throw refuse("query", name, text, "datetime_from_date_parsing", msg);
}
