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

/** What says where a report comes from, so that reports of many machines can be joined. */
export const identity = {
  run: z.optional(
    text("name of the run: of the CI job, else made of its time; absent if merged runs differ"),
  ),
  host: z.optional(text("machine that ran the command; absent if merged runs differ")),
  commit: z.optional(text("commit of the project; absent if none is known or merged runs differ")),
};

/** Adds what a file of `schema/` begins with. */
export const titled = <Schema extends z.ZodMiniType>(
  schema: Schema,
  title: string,
  description: string,
): Schema => schema.check(z.meta({ title, description })) as Schema;

type Shape = Record<string, z.ZodMiniType>;

/** A command's JSON: one object with a list, or as ndjson a line for each item, then the head. */
export function outputOf(head: Shape, [list, type, item]: [list: string, type: string, Shape]) {
  return z.union([
    z.strictObject({ version, ...head, [list]: z.array(z.strictObject(item)) }),
    z.strictObject({ version, type: z.literal(type), ...item }),
    z.strictObject({ version, type: z.literal("result"), ...head }),
  ]);
}
