import { expect, it } from "vitest";
import { lintJunit } from "../../../src/output/lint/junit.ts";
import { safeRun, type LintRun } from "../../../src/output/lint/lint-run.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import { hostileTexts } from "../report/sample.ts";
import { parseXml, type Element } from "../report/xml.ts";
import { runOf, some } from "./sample.ts";

const totalNames = ["tests", "failures", "errors", "skipped"];

function suitesOf(run: LintRun): Element[] {
  const root = parseXml([...lintJunit(safeRun(run, (text) => text))].join(""));
  const count = (cases: readonly Element[], kind: string): string =>
    String(cases.filter(({ children }) => children.some(({ name }) => name === kind)).length);
  const expectTotals = ({ attributes }: Element, cases: readonly Element[]): void => {
    const totals = [
      String(cases.length),
      ...["failure", "error", "skipped"].map((kind) => count(cases, kind)),
    ];
    expect(totalNames.map((name) => attributes[name])).toEqual(totals);
  };
  for (const suite of root.children) expectTotals(suite, suite.children);
  const all = root.children.flatMap(({ children }) => children);
  expectTotals(root, all);
  const names = all.map(({ attributes }) => `${attributes["classname"]} ${attributes["name"]}`);
  expect(new Set(names).size).toBe(names.length);
  return root.children;
}

it("has a suite for each rule: errors fail, other findings are skipped", () => {
  const [links, titles] = suitesOf(runOf(some));
  expect(links?.attributes).toMatchObject({ name: "missing-link", tests: "2", skipped: "2" });
  expect(links?.children[1]).toEqual({
    name: "testcase",
    attributes: {
      classname: "lint.missing-link",
      name: "docs/ä b.pdf",
      file: "docs/ä b.pdf",
      time: "0",
    },
    children: [
      {
        name: "skipped",
        attributes: { message: "docs/ä b.pdf: warning: plan.md does not exist" },
        children: [],
        text: "",
      },
    ],
    text: "",
  });
  expect(titles?.children).toMatchObject([
    {
      attributes: { classname: "lint.no-title", name: "docs/a.md", file: "docs/a.md", line: "3" },
      children: [
        {
          name: "failure",
          attributes: { message: "no title", type: "error" },
          text: "docs/a.md:3:5: error: no title\n\nAnswers cite the title. Begin with a heading.",
        },
      ],
    },
  ]);
});

it("has a passed test for a rule without findings", () => {
  const suites = suitesOf(runOf([]));
  expect(suites.map(({ children }) => children)).toEqual(
    ["missing-link", "no-title"].map((name) => [
      {
        name: "testcase",
        attributes: { classname: `lint.${name}`, name: "no findings", time: "0" },
        children: [],
        text: "",
      },
    ]),
  );
});

it("fails warnings, but not notes, of a run with too many of them", () => {
  const [links] = suitesOf(runOf(some, { failsOnWarnings: true }));
  expect(links?.children.map(({ children }) => children[0]?.name)).toEqual(["skipped", "failure"]);
});

it("numbers findings of one rule in one file, whose names would else be equal", () => {
  const [links] = suitesOf(
    runOf([findingWith(), findingWith({ line: 9 }), findingWith({ path: "b.md" })]),
  );
  const names = links?.children.map(({ attributes }) => attributes["name"]);
  expect(names).toEqual(["docs/a.md", "docs/a.md (2)", "b.md"]);
});

it("has a suite for findings of no rule", () => {
  const suites = suitesOf(runOf([findingWith({ rule: "unused-comment" })]));
  expect(suites.map(({ attributes }) => attributes["name"])).toEqual([
    "missing-link",
    "no-title",
    "unused-comment",
  ]);
});

it("is valid XML whatever the texts are", () => {
  const findings = hostileTexts.flatMap((text) =>
    (["error", "note"] as const).map((severity) =>
      findingWith({ message: text, path: text, rule: text, severity }),
    ),
  );
  expect(suitesOf(runOf(findings)).length).toBeGreaterThan(2);
});

it("has an error for each file that could not be read", () => {
  const unread = new Map([["docs/c.md", "docs/c.md:1:1: half a character"]]);
  const suites = suitesOf(runOf([], { unread }));
  expect(suites.at(-1)).toMatchObject({
    attributes: { name: "unreadable", tests: "1", failures: "0", errors: "1" },
    children: [
      {
        attributes: { classname: "lint.unreadable", name: "docs/c.md", file: "docs/c.md" },
        children: [{ name: "error", text: "docs/c.md:1:1: half a character" }],
      },
    ],
  });
});
