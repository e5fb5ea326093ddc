import { expect, it } from "vitest";
import { knownMembers } from "../../../src/checks/eval/suite/suite-schema.ts";
import { words } from "../../../src/checks/eval/words.ts";
import { parseSuite } from "../../../src/commands/eval/load-suite.ts";
import { blocksOf, readPage } from "../../docs/pages.ts";

const page = "docs/eval-suites.md";

it("shows only suites that load", () => {
  const suites = blocksOf(page).filter(({ language }) => language === "yaml");
  expect(suites.length).toBeGreaterThan(2);
  for (const { body, where } of suites) {
    expect(parseSuite(body, where).cases.length, where).toBeGreaterThan(0);
  }
});

it("explains each word and each member of a case", () => {
  const text = readPage(page);
  for (const name of [...Object.keys(words), "judge", ...(knownMembers["cases"] ?? [])]) {
    expect(text, name).toContain(`\`${name}\``);
  }
});
