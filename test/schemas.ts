import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fromJSONSchema, type ZodType } from "zod";
import { projectFolder } from "./support.ts";

/** The check of a file of `schema/`, as readers of an output apply it. */
export function schemaOf(name: string): ZodType {
  const text = readFileSync(join(projectFolder, "schema", `${name}.schema.json`), "utf8");
  return fromJSONSchema(JSON.parse(text) as never);
}
