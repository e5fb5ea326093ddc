import { describe, expect, it } from "vitest";
import { evalReport } from "../../../src/output/report/from/eval.ts";
import { htmlReport } from "../../../src/output/report/html.ts";
import { mergeReports } from "../../../src/output/report/stored/merge.ts";
import type { Report } from "../../../src/output/report/report.ts";
import { sampleCase, sampleReport, sampleRun as evalRun } from "../../checks/eval/sample.ts";
import { mixedReport, reportOf } from "./eval-sample.ts";
import {
  evalPlaces,
  lintOf,
  manyFindings,
  sampleRun,
  someFindings,
  uploadOf,
  wholeReport,
} from "./sample.ts";

const textOf = (report: Report): string => [...htmlReport(report)].join("");

function sectionOf(html: string, name: string): string {
  const start = html.indexOf(`<section class="${name}">`);
  return html.slice(start, html.indexOf("</section>", start));
}

const summaries = (html: string): string[] =>
  [...html.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, inner]) =>
    inner!.replace(/<[^>]*>/g, " ").trim(),
  );

describe("the page", () => {
  it("lists items by cause, worst first, with the advice of the rule", () => {
    const html = textOf(lintOf(someFindings));
    expect(html).toContain("<h1>1 error, 1 warning, 1 note in 2 files</h1>");
    expect(html).toContain('<span class="pill bad">Failed</span>');
    const causes = sectionOf(html, "by-cause");
    expect(causes.indexOf("no-title")).toBeLessThan(causes.indexOf("missing-link"));
    expect(causes).toContain("Answers cite the title. Begin with a heading.");
    expect(causes).toContain('<li><span class="path">docs/a.md:3:5</span>');
  });

  it("lists the same findings by file, and hides the items of a word by style alone", () => {
    const html = textOf(lintOf(someFindings));
    const files = sectionOf(html, "by-file");
    expect(files.split("<li>").length - 1).toBe(3);
    expect(files).toContain('<span class="path">docs/a.md</span>');
    expect(files).toContain('<span class="tag">no-title</span>');
    expect(html).toContain('<input type="checkbox" id="k1" checked>warning: 1</label>');
    expect(html).toContain('<details class="k1" open>');
    expect(html).toContain("main:has(#k1:not(:checked)) .k1");
  });

  it.each([
    ["no findings", lintOf([]), "ok", "Passed"],
    ["notes", lintOf(manyFindings(2, "note")), "ok", "Passed"],
    ["warnings", lintOf(manyFindings(2, "warning")), "warn", "Passed, with warnings"],
    ["too many", lintOf(manyFindings(2, "warning"), { failsOnWarnings: true }), "bad", "Failed"],
    [
      "a file that was not read",
      lintOf([], { unread: new Map([["c.md", "c.md: <cut>"]]) }),
      "bad",
      "Incomplete",
    ],
    ["an upload", uploadOf(sampleRun()), "ok", "Done"],
    ["a stopped one", uploadOf(sampleRun({ status: "error", error: "401" })), "bad", "Stopped"],
    ["an interrupted one", uploadOf(sampleRun({ status: "interrupted" })), "warn", "Interrupted"],
  ])("says how the run ended: %s", (_what, report, tone, word) => {
    expect(textOf(report)).toContain(`<span class="pill ${tone}">${word}</span>`);
  });

  it.each<[string, Report, string]>([
    [
      "what was not read",
      lintOf([], { unread: new Map([["c.md", "c.md: <cut>"]]) }),
      "&lt;cut&gt;",
    ],
    ["what the baseline left out", lintOf([], { known: 40 }), "40 known findings left out"],
    [
      "why it stopped",
      uploadOf(sampleRun({ status: "error", error: "401: <no>" })),
      "401: &lt;no&gt;",
    ],
    ["an interruption", uploadOf(sampleRun({ status: "interrupted" })), "The run was interrupted."],
    ["its shard", uploadOf(sampleRun({ shard: { index: 2, count: 8 } })), "shard 2 of 8"],
    ["that nothing was sent", uploadOf(sampleRun({ sent: 0 })), "0 documents sent"],
    ["that a model judged", evalReport(reportOf("x", "model-7"), evalPlaces), "judged by model-7"],
  ])("tells %s", (_what, report, text) => expect(textOf(report)).toContain(text));

  it("tells which shards are missing", () => {
    const reports = [1, 3].map((index) => ({
      name: `${index}`,
      report: wholeReport(sampleRun({ shard: { index, count: 4 } })),
    }));
    const { failures, ...head } = mergeReports(reports);
    const html = textOf(uploadOf({ head, failures }));
    expect(html).toContain("Incomplete: shards 2 and 4 of 4 are missing.");
    expect(html).toContain(">Incomplete<");
  });

  it("groups failures by reason, without their path and id, the largest first", () => {
    const failed = Array.from({ length: 1200 }, (_, index) => {
      const path = `docs/page-${index}.md`;
      return [path, index < 300 ? `${path}:4:1: bad date` : `422: no text in ${path}`] as const;
    });
    const html = textOf(uploadOf(sampleRun({ failed })));
    expect(summaries(html).slice(0, 2)).toEqual([
      expect.stringMatching(/^900 +failed +422: no text in …$/),
      expect.stringMatching(/^300 +failed +bad date$/),
    ]);
    expect(html).toContain("docs/page-7.md:4:1");
  });

  it("lists the worst 5,000, folded, and counts the others", () => {
    const html = textOf(lintOf([...manyFindings(5000, "note"), ...manyFindings(30, "error")]));
    expect(sectionOf(html, "by-cause").split("<li>").length - 1).toBe(5000);
    expect(html).toContain("Only the 5,000 worst are listed; the JSON report contains 30 more.");
    expect(html).not.toContain(" open>");
    expect(html.length).toBeLessThan(3_000_000);
  });

  it("stays small with very many reasons", () => {
    const failed = Array.from({ length: 5000 }, (_, index) => [`${index}`, `r ${index}x`] as const);
    const html = textOf(uploadOf(sampleRun({ failed })));
    expect(html.length).toBeLessThan(1_000_000);
    expect(html).toContain("and 801 more causes");
  });

  it("shows what got worse before what else did not pass, then the rest", () => {
    const html = textOf(evalReport(mixedReport(), evalPlaces));
    expect(html).toContain("cannot tell whether better or worse than base.json");
    const groups = summaries(html.replaceAll(/<details open>|<details><summary>/g, "")).map(
      (text) => text.replace(/ +/g, " "),
    );
    expect(groups.filter((text) => /^\d+ /.test(text))).toEqual([
      "1 worse Worse than base.json",
      "1 Failed",
      "1 Flaky",
      "2 error Errors: not judged",
      "1 Passed",
      "1 Skipped",
    ]);
  });

  it("shows expected and retrieved documents of a case side by side", () => {
    const html = textOf(evalReport(mixedReport(), evalPlaces));
    const card = html.slice(html.indexOf("How many days"), html.indexOf("Where is the secret"));
    expect(card).toMatch(/<h3>expected<\/h3>.*class="bad".*rank 6, beyond 5/s);
    expect(card).toMatch(/<h3>retrieved<\/h3>.*docs\/a\.md.*class="good">docs\/people\/holidays/s);
  });

  it("draws each interval where it is", () => {
    const html = textOf(evalReport(mixedReport(), evalPlaces));
    expect(html).toContain('aria-label="16.67 of 100; interval 3.01 to 56.35"');
    expect(html.match(/<svg/g)).toHaveLength(5 + 3);
  });

  it("opens ten cases and folds the others", () => {
    const cases = Array.from({ length: 1000 }, (_, index) =>
      sampleCase(String(index), { outcome: index < 30 ? "failed" : "passed" }),
    );
    const html = textOf(evalReport(sampleReport(evalRun(cases)), evalPlaces));
    expect(html.match(/<li class="case">/g)).toHaveLength(1000);
    expect(html.match(/<li class="case"><details open>/g)).toHaveLength(10);
    expect(html.length).toBeLessThan(2_000_000);
  });
});
