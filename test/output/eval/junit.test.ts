import { describe, expect, it } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/report.ts";
import { evalJunit } from "../../../src/output/eval/junit.ts";
import { sampleReport, sampleRun } from "../../checks/eval/sample.ts";
import { parseXml } from "../report/xml.ts";
import { hostileTexts, mixedReport, reportOf } from "./report-sample.ts";

const parse = (report: EvalReport) => parseXml([...evalJunit(report)].join(""));
const suiteOf = (report: EvalReport) => parse(report).children[0]!;
const testsOf = (report: EvalReport) =>
  suiteOf(report).children.filter(({ name }) => name === "testcase");
const propertiesOf = (report: EvalReport) =>
  Object.fromEntries(
    suiteOf(report).children[0]!.children.map(({ attributes: { name, value } }) => [name, value]),
  );

describe("eval as JUnit", () => {
  it("has a test for each case, with its outcome", () => {
    const tests = testsOf(mixedReport());
    const results = tests.map(({ attributes, children: [child] }) => [
      attributes["name"],
      child?.name ?? "passed",
    ]);
    expect(results).toEqual([
      ["fine", "passed"],
      ["leave-days", "failure"],
      ["no-leak", "failure"],
      ["shaky", "failure"],
      ["late", "error"],
      ["later", "error"],
      ["draft", "skipped"],
    ]);
    expect(parse(mixedReport()).attributes).toMatchObject({
      tests: "7",
      failures: "3",
      errors: "2",
      skipped: "1",
    });
  });

  it("says what got worse, with question, expected and retrieved documents", () => {
    const [, worse] = testsOf(mixedReport());
    expect(worse).toMatchObject({
      attributes: { classname: "eval.people", file: "suite.yaml", line: "3" },
    });
    const failure = worse!.children[0]!;
    expect(failure.attributes["message"]).toBe(
      "worse than the baseline: docs/people/holidays.md: rank 6, beyond 5",
    );
    expect(failure.text).toMatch(
      /question: How many days.*\nexpected: docs\/people.*\nretrieved 1:/,
    );
  });

  it("has metrics, verdict and the judge as properties", () => {
    expect(propertiesOf(mixedReport())).toMatchObject({
      verdict: "cannot-tell",
      hit: "0.2",
      "hit.n": "5",
      via: "keyword",
    });
    expect(propertiesOf(reportOf("x", "model-7"))["judge"]).toBe("model-7");
    const [failed] = testsOf(reportOf("x", "model-7"));
    expect(failed?.children[0]?.attributes["message"]).toContain("judged by model-7");
  });

  it("has a test with an error for a run that ended early", () => {
    const tests = testsOf(sampleReport(sampleRun([], { stopped: "401" })));
    expect(tests.map(({ children: [child] }) => child?.attributes)).toEqual([
      { message: "401", type: "stopped" },
    ]);
  });

  it.each(hostileTexts)("keeps %j as text", (text) => {
    const names = (report: EvalReport) =>
      testsOf(report).map(({ children }) => children.map(({ name }) => name));
    expect(names(reportOf(text))).toEqual(names(reportOf("x")));
  });
});
