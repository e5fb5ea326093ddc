import { plainValue } from "./select.ts";
import { neutralise } from "../terminal/neutralise.ts";
import type { Output } from "../terminal/output.ts";
import { nothing } from "../terminal/table.ts";
import { displayWidth } from "../terminal/width.ts";
import { bold, type Text } from "../terminal/text.ts";

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function isOneValue(value: unknown): boolean {
  if (isPlain(value)) return true;
  return Array.isArray(value) ? value.every(isPlain) : Object.keys(value as object).length === 0;
}

function plainLines(value: unknown): string[] {
  const text = Array.isArray(value)
    ? value.map((each) => plainLines(each).join(" ")).join(", ")
    : plainValue(isPlain(value) ? value : undefined);
  const known = typeof value === "string" || text !== "";
  return known ? neutralise(text).split("\n") : [nothing];
}

function* lines(record: object, indent: string): Generator<Text[]> {
  const members = Object.entries(record);
  const width = Math.max(
    0,
    ...members.filter(([, value]) => isOneValue(value)).map(([name]) => displayWidth(name)),
  );
  for (const [name, value] of members) {
    if (isOneValue(value)) {
      const space = " ".repeat(Math.max(0, width - displayWidth(name)));
      const [first = "", ...rest] = plainLines(value);
      yield [indent, bold(`${name}:`), space, " ", first];
      for (const line of rest) yield [`${indent}${" ".repeat(width + 2)}`, line];
    } else {
      yield [indent, bold(`${name}:`)];
      yield* lines(value as object, `${indent}  `);
    }
  }
}

/** Writes one record for people: a line for each member, nested objects indented, null as `—`. */
export async function writeReadable(output: Output, record: object): Promise<void> {
  for (const line of lines(record, "")) await output.line(...line);
}
