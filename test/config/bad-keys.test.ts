import { describe, expect, it } from "vitest";
import { configJsonSchema } from "../../src/config/values/schema.ts";
import { parseConfig } from "../../src/config/file/parse.ts";
import { CliError } from "../../src/errors.ts";

// Every key of a configuration file, from the schema itself: a new one is tested without being named.

interface Schema {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  anyOf?: Schema[];
}

interface Key {
  path: string[];
  schema: Schema;
}

/** Keys below an object; `rules` and `profiles` hold theirs a step further down. */
function keysOf(schema: Schema, path: string[] = []): Key[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, each]): Key[] => {
    const here = [...path, name];
    const inside = typeof each.additionalProperties === "object" ? each.additionalProperties : {};
    return [
      { path: here, schema: each },
      ...keysOf(each, here),
      ...(name === "profiles" ? keysOf(inside, [...here, "production"]) : []),
      ...keysOf(each.items ?? {}, [...here, "0"]),
    ];
  });
}

const keys = keysOf(configJsonSchema() as Schema);

/** A file with one value in it; `0` is the first of a list. */
function fileWith(path: readonly string[], value: unknown): string {
  const [step, ...rest] = path;
  if (step === undefined) return JSON.stringify(value);
  const inner = fileWith(rest, value);
  return step === "0" ? `[\n${inner}\n]` : `{\n${JSON.stringify(step)}: ${inner}\n}`;
}

/** Values that the key cannot have, by what its schema says. */
function wrongValues({ schema }: Key): unknown[] {
  const { type, minimum, maximum, anyOf } = schema;
  const bounds = [
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
  ];
  if (type === "string") return [7, true, null, [], {}, ...(schema.enum ? ["nonsense"] : [])];
  if (type === "boolean") return ["yes", 1, null, []];
  if (type === "integer") return ["7", 1.5, null, ...bounds];
  if (type === "number") return ["7", null, ...bounds];
  if (type === "array") return ["text", {}, [7.5], [null]];
  if (type === "object") return ["text", 7, []];
  // One of several forms: a secret, the parts of `chat.show`, a switch or a name.
  const takesSwitch = anyOf?.some((form) => form.type === "boolean") === true;
  return [7, null, { nonsense: "x" }, ...(takesSwitch ? [] : [true])];
}

async function failureOf(text: string, path = "/p/a.json"): Promise<CliError> {
  try {
    await parseConfig(path, text);
  } catch (error) {
    expect(error, text).toBeInstanceOf(CliError);
    return error as CliError;
  }
  throw new Error(`was taken: ${text}`);
}

const dotted = (path: readonly string[]): string => path.join(".").replaceAll(".0", "[0]");

describe.each(keys.map((key) => [dotted(key.path), key] as const))("the key %s", (name, key) => {
  it("refuses values of another type and out of range, with its place and a remedy", async () => {
    for (const value of wrongValues(key)) {
      const text = fileWith(key.path, value);
      const error = await failureOf(text);
      expect(error.exit, text).toBe("not-configured");
      expect(error.message, text).toMatch(/^\/p\/a\.json:\d+:\d+: /);
      // A fault in a part of a value is told with the part.
      expect([error.message, ...error.details].join("\n"), text).toContain(name);
      expect(error.hints.length, text).toBeGreaterThan(0);
    }
  });

  it("is suggested where it is mistyped, and not taken twice", async () => {
    const last = key.path.at(-1) ?? "";
    const mistyped = [...key.path.slice(0, -1), `${last}${last.at(-1)}`];
    if (last !== "production") {
      const error = await failureOf(fileWith(mistyped, 1));
      expect(error.message).toContain(`unknown key ${dotted(mistyped)}`);
      expect(error.message).toContain(`did you mean "${last}"?`);
    }
    const member = `${JSON.stringify(last)}: 1`;
    const around = fileWith(key.path.slice(0, -1), "HERE");
    const twice = await failureOf(around.replace('"HERE"', `{\n${member},\n${member}\n}`));
    expect(twice.message).toMatch(/^\/p\/a\.json:\d+:\d+: .*is duplicated/);
    expect(twice.hints.length).toBeGreaterThan(0);
  });
});

it("looks at every part of the schema", () => {
  const names = keys.map(({ path }) => dotted(path));
  for (const name of [
    "profiles.production.apiKey",
    "ingest.rules[0].match",
    "ingest.frontMatter.id",
  ])
    expect(names).toContain(name);
  expect(keys.length).toBeGreaterThan(100);
});
