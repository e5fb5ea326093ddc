import { load } from "js-yaml";

import { describe, expect, it } from "vitest";
import { fromJSONSchema } from "zod";
import { suiteJsonSchema } from "../../../src/checks/eval/suite/suite-schema.ts";
import { parseSuite } from "../../../src/commands/eval/load-suite.ts";
import { CliError } from "../../../src/errors.ts";
import { invalidCases, validSuites } from "./suites.ts";

// The schema of the editors and the loader agree on the same samples.
const schema = fromJSONSchema(suiteJsonSchema() as never);

function problemsOf(text: string): string {
  try {
    parseSuite(text, "s.yaml");
    return "";
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [error.message, ...error.details].join("\n");
  }
}

const withPart = (part: string): string =>
  `version: 1\nvariables: { product: x }\ncases:\n  - id: a\n    question: q\n    ${part}\n`;

it.each(Object.entries(validSuites))("both accept %s", (_name, text) => {
  expect(problemsOf(text)).toBe("");
  const { error } = schema.safeParse(load(text));
  expect(error?.issues).toBeUndefined();
});

describe("both refuse", () => {
  it.each(invalidCases)("%s", (part, message) => {
    const text = withPart(part);
    expect(problemsOf(text)).toMatch(message);
    expect(schema.safeParse(load(text)).success).toBe(false);
  });

  it.each([
    ["version: 2\ncases: []\n", /version: expected 1/],
    ["cases: []\n", /version is missing/],
    ["version: 1\n", /cases is missing/],
    ["version: 1\ncases: []\ncase: []\n", /s\.yaml:3:1: unknown member case; did you mean "cases"/],
    ["version: 1\ncases: []\ndefaults: { kk: 1 }\n", /unknown member defaults\.kk/],
    ["version: 1\ncases: []\nvariables: { a b: c }\n", /a name has letters/],
    ["version: 1\ncases: []\nvariables: { a: [b] }\n", /expected text or a whole number/],
    ["version: 1\ncases: []\njudge: { model: m, base_url: localhost }\n", /expected an address/],
    ["version: 1\ncases: []\njudge: { model: m, base_url: 'http://u:p@h/' }\n", /without user/],
    ["version: 1\ncases: [{ id: a b, question: q }]\n", /expected up to 100 letters/],
    ["version: 1\ncases: [{ id: ../a, question: q }]\n", /expected up to 100 letters/],
    ["version: 1\ncases: [{ id: 12, question: q }]\n", /expected text.*put it in quotes/],
    ["version: 1\ncases: [{ id: a }]\n", /cases\[0\]\.question is missing/],
    ["[]\n", /the suite: expected an object/],
  ])("%j", (text, message) => {
    expect(problemsOf(text)).toMatch(message);
    expect(schema.safeParse(load(text)).success).toBe(false);
  });
});

it("has a description of each member, for editors", () => {
  const visit = (node: unknown, at: string): string[] => {
    if (typeof node !== "object" || node === null) return [];
    const { properties = {} } = node as { properties?: Record<string, object> };
    const bare = Object.entries(properties)
      .filter(([, each]) => !("description" in each))
      .map(([name]) => `${at}.${name}`);
    return [...bare, ...Object.entries(node).flatMap(([key, each]) => visit(each, `${at}.${key}`))];
  };
  expect(visit(suiteJsonSchema(), "")).toEqual([]);
});
