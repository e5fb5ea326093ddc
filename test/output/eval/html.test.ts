import { describe, expect, it } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/report.ts";
import { evalHtml } from "../../../src/output/eval/html/page.ts";
import { sampleCase, sampleReport, sampleRun } from "../../checks/eval/sample.ts";
import { hostileTexts, mixedReport, reportOf } from "./report-sample.ts";

const textOf = (report: EvalReport): string => [...evalHtml(report)].join("");

/** Every tag in its order, without the values of its attributes. */
function tagsOf(html: string): string[] {
  const body = html.slice(html.indexOf("</style>"));
  return [...body.matchAll(/<([A-Za-z!/][\w-]*)/g)].map(([, name]) => name!);
}

describe("eval as an HTML page", () => {
  it("loads nothing and runs nothing", () => {
    const html = textOf(mixedReport());
    expect(html).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    );
    expect(html).not.toMatch(/<(?:script|link|img|iframe|object|form|a)\b|url\(|@import|\son\w+=/i);
  });

  it("shows the verdict, and what got worse before what else did not pass", () => {
    const html = textOf(mixedReport());
    expect(html).toContain("cannot tell whether better or worse than base.json");
    const headings = [...html.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, heading]) => heading);
    expect(headings).toEqual([
      "Metrics",
      "Worse than base.json: 1",
      "Failed: 1",
      "Flaky: 1",
      "Errors: not judged: 2",
      "Documents that should have been retrieved",
      "Groups",
      "Passed: 1",
      "Skipped: 1",
    ]);
  });

  it("shows expected and retrieved documents of a case side by side", () => {
    const html = textOf(mixedReport());
    const card = html.slice(html.indexOf("How many days"), html.indexOf("Where is the secret"));
    expect(card).toMatch(/<h3>Expected<\/h3>.*class="miss".*rank 6, beyond 5/s);
    expect(card).toMatch(/<h3>Retrieved<\/h3>.*1\. .*docs\/a\.md.*class="hit beyond">6\. /s);
  });

  it("draws each interval where it is", () => {
    const html = textOf(mixedReport());
    expect(html).toContain('aria-label="16.67 of 100; interval 3.01 to 56.35"');
    expect(html.match(/<svg/g)).toHaveLength(5 + 3);
  });

  it("marks a run that a model judged", () => {
    expect(textOf(reportOf("x", "model-7"))).toContain("judged by model-7</span>");
  });

  it("is a page without cases, and with passed ones only", () => {
    expect(textOf(sampleReport(sampleRun([])))).toContain("0 of 0 cases passed");
    const html = textOf(sampleReport(sampleRun([sampleCase("a"), sampleCase("b")])));
    expect(html).not.toContain("<fieldset");
    expect(html).toContain("Passed: 2");
  });

  it("opens ten cases of each list and folds the others", () => {
    const cases = Array.from({ length: 1000 }, (_, index) =>
      sampleCase(String(index), { outcome: index < 30 ? "failed" : "passed" }),
    );
    const html = textOf(sampleReport(sampleRun(cases)));
    expect(html.match(/<details class="case"/g)).toHaveLength(1000);
    expect(html.match(/<details class="case" open/g)).toHaveLength(10);
    expect(html.length).toBeLessThan(2_000_000);
  });

  it.each(hostileTexts)("stays the same page with %j", (text) => {
    expect(tagsOf(textOf(reportOf(text, text)))).toEqual(tagsOf(textOf(reportOf("x", "x"))));
    expect(textOf(reportOf(text))).not.toMatch(/[\u0000-\u0009\u000b-\u001f\ud800-\udfff\u202e]/u);
  });
});
