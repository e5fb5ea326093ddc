import { expect, it } from "vitest";
import { evalReport } from "../../../src/output/report/from/eval.ts";
import { junitReport } from "../../../src/output/report/junit.ts";
import { mergeReports } from "../../../src/output/report/stored/merge.ts";
import type { Report } from "../../../src/output/report/report.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import { sampleReport, sampleRun as evalRun } from "../../checks/eval/sample.ts";
import { mixedReport, reportOf } from "./eval-sample.ts";
import { evalPlaces, lintOf, sampleRun, someFindings, uploadOf, wholeReport } from "./sample.ts";
import { parseXml } from "./xml.ts";

const suiteOf = (report: Report) => parseXml([...junitReport(report)].join("")).children[0]!;
const casesOf = (report: Report) =>
  suiteOf(report).children.filter(({ name }) => name === "testcase");
const propertiesOf = (report: Report) =>
  Object.fromEntries(
    suiteOf(report).children[0]!.children.map(({ attributes: { name, value } }) => [name, value]),
  );
const resultsOf = (report: Report) =>
  casesOf(report).map(({ attributes, children: [child] }) => [
    attributes["name"],
    child?.name ?? "passed",
  ]);

it("has a test for each failed document, and one for each count and reason", () => {
  const report = uploadOf(
    sampleRun({
      sent: 3,
      failed: [
        ["docs/a.md", "docs/a.md:3:5: bad date"],
        ["b.md", "422"],
      ],
      skipped: [["empty", 12]],
    }),
  );
  expect(resultsOf(report)).toEqual([
    ["2 documents created", "passed"],
    ["1 document updated", "passed"],
    ["12 files skipped: empty", "skipped"],
    ["docs/a.md", "failure"],
    ["b.md", "failure"],
  ]);
  expect(casesOf(report)[3]).toMatchObject({
    attributes: { classname: "ingest.docs", file: "docs/a.md", line: "3" },
    children: [
      {
        attributes: { message: "bad date", type: "failed" },
        text: "docs/a.md:3:5: failed: bad date",
      },
    ],
  });
  expect(suiteOf(report).attributes["timestamp"]).toBe("2026-03-04T09:00:00");
  expect(propertiesOf(report)).toMatchObject({
    created: "2",
    failed: "2",
    status: "partial",
    ccPairId: "2",
  });
});

it.each<[string, Report, string]>([
  ["an error", uploadOf(sampleRun({ status: "error", error: "401: no" })), "401: no"],
  ["an interruption", uploadOf(sampleRun({ status: "interrupted" })), "the run was interrupted"],
  [
    "an eval that stopped",
    evalReport(sampleReport(evalRun([], { stopped: "401" })), evalPlaces),
    "401",
  ],
])("has a test in error for %s", (_name, report, message) => {
  const errors = casesOf(report).flatMap(({ children }) => children);
  const stops = errors.filter(({ attributes }) => attributes["type"] === "stopped");
  expect(stops.map(({ attributes }) => attributes["message"])).toEqual([message]);
});

it("has a test in error for missing shards", () => {
  const report = wholeReport(sampleRun({ shard: { index: 2, count: 3 } }));
  const { failures, ...head } = mergeReports([{ name: "a", report }]);
  const last = casesOf(uploadOf({ head, failures })).at(-1);
  expect(last?.children[0]?.attributes["message"]).toBe("shards 1 and 3 of 3 are missing");
});

it("has a failed test for each document that --verify did not find as sent", () => {
  const { head, failures } = sampleRun({ failed: [["docs/a.md", "422"]] });
  const lost: typeof head.lost = [
    { path: "docs/b.md", id: "docs/b.md", result: "missing", reason: "no chunk" },
    { path: null, id: "c", result: "unknown", reason: "too large" },
  ];
  expect(casesOf(uploadOf({ head: { ...head, lost }, failures })).slice(-2)).toMatchObject([
    {
      attributes: { name: "docs/b.md", file: "docs/b.md", classname: "ingest.docs" },
      children: [{ name: "failure", attributes: { message: "no chunk", type: "missing" } }],
    },
    { attributes: { name: "stdin (c)" }, children: [{ name: "skipped" }] },
  ]);
});

it("fails for findings of level error, skips the others, and passes for a rule without any", () => {
  const cases = casesOf(lintOf(someFindings));
  expect(cases.map(({ children: [child] }) => child?.name)).toEqual([
    "skipped",
    "skipped",
    "failure",
  ]);
  expect(cases[1]).toMatchObject({
    attributes: { classname: "lint.missing-link", name: "docs/ä b.pdf", file: "docs/ä b.pdf" },
    children: [{ attributes: { message: "docs/ä b.pdf: warning: plan.md does not exist" } }],
  });
  expect(cases[2]?.children[0]).toMatchObject({
    attributes: { message: "no title", type: "error" },
    text: "docs/a.md:3:5: error: no title\nAnswers cite the title. Begin with a heading.",
  });
  const names = casesOf(lintOf([])).map(
    ({ attributes }) => `${attributes["classname"]} ${attributes["name"]}`,
  );
  expect(names).toEqual(["lint.missing-link no findings", "lint.no-title no findings"]);
  const failing = casesOf(lintOf(someFindings, { failsOnWarnings: true }));
  expect(failing.map(({ children: [child] }) => child?.name)).toEqual([
    "skipped",
    "failure",
    "failure",
  ]);
});

it("numbers findings of one rule in one file, whose names would else be equal", () => {
  const findings = [findingWith(), findingWith({ line: 9 }), findingWith({ path: "b.md" })];
  const names = casesOf(lintOf(findings)).map(({ attributes }) => attributes["name"]);
  expect(names).toEqual(["no findings", "docs/a.md", "docs/a.md (2)", "b.md"]);
});

it("has an error for a file that could not be read", () => {
  const unread = new Map([["docs/c.md", "docs/c.md:1:1: half a character"]]);
  expect(casesOf(lintOf([], { unread })).at(-1)).toMatchObject({
    attributes: { classname: "lint.unreadable", name: "docs/c.md", file: "docs/c.md" },
    children: [{ name: "error", text: "docs/c.md: unreadable: half a character" }],
  });
});

it("has a test for each case of eval, with question and documents", () => {
  const report = evalReport(mixedReport(), evalPlaces);
  expect(resultsOf(report)).toEqual([
    ["leave-days", "failure"],
    ["no-leak", "failure"],
    ["shaky", "failure"],
    ["late", "error"],
    ["later", "error"],
    ["fine", "passed"],
    ["draft", "skipped"],
  ]);
  const [worse] = casesOf(report);
  expect(worse).toMatchObject({
    attributes: { classname: "eval.people", file: "docs/people/holidays.md", line: "1" },
    children: [
      { attributes: { message: "docs/people/holidays.md: rank 6, beyond 5", type: "worse" } },
    ],
  });
  expect(worse?.children[0]?.text).toMatch(
    /^How many days.*\n.*\nexpected: docs\/people.*\nretrieved: docs\/a\.md\n/,
  );
});

it("has metrics, verdict and the judge of eval as properties", () => {
  const properties = { verdict: "cannot-tell", hit: "0.2", "hit.n": "5", via: "keyword" };
  expect(propertiesOf(evalReport(mixedReport(), evalPlaces))).toMatchObject(properties);
  const judged = evalReport(reportOf("x", "model-7"), evalPlaces);
  expect(propertiesOf(judged)["judge"]).toBe("model-7");
  const failed = casesOf(judged).find(({ children: [child] }) => child?.name === "failure");
  expect(failed?.children[0]?.attributes["message"]).toContain("judged by model-7");
});
