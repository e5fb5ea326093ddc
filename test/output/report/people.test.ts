import { describe, expect, it } from "vitest";
import { evalReport } from "../../../src/output/report/from/eval.ts";
import { writePeople } from "../../../src/output/report/people.ts";
import type { Report } from "../../../src/output/report/report.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { displayWidth } from "../../../src/output/terminal/width.ts";
import { sampleCase, sampleReport, sampleRun as evalRun } from "../../checks/eval/sample.ts";
import { createTestContext } from "../../support.ts";
import { mixedReport, reportOf } from "./eval-sample.ts";
import {
  evalPlaces,
  foreign,
  hostileTexts,
  lintOf,
  manyFindings,
  sampleRun,
  someFindings,
  uploadOf,
  wholeReport,
} from "./sample.ts";
import { junitReport } from "../../../src/output/report/junit.ts";
import { mergeReports } from "../../../src/output/report/stored/merge.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import { parseXml } from "./xml.ts";

describe("people", () => {
  interface Shown {
    isTTY?: boolean;
    verbose?: boolean;
    style?: Parameters<typeof writePeople>[3];
  }

  async function textOf(report: Report, { isTTY = false, verbose = false, style }: Shown = {}) {
    const context = createTestContext({ isTTY, cwd: "/", env: {} });
    const output = createOutput(context, { verbose, color: false });
    await writePeople(output, report, (path) => `up/${path}`, style);
    await output.flush();
    return context.stdoutText();
  }

  const many = evalReport(
    sampleReport(
      evalRun(
        Array.from({ length: 60 }, (_, index) =>
          sampleCase(`case-${index}`, { outcome: index < 40 ? "failed" : "error" }),
        ),
      ),
    ),
    evalPlaces,
  );

  describe("the items of a report for people", () => {
    it("fit one screen of a terminal, the worst first", async () => {
      const report = lintOf([...manyFindings(300, "note"), ...manyFindings(2, "error")]);
      const lines = (await textOf(report, { isTTY: true })).trimEnd().split("\n");
      expect(lines.length).toBeLessThan(24);
      expect(lines[0]).toContain(": error error 0 (");
      expect(lines.at(-1)).toBe(`and ${302 - lines.length + 1} more: -v lists them all`);
      for (const shown of [{ isTTY: true, verbose: true }, { isTTY: false }]) {
        expect((await textOf(report, shown)).match(/\n/g)).toHaveLength(302);
      }
    });
  });

  describe("a page of eval for people", () => {
    it("shows counts, verdict, metrics, and what got worse first", async () => {
      const report = evalReport(mixedReport(), evalPlaces);
      expect(await textOf(report, { style: "page" })).toMatchInlineSnapshot(`
      "eval retrieval: suite.yaml · way keyword · k 5 · onyx
      1 of 7 cases passed: 2 failed, 1 flaky, 2 errors, 1 skipped
      errors: 2 × no response within 30s
      cannot tell whether better or worse than base.json: 0 better, 1 worse of 6 cases (p 1); 2 cases that ended in an error are undecided
      metric     value    95 % interval  cases  change (95 %)
      passed    16.7 %  3.0 % to 56.4 %      6  −16.7 (−72.1 to +51.8) points
      hit@5     20.0 %  3.6 % to 62.4 %      5  −20.0 (−76.5 to +53.9) points
      recall@5  20.0 %  3.6 % to 62.4 %      5  −20.0 (−76.5 to +53.9) points
      MRR@5      0.200   0.036 to 0.624      5  −0.200 (−0.765 to +0.539)
      nDCG@5     0.200   0.036 to 0.624      5  −0.200 (−0.765 to +0.539)
      group   cases  passed   hit@5  recall@5  MRR@5  nDCG@5
      people      2  50.0 %  50.0 %    50.0 %  0.500   0.500
      (none)      2   0.0 %       —         —      —       —
      it          3   0.0 %   0.0 %     0.0 %  0.000   0.000
      Worse than base.json: 1
        leave-days  How many days of leave does Handbook give?
          expected   ✗ docs/people/holidays.md (rank 6, beyond 5)
          retrieved  1 docs/a.md  2 docs/b.md  3 docs/c.md  4 docs/d.md  5 docs/e.md  6 ✓ docs/people/holidays.md
          suite      suite.yaml:3
      Failed: 1
        no-leak (as intern)  Where is the secret plan?
          unwanted   ✗ docs/board.md (rank 1)
          retrieved  1 ✗ docs/board.md
      Flaky: 1
        shaky  What about shaky?
          expected   ✗ docs/shaky.md (not retrieved)
          retrieved  1 docs/other.md
          suite      suite.yaml:3
      Errors: not judged: 2
        late  What about late?
          expected   docs/late.md
          reason     no response within 30s
          suite      suite.yaml:3
        later  What about later?
          expected   docs/later.md
          reason     no response within 30s
          suite      suite.yaml:3
      "
    `);
    });

    it("fits one screen of 80 columns and says how many cases are not shown", async () => {
      const text = await textOf(many, { isTTY: true, style: "page" });
      const lines = text.trimEnd().split("\n");
      expect(lines.length).toBeLessThan(24);
      expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(80);
      const shown = lines.filter((line) => line.startsWith("  case-")).length;
      expect(lines.at(-1)).toBe(`and ${60 - shown} more: -v lists them all`);
      expect(shown).toBeGreaterThan(0);
    });

    it("shows everything with --verbose, passed cases too, and in a pipe all that did not pass", async () => {
      const whole = { isTTY: true, verbose: true, style: "page" } as const;
      expect((await textOf(many, whole)).match(/^ {2}case-/gm)).toHaveLength(60);
      expect((await textOf(many, { style: "page" })).match(/^ {2}case-/gm)).toHaveLength(60);
      const mixed = evalReport(mixedReport(), evalPlaces);
      expect(await textOf(mixed, whole)).toContain("Passed: 1");
      expect(await textOf(mixed, { style: "page" })).not.toContain("Passed: 1");
    });

    it("marks a run that a model judged", async () => {
      const report = evalReport(reportOf("x", "model-7"), evalPlaces);
      expect(await textOf(report, { style: "page" })).toContain("judged by model-7");
    });
  });

  describe.each(Object.entries(foreign))("foreign texts of %s for people", (_name, of) => {
    it.each(hostileTexts)("stay on their lines, without control characters: %j", async (text) => {
      for (const style of ["lines", "evidence", "page"] as const) {
        const shown = await textOf(of(text), { style });
        expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
        const harmless = await textOf(of("x"), { style });
        expect(shown.split("\n")).toHaveLength(harmless.split("\n").length);
      }
    });
  });
});

describe("junit", () => {
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
});
