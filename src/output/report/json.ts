import { reportFormat, writeJsonReport, type FormatOptions } from "../formats/formats.ts";
import type { Output } from "../terminal/output.ts";
import type { Data } from "./report.ts";

/**
 * The JSON of a report in pieces: the head on one line, then a line for each element of the list;
 * without `newline` all on one line.
 */
export function* jsonOf(
  { head, list, items }: Pick<Data, "head" | "list" | "items">,
  newline = "\n",
): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"${list}":[`;
  let separator = newline;
  for (const each of items) {
    yield separator + JSON.stringify(each);
    separator = `,${newline}`;
  }
  yield `${newline}]}\n`;
}

/** A line of ndjson. */
export function lineOf(type: string, item: object): string {
  return `${JSON.stringify({ version: 1, type, ...item })}\n`;
}

/** The last line of ndjson: the head. */
export function resultLine({ head }: Pick<Data, "head">): string {
  const { version, ...rest } = head;
  return `${JSON.stringify({ version, type: "result", ...rest })}\n`;
}

/**
 * Writes the JSON on stdout, whole or the members that flags select, or as ndjson. `hasLines`: the
 * run has written a line for each element already.
 */
export async function writeData(
  output: Output,
  options: FormatOptions,
  data: Data,
  hasLines = false,
): Promise<void> {
  if (reportFormat(options) === "json") return await writeJsonReport(output, options, jsonOf(data));
  if (!hasLines) for (const each of data.items) await output.json(lineOf(data.type, each));
  await output.json(resultLine(data));
}
