import type * as z from "zod/mini";
import { CliError } from "../../errors.ts";
import type { Output } from "../terminal/output.ts";
import { checkSelection, writeRecord, type FormatOptions } from "./formats.ts";

/** Whether flags select members of the JSON of a report. */
const selectsMembers = ({ fields, jq }: FormatOptions): boolean =>
  fields !== undefined || jq !== undefined;

/** The format of stdout; `json` where flags select members. cli/ has refused unknown formats. */
export function reportFormat(options: FormatOptions): string {
  return selectsMembers(options) || options.json ? "json" : (options.output ?? "text");
}

/** A value with the members that a schema names. */
export function sampleOf(schema: z.ZodMiniType): unknown {
  const { def } = schema as
    | z.ZodMiniObject
    | z.ZodMiniOptional
    | z.ZodMiniNullable
    | z.ZodMiniArray;
  if (def.type === "optional" || def.type === "nullable") {
    return sampleOf(def.innerType as z.ZodMiniType);
  }
  if (def.type !== "object") return def.type === "array" ? [] : null;
  const members = Object.entries(def.shape as Record<string, z.ZodMiniType>);
  return Object.fromEntries(members.map(([name, member]) => [name, sampleOf(member)]));
}

/**
 * Throws CliError `usage` for --fields or --jq with a format without members, and for a name in
 * --fields that `sample` does not have. Call it before any request.
 */
export function checkMembers(
  options: FormatOptions,
  sample: object,
  formatsWithoutMembers: readonly string[] = ["text"],
): void {
  if (!selectsMembers(options)) return;
  if (formatsWithoutMembers.includes(options.output ?? "")) {
    const flag = options.fields === undefined ? "--jq" : "--fields";
    throw new CliError("usage", `${flag} and --output ${options.output} exclude each other`, {
      hints: ["the flag selects from the JSON: use --output json, or omit --output"],
    });
  }
  checkSelection(options, [], sample);
}

/** Writes the JSON of a report, which comes in pieces: whole, or the members that flags select. */
export async function writeJsonReport(
  output: Output,
  options: FormatOptions,
  pieces: Iterable<string>,
): Promise<void> {
  if (!selectsMembers(options)) {
    for (const piece of pieces) await output.json(piece);
    return;
  }
  const record = JSON.parse([...pieces].join("")) as object;
  await writeRecord(output, { ...options, output: options.output ?? "json" }, record);
}
