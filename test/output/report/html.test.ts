import { describe, expect, it } from "vitest";
import { evalReport } from "../../../src/output/report/from/eval.ts";
import { htmlReport, throughputChart } from "../../../src/output/report/html.ts";
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

describe("html", () => {
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
      [
        "an interruption",
        uploadOf(sampleRun({ status: "interrupted" })),
        "The run was interrupted.",
      ],
      ["its shard", uploadOf(sampleRun({ shard: { index: 2, count: 8 } })), "shard 2 of 8"],
      ["that nothing was sent", uploadOf(sampleRun({ sent: 0 })), "0 documents sent"],
      [
        "that a model judged",
        evalReport(reportOf("x", "model-7"), evalPlaces),
        "judged by model-7",
      ],
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
      const failed = Array.from(
        { length: 5000 },
        (_, index) => [`${index}`, `r ${index}x`] as const,
      );
      const html = textOf(uploadOf(sampleRun({ failed })));
      expect(html.length).toBeLessThan(1_000_000);
      expect(html).toContain("and 801 more causes");
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
});

describe("the chart of throughput", () => {
  const throughput = (values: readonly number[], bucketSeconds = 1, failed = 0) => ({
    bucketSeconds,
    buckets: values.map((documents, index) => ({
      second: index * bucketSeconds,
      documents,
      failed: index === 0 ? failed : 0,
    })),
  });

  const count = (text: string, part: string): number => text.split(part).length - 1;

  it.each([[[]], [[5]], [[5, 5]]])("is left out for %j", (values) => {
    expect(throughputChart(throughput(values))).toBe("");
  });

  it("has a bar for each bucket with documents, and axes that people can read", () => {
    const chart = throughputChart(throughput([40, 0, 80, 20], 2, 2));
    expect(count(chart, 'class="sent"')).toBe(3);
    expect(count(chart, 'class="lost"')).toBe(1);
    expect(chart).toContain("<span>50</span><span>25</span><span>0</span>");
    expect(chart).toContain("<span>0</span><span>2.0s</span><span>4.0s</span>");
    expect(chart).toContain("Documents per second over 8.0s; at most 40 per second.");
    // 40 a second of 50 is four fifths of the height.
    expect(chart).toContain('y="20.00" width="0.84" height="80.00"');
  });

  it("joins buckets to at most 150 bars without losing any", () => {
    const chart = throughputChart(throughput(Array.from({ length: 600 }, () => 10)));
    expect(count(chart, 'class="sent"')).toBe(150);
    expect(count(chart, 'height="100.00"')).toBe(150);
  });

  it.each([0, 1e-9, 1e300, Number.MAX_SAFE_INTEGER])("draws only numbers for %d", (value) => {
    expect(throughputChart(throughput([value, 0, value]))).not.toMatch(/NaN|Infinity|undefined/);
  });
});
