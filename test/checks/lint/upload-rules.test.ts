import { expect, it } from "vitest";
import { rules } from "../../../src/checks/lint/rules.ts";
import { secretsRules } from "../../../src/checks/lint/rules/secrets.ts";

it("an upload loads every rule that is an error without configuration", () => {
  expect(secretsRules).toEqual(rules.filter(({ severity }) => severity === "error"));
});

it("names each rule once", () => {
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
});

it("only secrets are errors without configuration, and what is often on purpose is a note", () => {
  const namesOf = (severity: string): string[] =>
    rules.filter((rule) => rule.severity === severity).map(({ name }) => name);
  expect(namesOf("error")).toEqual(
    rules.filter(({ group }) => group === "secrets").map(({ name }) => name),
  );
  const what = "a rule is a note if its finding is often on purpose; then add it here";
  expect(namesOf("note").toSorted(), what).toEqual([
    "duplicate-title",
    "hidden-words",
    "metadata-not-text",
    "missing-title",
    "numbers-disagree",
    "owner-without-email",
    "placeholder",
    "skipped-level",
    "split-list",
    "stale-date",
    "tiny",
  ]);
});
