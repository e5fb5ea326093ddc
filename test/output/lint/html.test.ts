import { describe, expect, it } from "vitest";
import { lintHtml } from "../../../src/output/lint/html.ts";
import { safeRun, type LintRun } from "../../../src/output/lint/lint-run.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import { hostileTexts } from "../report/sample.ts";
import { many, runOf, some } from "./sample.ts";

const textOf = (run: LintRun): string => [...lintHtml(safeRun(run, (text) => text))].join("");

/** Every tag, without the values of its attributes. */
function tagsOf(html: string): string[] {
  const body = html.slice(html.indexOf("</style>"));
  return [...body.matchAll(/<([A-Za-z!/][\w-]*)/g)].map(([, name]) => name!);
}

function sectionOf(html: string, name: string): string {
  const start = html.indexOf(`<section class="${name}">`);
  return html.slice(start, html.indexOf("</section>", start));
}

describe("the HTML report of lint", () => {
  it("lists the findings by rule, worst first, with the advice of the rule", () => {
    const html = textOf(runOf(some));
    expect(html).toContain("<h1>1 error, 1 warning, 1 note in 2 files</h1>");
    expect(html).toContain('<span class="pill bad">Failed</span>');
    const rules = sectionOf(html, "rules");
    expect(rules.indexOf("no-title")).toBeLessThan(rules.indexOf("missing-link"));
    expect(rules).toContain("Answers cite the title. Begin with a heading.");
    expect(rules).toContain('<li class="error"><span class="path">docs/a.md:3:5</span>');
  });

  it("lists the same findings by file", () => {
    const html = textOf(runOf(some));
    const [rules, files] = [sectionOf(html, "rules"), sectionOf(html, "files")];
    const count = (text: string): number => text.split("<li").length - 1;
    expect([count(rules), count(files)]).toEqual([3, 3]);
    expect(files).toContain(
      '<summary><b class="error">1 error</b><b class="note">1 note</b><span class="path">docs/a.md</span>',
    );
    expect(files).toContain('<span class="tag">no-title</span>');
  });

  it("marks each group with the severities in it, for the filter", () => {
    const html = textOf(runOf(some));
    expect(html).toContain('<details class="e" open>');
    expect(html).toContain('<details class="wn" open>');
    expect(html).toContain("#show-w:not(:checked)~#show-n:not(:checked)~section details.wn");
    for (const id of ["show-e", "show-w", "show-n", "by-rule", "by-file"]) {
      expect(html).toContain(`id="${id}"`);
      expect(html).toContain(`<label for="${id}">`);
    }
  });

  it.each([
    ["no findings", runOf([]), "ok", "Passed"],
    ["notes", runOf(many(2, "note")), "ok", "Passed"],
    ["warnings", runOf(many(2, "warning")), "warn", "Passed, with warnings"],
    ["too many warnings", runOf(many(2, "warning"), { failsOnWarnings: true }), "bad", "Failed"],
  ])("says how the run ended: %s", (_what, run, tone, word) => {
    expect(textOf(run)).toContain(`<span class="pill ${tone}">${word}</span>`);
  });

  it("is incomplete without a file, and names it", () => {
    const html = textOf(runOf([], { unread: new Map([["c.md", "c.md: <cut>"]]) }));
    expect(html).toContain(`<span class="pill bad">Incomplete</span>`);
    expect(html).toContain("12 documents checked with 2 rules · 1 file not read");
    expect(html).toContain("<p>c.md: &lt;cut&gt;</p>");
  });

  it("says how many findings the baseline left out", () => {
    expect(textOf(runOf([], { known: 40 }))).toContain(
      "12 documents checked with 2 rules · 40 known findings left out",
    );
  });

  it("lists the worst 5,000, folded, and counts the others", () => {
    const html = textOf(runOf([...many(5000, "note"), ...many(30, "error")]));
    expect(sectionOf(html, "rules").split("<li").length - 1).toBe(5000);
    expect(html).toContain(
      "Only the 5,000 worst findings are listed; the JSON report contains 30 more.",
    );
    expect(html).not.toContain(" open>");
    expect(html.length).toBeLessThan(3_000_000);
  });

  it("loads nothing and runs nothing", () => {
    const html = textOf(runOf(some));
    expect(html).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    );
    expect(html).not.toMatch(/<(?:script|link|img|iframe|object|form|a)\b|url\(|@import|\son\w+=/i);
  });

  it("closes every tag that it opens", () => {
    const open: string[] = [];
    const html = textOf(runOf(some, { known: 2 }));
    for (const [, close, name] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:"[^"]*"|[^>"])*>/g)) {
      if (["meta", "br", "input"].includes(name!)) continue;
      if (close) expect(open.pop()).toBe(name);
      else open.push(name!);
    }
    expect(open).toEqual([]);
  });

  it("stays the same page whatever the texts are", () => {
    const finding = (text: string) => findingWith({ message: text, path: text, rule: text });
    const hostile = textOf(runOf(hostileTexts.map((text) => finding(text))));
    const plain = textOf(runOf(hostileTexts.map((_, index) => finding(`x${index}`))));
    expect(tagsOf(hostile)).toEqual(tagsOf(plain));
    expect(hostile).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(hostile.isWellFormed()).toBe(true);
  });
});
