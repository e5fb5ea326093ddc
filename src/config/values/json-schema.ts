import * as z from "zod/mini";
import { ConfigContent } from "./schema.ts";

/** JSON Schema (draft 2020-12) of a configuration file; `schema/cliconfig.schema.json` is its text. */
export function configJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(ConfigContent, { io: "input" });
  return {
    $schema,
    title: "knowctl configuration",
    description: "User file (config.json) or project file (.cliconfig.json) of knowctl.",
    ...rest,
  };
}
