import { isDeepStrictEqual } from "node:util";
import { patternProblem } from "../../time-limit.ts";

export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isObject(value);
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isNumber = (value: unknown): boolean => typeof value === "number";
const isTextList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  integer: (value) => Number.isInteger(value),
  number: isNumber,
  string: (value) => typeof value === "string",
  array: (value) => Array.isArray(value),
  object: isObject,
};
const typeNames = Object.keys(types);
const isTypeName = (value: unknown): boolean => typeNames.includes(value as string);

/** Why a value does not match a schema; undefined if it does. */
export type FindMismatch = (schema: JsonSchema, value: unknown) => string | undefined;

export interface Keyword {
  /** What its value must be, for messages. */
  takes: string;
  isValid(value: unknown): boolean;
  /** Why `value` does not match; undefined if it does. `find` checks an inner value. */
  mismatch?(argument: never, value: unknown, find: FindMismatch, schema: Json): string | undefined;
}

const schemaMap = {
  takes: "an object of schemas",
  isValid: (value: unknown) => isObject(value) && Object.values(value).every(isSchema),
};
const schemaList = {
  takes: "a list of schemas",
  isValid: (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
};
const oneSchema = { takes: "a schema", isValid: isSchema };
const count = { takes: "a whole number from 0", isValid: isCount };
const number = { takes: "a number", isValid: isNumber };
const annotation = { takes: "anything", isValid: () => true };

const own = (value: Json, key: string): boolean => Object.hasOwn(value, key);
const matchCount = (schemas: readonly JsonSchema[], value: unknown, find: FindMismatch): number =>
  schemas.filter((each) => find(each, value) === undefined).length;
const lengthOf = (text: string): number => [...text].length;

function within(key: string | number, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${key}: ${problem}`;
}

function firstOf<Item>(
  items: Iterable<Item>,
  find: (item: Item) => string | undefined,
): string | undefined {
  for (const each of items) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A keyword that concerns only values of one type, as JSON Schema has it. */
function about<Value, Argument>(
  is: (value: unknown) => boolean,
  mismatch: (
    argument: Argument,
    value: Value,
    find: FindMismatch,
    schema: Json,
  ) => string | undefined,
): Pick<Keyword, "mismatch"> {
  return {
    mismatch: (argument: Argument, value, find, schema) =>
      is(value) ? mismatch(argument, value as Value, find, schema) : undefined,
  };
}

const ofText = <Argument>(wrong: (argument: Argument, text: string) => string | undefined) =>
  about<string, Argument>((value) => typeof value === "string", wrong);
const ofNumber = (holds: (value: number, argument: number) => boolean, words: string) =>
  about<number, number>(isNumber, (argument, value) =>
    holds(value, argument) ? undefined : `${value} is not ${words} ${argument}`,
  );
const ofList = <Argument>(
  wrong: (argument: Argument, items: readonly unknown[], find: FindMismatch) => string | undefined,
) => about<readonly unknown[], Argument>(Array.isArray, wrong);
const ofObject = <Argument>(
  wrong: (argument: Argument, value: Json, find: FindMismatch, schema: Json) => string | undefined,
) => about<Json, Argument>(isObject, wrong);

/** The keywords of JSON Schema (draft 2020-12) that suites may use. */
export const keywords: Readonly<Record<string, Keyword>> = {
  type: {
    takes: `one or more of ${typeNames.join(", ")}`,
    isValid: (value) =>
      isTypeName(value) || (Array.isArray(value) && value.length > 0 && value.every(isTypeName)),
    mismatch: (argument: string | readonly string[], value) => {
      const wanted = [argument].flat();
      if (wanted.some((name) => types[name]?.(value))) return undefined;
      return `expected ${wanted.join(" or ")}`;
    },
  },
  enum: {
    takes: "a list of values",
    isValid: (value) => Array.isArray(value) && value.length > 0,
    mismatch: (values: readonly unknown[], value) =>
      values.some((each) => isDeepStrictEqual(each, value)) ? undefined : "not one of the enum",
  },
  const: {
    takes: "a value",
    isValid: () => true,
    mismatch: (wanted: unknown, value) =>
      isDeepStrictEqual(wanted, value) ? undefined : `expected ${JSON.stringify(wanted)}`,
  },
  properties: {
    ...schemaMap,
    ...ofObject<Record<string, JsonSchema>>((schemas, value, find) =>
      firstOf(Object.entries(schemas), ([key, schema]) =>
        own(value, key) ? within(key, find(schema, value[key])) : undefined,
      ),
    ),
  },
  required: {
    takes: "a list of texts",
    isValid: isTextList,
    ...ofObject<readonly string[]>((keys, value) => {
      const missing = keys.find((key) => !own(value, key));
      return missing === undefined ? undefined : `${JSON.stringify(missing)} is missing`;
    }),
  },
  additionalProperties: {
    ...oneSchema,
    ...ofObject<JsonSchema>((schema, value, find, { properties }) =>
      firstOf(Object.keys(value), (key) =>
        isObject(properties) && own(properties, key)
          ? undefined
          : within(key, find(schema, value[key])),
      ),
    ),
  },
  items: {
    ...oneSchema,
    ...ofList<JsonSchema>((schema, items, find) =>
      firstOf(items.entries(), ([index, item]) => within(index, find(schema, item))),
    ),
  },
  contains: {
    ...oneSchema,
    ...ofList<JsonSchema>((schema, items, find) =>
      items.some((item) => find(schema, item) === undefined)
        ? undefined
        : "no item matches `contains`",
    ),
  },
  uniqueItems: {
    takes: "true or false",
    isValid: (value) => typeof value === "boolean",
    ...ofList<boolean>((isUnique, items) => {
      const isRepeated = (item: unknown, index: number): boolean =>
        items.slice(0, index).some((earlier) => isDeepStrictEqual(earlier, item));
      return isUnique && items.some(isRepeated) ? "two items are equal" : undefined;
    }),
  },
  minItems: {
    ...count,
    ...ofList<number>((least, { length }) =>
      length >= least ? undefined : `${length} items are fewer than ${least}`,
    ),
  },
  maxItems: {
    ...count,
    ...ofList<number>((most, { length }) =>
      length <= most ? undefined : `${length} items are more than ${most}`,
    ),
  },
  minLength: {
    ...count,
    ...ofText<number>((least, text) =>
      lengthOf(text) >= least ? undefined : `shorter than ${least}`,
    ),
  },
  maxLength: {
    ...count,
    ...ofText<number>((most, text) => (lengthOf(text) <= most ? undefined : `longer than ${most}`)),
  },
  pattern: {
    takes: "a regular expression",
    isValid: (value) => typeof value === "string" && patternProblem(value) === undefined,
    ...ofText<string>((pattern, text) =>
      new RegExp(pattern).test(text) ? undefined : `does not match ${pattern}`,
    ),
  },
  minimum: { ...number, ...ofNumber((value, least) => value >= least, "at least") },
  maximum: { ...number, ...ofNumber((value, most) => value <= most, "at most") },
  exclusiveMinimum: { ...number, ...ofNumber((value, least) => value > least, "above") },
  exclusiveMaximum: { ...number, ...ofNumber((value, most) => value < most, "below") },
  anyOf: {
    ...schemaList,
    mismatch: (schemas: readonly JsonSchema[], value, find) =>
      matchCount(schemas, value, find) > 0 ? undefined : "matches none of anyOf",
  },
  oneOf: {
    ...schemaList,
    mismatch: (schemas: readonly JsonSchema[], value, find) => {
      const found = matchCount(schemas, value, find);
      return found === 1 ? undefined : `matches ${found} of oneOf, not one`;
    },
  },
  allOf: {
    ...schemaList,
    mismatch: (schemas: readonly JsonSchema[], value, find) =>
      firstOf(schemas, (schema) => find(schema, value)),
  },
  not: {
    ...oneSchema,
    mismatch: (schema: JsonSchema, value, find) =>
      find(schema, value) === undefined ? "matches what `not` excludes" : undefined,
  },
  $schema: annotation,
  title: annotation,
  description: annotation,
  examples: annotation,
  default: annotation,
  $comment: annotation,
};
