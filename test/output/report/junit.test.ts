import { expect, it } from "vitest";
import { junitReport } from "../../../src/output/report/junit.ts";
import { mergeReports } from "../../../src/output/report/merge.ts";
import { hostileTexts, sampleRun, wholeReport, type Sample } from "./sample.ts";
import { parseXml, type Element } from "./xml.ts";

function suiteOf({ head, failures }: Sample): { suite: Element; cases: Element[] } {
  const root = parseXml([...junitReport(head, failures)].join(""));
  expect(root.name).toBe("testsuites");
  const [suite] = root.children;
  const cases = suite!.children.filter(({ name }) => name === "testcase");
  // What readers of the file rely on: the totals are those of the cases.
  const count = (kind: string): string =>
    String(cases.filter(({ children }) => children.some(({ name }) => name === kind)).length);
  for (const { attributes } of [root, suite!]) {
    expect(attributes).toMatchObject({
      tests: String(cases.length),
      failures: count("failure"),
      errors: count("error"),
      skipped: count("skipped"),
    });
  }
  return { suite: suite!, cases };
}

it("has a test for each failed document, and one for each count and reason", () => {
  const { suite, cases } = suiteOf(
    sampleRun({
      sent: 3,
      failed: [
        ["docs/a.md", "docs/a.md:3:5: bad date"],
        ["b.md", "422"],
      ],
      skipped: [["empty", 12]],
    }),
  );
  expect(cases.map(({ attributes }) => attributes["name"])).toEqual([
    "2 documents created",
    "1 document updated",
    "12 files skipped: empty",
    "docs/a.md",
    "b.md",
  ]);
  expect(cases[3]).toMatchObject({
    attributes: { classname: "ingest.docs", file: "docs/a.md", line: "3" },
    children: [{ attributes: { message: "docs/a.md:3:5: bad date", type: "document" } }],
  });
  expect(suite.attributes["timestamp"]).toBe("2026-03-04T09:00:00");
  const properties = Object.fromEntries(
    suite.children[0]!.children.map(({ attributes }) => [attributes["name"], attributes["value"]]),
  );
  expect(properties).toMatchObject({ created: "2", failed: "2", status: "partial", ccPairId: "2" });
});

it.each<[string, Sample, string]>([
  ["an error", sampleRun({ status: "error", error: "401: no" }), "401: no"],
  ["an interruption", sampleRun({ status: "interrupted" }), "the run was interrupted"],
])("has a test in error for %s", (_name, sample, message) => {
  const { cases } = suiteOf(sample);
  const errors = cases.flatMap(({ children }) => children.filter(({ name }) => name === "error"));
  expect(errors.map(({ attributes }) => attributes["message"])).toEqual([message]);
});

it("has a failed test for each document that --verify did not find as sent", () => {
  const { head, failures } = sampleRun({ failed: [["docs/a.md", "422"]] });
  const lost: typeof head.lost = [
    { path: "docs/b.md", id: "docs/b.md", result: "missing", reason: "no chunk" },
    { path: null, id: "c", result: "unknown", reason: "too large" },
  ];
  const { cases } = suiteOf({ head: { ...head, lost }, failures });
  expect(cases.slice(-2)).toMatchObject([
    {
      attributes: { name: "docs/b.md", file: "docs/b.md", classname: "ingest.docs" },
      children: [{ name: "failure", attributes: { message: "missing: no chunk" } }],
    },
    { attributes: { name: "stdin (c)" }, children: [{ attributes: { type: "unknown" } }] },
  ]);
});

it("has a test in error for missing shards", () => {
  const report = wholeReport(sampleRun({ shard: { index: 2, count: 3 } }));
  const { head, failures } = mergeReports([{ name: "a", report }]);
  const { cases } = suiteOf({ head, failures: [...failures] });
  expect(cases.at(-1)!.children[0]!.attributes["message"]).toBe("missing reports of shards: 1, 3");
});

it("is valid XML whatever the texts are", () => {
  const { cases } = suiteOf(
    sampleRun({
      failed: hostileTexts.map((text) => [text, text] as const),
      skipped: hostileTexts.map((text) => [text, 1] as const),
      error: hostileTexts.join(""),
      status: "error",
      commit: hostileTexts.join(""),
    }),
  );
  expect(cases.length).toBe(2 + 2 * hostileTexts.length + 1);
  const bracket = cases.find(({ attributes }) => attributes["file"]?.startsWith("]]>"));
  expect(bracket?.children[0]?.text).toBe(hostileTexts[1]);
});
