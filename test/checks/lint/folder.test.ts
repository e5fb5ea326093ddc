import { expect, it } from "vitest";
import { byPlace, comparePages } from "../../../src/checks/lint/folder.ts";
import type { FolderRule } from "../../../src/checks/lint/rule.ts";
import { duplicateTitle } from "../../../src/checks/lint/rules/identity.ts";
import { findingWith } from "./finding.ts";

it("compares the facts of each rule in the order of paths and rows", () => {
  const rule: FolderRule<string> = {
    ...duplicateTitle,
    *compare(facts) {
      for (const { path, part, fact } of facts) yield { path, part, message: fact };
    },
  };
  const pages = [
    { path: "b.md", part: 0, facts: { [rule.name]: "title of b.md" } },
    { path: "a.csv", part: 2, facts: { [rule.name]: "title of row 2" } },
    { path: "a.csv", part: 1, facts: { [rule.name]: "title of row 1", other: 1 } },
    { path: "c.md", part: 0, facts: {} },
    { path: "off.md", part: 0, facts: { [rule.name]: "title of off.md" } },
  ];
  const found = comparePages(
    [rule],
    pages,
    (_, path) => (path === "off.md" ? "off" : "note"),
    () => "",
    true,
  );
  expect(found.map(({ message }) => message)).toEqual([
    "title of row 1",
    "title of row 2",
    "title of b.md",
  ]);
});

it("orders findings by path, place and rule", () => {
  const places = [
    { path: "b.md", line: 1 },
    { path: "a.md", line: 10, column: 2 },
    { path: "a.md", line: 10, column: 1, rule: "tiny" },
    { path: "a.md", line: 10, column: 1, rule: "empty" },
    { path: "a.md", line: 9, column: 5 },
    { path: "a.md", line: null, column: null },
  ];
  const shuffled = places.map((each) => findingWith(each)).sort(byPlace);
  expect(shuffled.map(({ path, line, rule }) => `${path}:${line} ${rule}`)).toMatchInlineSnapshot(`
    [
      "a.md:null missing-link",
      "a.md:9 missing-link",
      "a.md:10 empty",
      "a.md:10 tiny",
      "a.md:10 missing-link",
      "b.md:1 missing-link",
    ]
  `);
});
