import { expect, it } from "vitest";
import { createFacts } from "../../../src/checks/lint/compare-pages.ts";
import type { FolderRule, PageFacts } from "../../../src/checks/lint/rule.ts";
import { duplicateTitle } from "../../../src/checks/lint/rules/identity.ts";

it("compares the facts of each rule once, in the order of paths, and forgets them", () => {
  const compared: string[] = [];
  const rule: FolderRule<string> = {
    ...duplicateTitle,
    *compare(facts: PageFacts<string>) {
      compared.push(Array.from(facts, ({ path }) => path).join(" "));
      for (const { path, part, fact } of facts) yield { path, part, message: fact };
    },
  };
  const facts = createFacts([rule]);
  for (const path of ["b.md", "a.md"]) {
    facts.add(path, 0, { findings: [], facts: { [rule.name]: `"title of ${path}"` } });
  }
  const found = facts.compare(
    () => "note",
    () => "",
    true,
  );
  expect(found.map(({ message }) => message)).toEqual(["title of a.md", "title of b.md"]);
  facts.compare(
    () => "note",
    () => "",
    true,
  );
  expect(compared).toEqual(["a.md b.md", ""]);
});
