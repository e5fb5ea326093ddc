// What the schemas of JSON outputs are described with: the descriptions become schema/*.json.
import * as z from "zod/mini";

/** Adds a description to a schema. */
export const described = <Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
): Schema => schema.check(z.describe(description)) as Schema;

export const text = (description: string) => described(z.string(), description);
export const textOrNull = (description: string) => described(z.nullable(z.string()), description);
/** A whole number from 0. */
export const count = (description: string) => z.int().check(z.minimum(0), z.describe(description));
export const version = described(z.literal(1), "version of this format");

/** JSON Schema (draft 2020-12) of a file of `schema/`. */
export function jsonSchemaOf(
  shape: z.ZodMiniType,
  title: string,
  description: string,
  more: { reused?: "ref" } = {},
): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(shape, { io: "input", ...more });
  return { $schema, title, description, ...rest };
}
