import { describe, expect, it } from "vitest";
import { htmlReport } from "../../../src/output/report/html/html.ts";
import { mergeReports } from "../../../src/output/report/merge.ts";
import { hostileTexts, sampleRun, wholeReport, type Sample } from "./sample.ts";

const textOf = ({ head, failures }: Sample): string => [...htmlReport(head, failures)].join("");

/** Every tag, without the values of its attributes. */
function tagsOf(html: string): Set<string> {
  const body = html.slice(html.indexOf("</style>"));
  return new Set([...body.matchAll(/<([A-Za-z!/][\w-]*)/g)].map(([, name]) => name!));
}

describe("the HTML report", () => {
  it("loads nothing and runs nothing", () => {
    const html = textOf(sampleRun({ failed: [["a.md", "x"]] }));
    expect(html).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    );
    expect(html).not.toMatch(/<(?:script|link|img|iframe|object|form|a)\b|url\(|@import|\son\w+=/i);
  });

  it("stays the same page whatever the texts are", () => {
    const failed = hostileTexts.map((text) => [text, text] as const);
    const plain = hostileTexts.map((_, index) => [`page${index}`, `r page${index}`] as const);
    const skipped = [["x", 1]] as const;
    const hostile = textOf(
      sampleRun({
        failed,
        skipped: hostileTexts.map((text) => [text, 1] as const),
        paths: hostileTexts,
        commit: hostileTexts.join(""),
        error: hostileTexts.join(""),
        status: "error",
      }),
    );
    const harmless = textOf(
      sampleRun({ failed: plain, skipped, error: "e", commit: "c", status: "error" }),
    );
    expect(tagsOf(hostile)).toEqual(tagsOf(harmless));
    expect(hostile).not.toContain("<script");
    expect(hostile).not.toMatch(/<[^>]*\sonerror/);
    expect(hostile).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(hostile.isWellFormed()).toBe(true);
  });

  it("closes every tag that it opens", () => {
    const html = textOf(sampleRun({ failed: [["a.md", "x"]], skipped: [["y", 1]], sent: 40 }));
    const open: string[] = [];
    for (const [, close, name, , empty] of html.matchAll(
      /<(\/?)([a-z][a-z0-9]*)((?:"[^"]*"|[^>"])*?)(\/?)>/g,
    )) {
      if (empty || ["meta", "br"].includes(name!)) continue;
      if (close) expect(open.pop()).toBe(name);
      else open.push(name!);
    }
    expect(open).toEqual([]);
  });

  it("groups failures by reason and lists the first 1,000", () => {
    const failed = Array.from({ length: 1200 }, (_, index) => {
      const path = `docs/page-${index}.md`;
      return [path, index < 300 ? `${path}:4:1: bad date` : `422: no text in ${path}`] as const;
    });
    const html = textOf(sampleRun({ failed }));
    expect(html).toContain("<b>300</b>bad date</summary>");
    expect(html).toContain("<b>900</b>422: no text in …</summary>");
    expect(html).toContain("docs/page-7.md:4:1");
    expect(html).toContain(
      "Only the first 1,000 failures are listed; the JSON report contains 200 more.",
    );
    expect(html).not.toContain("docs/page-1100.md<");
    expect(html.indexOf("<b>900</b>")).toBeLessThan(html.indexOf("<b>300</b>"));
  });

  it("stays small with very many reasons", () => {
    const failed = Array.from({ length: 5000 }, (_, index) => [`${index}`, `r ${index}x`] as const);
    const html = textOf(sampleRun({ failed }));
    expect(html.length).toBeLessThan(400_000);
    expect(html).toContain("<b>4,000</b>other reasons");
  });

  it.each<[string, Sample, string[]]>([
    ["ok", sampleRun(), [">Done<", "3 documents sent"]],
    ["nothing", sampleRun({ sent: 0 }), ["0 documents sent"]],
    [
      "stopped",
      sampleRun({ status: "error", error: "401: <no>" }),
      [">Stopped<", "401: &lt;no&gt;"],
    ],
    ["interrupted", sampleRun({ status: "interrupted" }), ["The run was interrupted."]],
    ["a shard", sampleRun({ shard: { index: 2, count: 8 } }), ["shard 2 of 8"]],
  ])("tells: %s", (_name, sample, expected) => {
    for (const text of expected) expect(textOf(sample)).toContain(text);
  });

  it("tells which shards are missing", () => {
    const reports = [1, 3].map((index) => ({
      name: `${index}`,
      report: wholeReport(sampleRun({ shard: { index, count: 4 } })),
    }));
    const { head, failures } = mergeReports(reports);
    const html = textOf({ head, failures: [...failures] });
    expect(html).toContain("Incomplete: shards 2 and 4 of 4 are missing.");
    expect(html).toContain(">Incomplete<");
  });
});
