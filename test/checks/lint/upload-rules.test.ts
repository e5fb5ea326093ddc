import { expect, it } from "vitest";
import { rules } from "../../../src/checks/lint/rules.ts";
import { uploadRules } from "../../../src/checks/lint/upload-rules.ts";

it("an upload loads every rule that is an error without configuration", () => {
  expect(uploadRules).toEqual(rules.filter(({ severity }) => severity === "error"));
});

it("names each rule once", () => {
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
});
