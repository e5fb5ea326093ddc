import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configJsonSchema } from "../../src/config/values/schema.ts";
import { nearest } from "../../src/nearest.ts";
import { parseConfig } from "../../src/config/file/parse.ts";
import { projectFolder } from "../support.ts";

const read = (path: string): string => readFileSync(join(projectFolder, path), "utf8");

it("the committed JSON Schema is the one of the code", () => {
  const text = `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
  expect(read("schema/cliconfig.schema.json")).toBe(text);
});

it("every key of the schema has a description", () => {
  const missing: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { properties } = schema as { properties?: Record<string, object> };
    for (const [name, value] of Object.entries(properties ?? {})) {
      if (
        !("description" in value) &&
        !("properties" in value) &&
        !("additionalProperties" in value)
      ) {
        missing.push(`${path}.${name}`);
      }
      visit(value, `${path}.${name}`);
    }
  };
  visit(configJsonSchema(), "");
  expect(missing).toEqual([]);
});

it("the example file is valid", async () => {
  const { content } = await parseConfig(".cliconfig.example.json", read(".cliconfig.example.json"));
  expect(Object.keys(content.profiles ?? {})).toEqual(["production", "sandbox"]);
});

describe("nearest", () => {
  it.each([
    ["baseURL", "baseUrl"],
    ["base-url", "baseUrl"],
    ["dialcet", "dialect"],
    ["apikey", "apiKey"],
    ["x", undefined],
    ["completely", undefined],
    ["", undefined],
  ])("%s: %s", (word, expected) => {
    expect(nearest(word, ["baseUrl", "dialect", "apiKey", "accessToken"])).toBe(expected);
  });
});
