import { nearest } from "../../../nearest.ts";
import { isObject, keywords, type JsonSchema } from "./json-keywords.ts";

export type { JsonSchema } from "./json-keywords.ts";

/** Why `value` does not match the schema, with the place in it; undefined if it matches. */
export function findMismatch(schema: JsonSchema, value: unknown): string | undefined {
  if (typeof schema === "boolean") return schema ? undefined : "the schema allows no value here";
  for (const [name, argument] of Object.entries(schema)) {
    const found = keywords[name]?.mismatch?.(argument as never, value, findMismatch, schema);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Schemas within a schema, with the keys that lead to each. */
function innerSchemas(
  schema: Readonly<Record<string, unknown>>,
): [path: string, schema: unknown][] {
  const { properties, items, contains, additionalProperties, not } = schema;
  const lists = ["anyOf", "oneOf", "allOf"].flatMap((name) => {
    const list = schema[name];
    if (!Array.isArray(list)) return [];
    return list.map((each, index): [string, unknown] => [`${name}[${index}]`, each]);
  });
  const members = isObject(properties) ? Object.entries(properties) : [];
  const single = Object.entries({ items, contains, additionalProperties, not });
  return [
    ...members.map(([name, each]): [string, unknown] => [`properties.${name}`, each]),
    ...single.filter(([, each]) => each !== undefined),
    ...lists,
  ];
}

/**
 * What is wrong with a schema: a keyword that is unknown or not supported, or a keyword with an
 * invalid value. Undefined if it is valid. An ignored keyword would let every answer pass.
 */
export function schemaProblem(schema: unknown, at = ""): string | undefined {
  if (typeof schema === "boolean") return undefined;
  const where = at === "" ? "" : ` at ${at}`;
  if (!isObject(schema)) return `a schema is an object, or true or false${where}`;
  for (const [name, value] of Object.entries(schema)) {
    const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
    if (!keyword) {
      const known = nearest(name, Object.keys(keywords));
      const meant = known === undefined ? "" : `; did you mean "${known}"?`;
      return `the schema keyword ${name} is not supported${where}${meant}`;
    }
    if (!keyword.isValid(value)) return `the schema keyword ${name}${where} takes ${keyword.takes}`;
  }
  for (const [path, inner] of innerSchemas(schema)) {
    const found = schemaProblem(inner, at === "" ? path : `${at}.${path}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
