import { describe, expect, it } from "vitest";
import { evalAnnotations, type Places } from "../../../src/output/eval/annotations.ts";
import { evalMarkdown } from "../../../src/output/eval/markdown.ts";
import { formatAnnotation } from "../../../src/output/workflow-commands.ts";
import { sampleCase, sampleReport, sampleRun } from "../../checks/eval/sample.ts";
import { hostileTexts, mixedReport, reportOf } from "./report-sample.ts";

const places: Places = { prefix: "handbook/", suitePath: (file) => `tests/${file}` };

describe("annotations of eval", () => {
  it("stand on the document that should have come, else in the suite", () => {
    const shown = evalAnnotations(mixedReport(), places).map(
      ({ level, file, line, title }) => `${level} ${file}:${line} ${title}`,
    );
    expect(shown).toEqual([
      "error handbook/docs/people/holidays.md:1 Worse than before: leave-days",
      "error tests/suite.yaml:3 failed: no-leak",
      "error handbook/docs/shaky.md:1 flaky: shaky",
      "warning handbook/docs/late.md:1 error: late",
      "warning handbook/docs/later.md:1 error: later",
    ]);
  });

  it("have the question, the problem and what came instead", () => {
    const [first, second] = evalAnnotations(mixedReport(), places);
    expect(first?.message).toBe(
      "How many days of leave does Handbook give?\ndocs/people/holidays.md: rank 6, beyond 5\n" +
        "retrieved: docs/a.md, docs/b.md, docs/c.md, docs/d.md, docs/e.md",
    );
    expect(second?.message).toContain("docs/board.md must not be retrieved: rank 1");
  });

  it.each([["docs/x.md"], ["docs/x.md", "docs/y.md"], { path: "docs/x.md" }])(
    "stand on the document that an answer should have cited: %j",
    (value) => {
      const checks = [
        { word: "not-cites", value: "docs/old.md", passed: false },
        { word: "cites", value, passed: false },
      ];
      const of = sampleCase("a", { outcome: "failed", expected: [], checks });
      const [first] = evalAnnotations(sampleReport(sampleRun([of])), places);
      expect(first).toMatchObject({ file: "handbook/docs/x.md", line: 1 });
    },
  );

  it("name the documents of an expectation as the suite does", () => {
    const value = [{ path: "docs/x.md" }, { link: "https://docs.example.com/y" }];
    const checks = [{ word: "cites", value, passed: false, detail: "not cited: docs/x.md" }];
    const of = sampleCase("a", { outcome: "failed", checks });
    const [first] = evalAnnotations(sampleReport(sampleRun([of])), places);
    expect(first?.message).toContain(
      "; cites docs/x.md, https://docs.example.com/y: not cited: docs/x.md",
    );
  });

  it("stand on the expected document that was retrieved, where its answer is wrong", () => {
    const checks = [{ word: "contains", value: "28 days", passed: false }];
    const { retrieved } = sampleCase("a");
    const of = sampleCase("a", { outcome: "failed", retrieved, checks });
    const [first] = evalAnnotations(sampleReport(sampleRun([of])), { ...places, lineOf: () => 7 });
    expect(first).toMatchObject({ file: "handbook/docs/a.md", line: 7 });
  });

  it("stand at the line of the section where it is known", () => {
    const [first] = evalAnnotations(mixedReport(), { ...places, lineOf: () => 12 });
    expect(first).toMatchObject({ line: 12 });
  });

  it("name the place in the text outside of a repository", () => {
    const outside = { prefix: undefined, suitePath: () => undefined };
    const [first] = evalAnnotations(mixedReport(), outside);
    expect(first?.file).toBe(undefined);
    expect(first?.message).toMatch(/^suite\.yaml:3: /);
  });

  it("are ten, and a notice with the number of all", () => {
    const cases = Array.from({ length: 12 }, (_, index) =>
      sampleCase(String(index), { outcome: "failed" }),
    );
    const annotations = evalAnnotations(sampleReport(sampleRun(cases)), places);
    expect(annotations).toHaveLength(11);
    expect(annotations.at(-1)?.message).toContain("12 cases did not pass, 2 of them");
  });

  it("say that a model judged", () => {
    const [first] = evalAnnotations(reportOf("x", "model-7"), places);
    expect(first?.message).toContain("judged by model-7");
  });

  it.each(hostileTexts)("keep %j in one line each", (text) => {
    for (const each of evalAnnotations(reportOf(text), places)) {
      expect(formatAnnotation(each)).not.toMatch(/[\r\n]/);
    }
  });
});

describe("the job summary of eval", () => {
  it("has verdict, metrics with intervals, and what got worse first", () => {
    const text = evalMarkdown(mixedReport());
    expect(text).toMatch(/^## knowctl eval retrieval: 1 of 7 cases passed/);
    expect(text).toContain("> cannot tell whether better or worse than base.json");
    expect(text).toContain("| hit&#64;5 | 20.0 &#37; | 3.6 &#37; to 62.4 &#37; | 5 |");
    const headings = [...text.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      "Worse than base.json: 1",
      "Failed: 1",
      "Flaky: 1",
      "Errors&#58; not judged: 2",
    ]);
    expect(text).toContain("| leave-days | How many days of leave does Handbook give&#63; |");
  });

  it("marks a run that a model judged", () => {
    expect(evalMarkdown(reportOf("x", "model-7"))).toContain("judged by model-7");
  });

  it("stays below GitHub's limit and says how many cases are not shown", () => {
    const question = "a long question ü ".repeat(40);
    const cases = Array.from({ length: 3000 }, (_, index) =>
      sampleCase(String(index), { outcome: "failed", question }),
    );
    const text = evalMarkdown(sampleReport(sampleRun(cases)));
    expect(Buffer.byteLength(text)).toBeLessThan(1024 * 1024);
    const shown = text.match(/^\| \d+ \|/gm)?.length ?? 0;
    expect(text).toContain(`and ${(3000 - shown).toLocaleString("en-US")} more in the report`);
  });

  it.each(hostileTexts)("keeps %j as text", (text) => {
    const shape = (summary: string): string[] =>
      summary.split("\n").map((line) => line.replace(/&#\d+;/g, "").replace(/[^|<>#*`[\]]/g, ""));
    expect(shape(evalMarkdown(reportOf(text)))).toEqual(shape(evalMarkdown(reportOf("x"))));
  });
});
