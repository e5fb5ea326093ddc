import { writeJq, writeList, writeRecord, type Column, type FormatOptions } from "./formats.ts";
import type { Output } from "../terminal/output.ts";
import { readMember } from "./select.ts";

/** Rows that define the columns of a list with unknown members. */
const sampleSize = 100;

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A column for each member of the first rows. Numbers align right, so that they are never cut. */
function columnsOf(rows: readonly object[]): Column<object>[] {
  const first = rows.slice(0, sampleSize);
  const names = new Set(first.flatMap((row) => Object.keys(row)));
  return [...names].map((name) => {
    const value = (row: object): unknown => readMember(row, [name]).value;
    const values = first.map(value).filter((each) => (each ?? null) !== null);
    const isNumber = values.length > 0 && values.every((each) => typeof each === "number");
    return { name, value, ...(isNumber ? { align: "right" } : {}) };
  });
}

/**
 * Writes any JSON value; `json` is its text. A list of objects is written as a list with
 * their members as columns, an object as one record, anything else as a list with one
 * column `value`. Throws CliError `usage` like writeList and writeRecord.
 */
export async function writeValue(
  output: Output,
  options: FormatOptions,
  value: unknown,
  json: string,
): Promise<void> {
  const plain = options.fields === undefined && options.filter === undefined;
  if (options.jq !== undefined && plain) return await writeJq(output, options, json);
  if (isRecord(value)) return await writeRecord(output, options, value);
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.every(isRecord)) {
    await writeList(output, options, columnsOf(list), list);
    return;
  }
  const isWhole = options.json === true || options.output === "json";
  if (plain && isWhole) return await output.json(`${JSON.stringify(value, undefined, 2)}\n`);
  const rows = list.map((each) => (isRecord(each) ? each : { value: each }));
  await writeList(output, options, columnsOf(rows), rows);
}
