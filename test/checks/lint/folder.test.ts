import { describe, expect, it } from "vitest";
import { byCause, byMost, byPlace, comparePages } from "../../../src/checks/lint/folder.ts";
import type { FolderRule } from "../../../src/checks/lint/rule.ts";
import { duplicateTitle, missingTitle } from "../../../src/checks/lint/rules/identity.ts";
import { nearDuplicate } from "../../../src/checks/lint/rules/near-duplicates.ts";
import { templateText } from "../../../src/checks/lint/rules/markup.ts";
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

it("has no finding for the title of a document that has the text of another one", () => {
  const rules = [nearDuplicate, duplicateTitle].map((rule): FolderRule<true> => ({
    ...rule,
    collect: () => undefined,
    *compare(facts) {
      for (const { path, part } of facts) yield { path, part, message: rule.name };
    },
  }));
  const pages = [
    { path: "a.md", part: 0, facts: { "near-duplicate": true, "duplicate-title": true } },
    { path: "b.md", part: 0, facts: { "duplicate-title": true } },
  ];
  const found = comparePages(
    rules,
    pages,
    () => "note",
    () => "",
    true,
  );
  expect(found.map(({ path, rule }) => `${path} ${rule}`)).toEqual([
    "a.md near-duplicate",
    "b.md duplicate-title",
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

describe("a folder whose pages have no titles", () => {
  const pages = (folder: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${folder}/${index}.md`);
  const linesOf = (untitled: string[], titled: string[], included: string[] = []): string[] => {
    const findings = untitled.map((path) =>
      findingWith({ path, rule: "missing-title", message: "no title" }),
    );
    const other = findingWith({ path: "z.md", rule: "tiny", message: "3 words" });
    const all = new Set([...untitled, ...titled]);
    const found = byMost([...findings, other], all, new Set(included), [missingTitle]);
    return found.map(({ path, message }) => `${path}: ${message}`);
  };

  it("has one finding, if most of its pages have none", () => {
    const few = [...pages("b", 7), "c/x.md"];
    expect(linesOf([...pages("a/x", 5), ...pages("a/y", 3), ...few], pages("d", 20))).toEqual([
      "a/x/0.md: 8 documents have no title, and the names of their files replace it in a; this is the first",
      ...few.map((path) => `${path}: no title`),
      "z.md: 3 words",
    ]);
    expect(linesOf(pages("a", 8), [])).toEqual([
      "a/0.md: 8 documents have no title, and the names of their files replace it; this is the first",
      "z.md: 3 words",
    ]);
  });

  it("has one for each page, if half of them have one", () => {
    expect(linesOf(pages("a", 8), pages("b", 8))).toHaveLength(2);
    expect(linesOf(pages("a", 8), [...pages("a/b", 8)])).toHaveLength(9);
  });

  it("has one finding for templates as well, in which parts count", () => {
    const templates = pages("t", 8).flatMap((path) => [1, 2].map((line) => ({ path, line })));
    const findings = templates.map((each) =>
      findingWith({ ...each, rule: "template-text", message: "{{ a }} is sent as it stands" }),
    );
    const all = new Set(pages("t", 8));
    const found = byMost(findings, all, all, [missingTitle, templateText]);
    expect(found.map(({ path, line, message }) => `${path}:${line}: ${message}`)).toEqual([
      "t/0.md:1: template expressions are sent as they stand in 8 documents; this is the first",
    ]);
  });

  it("is none for a part that other pages include", () => {
    expect(linesOf(["a.md", "b.md"], [], ["a.md", "z.md"])).toEqual([
      "b.md: no title",
      "z.md: 3 words",
    ]);
  });
});

describe("findings of one cause", () => {
  const cause = { key: "k", least: 1, what: "references lead to files that k lacks here" };
  const found = (path: string, message: string, more = {}) =>
    findingWith({ path, rule: "dead-link", message, ...more });

  it("are one at the first place, if they outnumber what is there", () => {
    const findings = [
      found("a.md", "x", { cause }),
      found("a.md", "other"),
      found("b.md", "y", { cause }),
      found("b.md", "x", { cause: { ...cause, key: "of another" } }),
      { ...found("c.md", "z", { cause }), rule: "tiny" },
    ];
    expect(byCause(findings).map(({ path, message }) => `${path}: ${message}`)).toEqual([
      "a.md: x; 2 references lead to files that k lacks here",
      "a.md: other",
      "b.md: x",
      "c.md: z",
    ]);
    expect(byCause(findings).every((each) => !("cause" in each))).toBe(true);
  });

  it("are one for a page of several versions, with or without a cause", () => {
    const all = ["v1", "archive/v2", "v2"].map((name) =>
      found(`docs/${name}/a.md`, `docs/${name}/b.md has no anchor #x`),
    );
    const others = [
      found("docs/v1/a.md", "docs/v1/c.md has no anchor #y"),
      found("docs/v1/a.md", "docs/v1/c.md has no anchor #y", { line: 9 }),
      found("docs/v2/c.md", "docs/v2/b.md has no anchor #x", { cause }),
      found("docs/v3/c.md", "docs/v3/b.md has no anchor #x", { cause }),
      found("docs/a.md", "docs/b.md has no anchor #x"),
    ];
    expect(byCause([...all, ...others]).map(({ path, message }) => `${path}: ${message}`)).toEqual([
      "docs/v1/a.md: docs/v1/b.md has no anchor #x; 3 places in several versions show it",
      "docs/v1/a.md: docs/v1/c.md has no anchor #y",
      "docs/v1/a.md: docs/v1/c.md has no anchor #y",
      "docs/v2/c.md: docs/v2/b.md has no anchor #x; 2 references lead to files that k lacks here",
      "docs/a.md: docs/b.md has no anchor #x",
    ]);
  });

  it("are listed each, if there are few", () => {
    const findings = ["a.md", "b.md", "c.md"].map((path) => found(path, "x", { cause }));
    expect(byCause(findings)).toHaveLength(3);
    const more = [...findings, found("d.md", "x", { cause: { ...cause, key: "of another" } })];
    expect(byCause(more).map(({ path, message }) => `${path}: ${message}`)).toEqual([
      "a.md: x; 4 places show it",
    ]);
  });
});
