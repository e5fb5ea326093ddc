import { describe, expect, it } from "vitest";
import { gitlabReport } from "../../../src/output/report/gitlab.ts";
import { annotationsOf, jobSummary } from "../../../src/output/report/github.ts";
import { htmlReport } from "../../../src/output/report/html.ts";
import { jsonOf } from "../../../src/output/report/json.ts";
import { junitReport } from "../../../src/output/report/junit.ts";
import type { Report } from "../../../src/output/report/report.ts";
import { sarifReport } from "../../../src/output/report/sarif.ts";
import { formatAnnotation } from "../../../src/output/workflow-commands.ts";
import { foreign, hostileTexts } from "./sample.ts";
import { SarifLog } from "./sarif-schema.ts";
import { parseXml, type Element } from "./xml.ts";

const textOf = (form: (report: Report) => Iterable<string>, report: Report): string =>
  [...form(report)].join("");

const dangerous = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Every tag in its order, without the values of its attributes. */
function tagsOf(html: string): string[] {
  const body = html.slice(html.indexOf("</style>"));
  return [...body.matchAll(/<([A-Za-z!/][\w-]*)/g)].map(([, name]) => name!);
}

function expectClosedTags(html: string): void {
  const open: string[] = [];
  const tag = /<(\/?)([a-z][a-z0-9]*)((?:"[^"]*"|[^>"])*?)(\/?)>/g;
  for (const [, close, name, , empty] of html.matchAll(tag)) {
    if (empty || ["meta", "br", "input"].includes(name!)) continue;
    if (close) expect(open.pop()).toBe(name);
    else open.push(name!);
  }
  expect(open).toEqual([]);
}

/** The cases; checks what readers of the file rely on: totals, and names that occur once. */
function casesOf(report: Report): Element[] {
  const root = parseXml(textOf(junitReport, report));
  const [suite] = root.children;
  const cases = suite!.children.filter(({ name }) => name === "testcase");
  const count = (kind: string): string =>
    String(cases.filter(({ children }) => children.some(({ name }) => name === kind)).length);
  const tests = String(cases.length);
  const totals = { tests, failures: count("failure"), errors: count("error") };
  for (const { attributes } of [root, suite!]) {
    expect(attributes).toMatchObject({ ...totals, skipped: count("skipped") });
  }
  const names = cases.map(({ attributes }) => `${attributes["classname"]} ${attributes["name"]}`);
  expect(new Set(names).size).toBe(names.length);
  return cases;
}

describe.each(Object.entries(foreign))("a report of %s with foreign texts", (_name, reportOf) => {
  const plain = reportOf("x");

  it("is a page that loads nothing, runs nothing and closes every tag", () => {
    const html = textOf(htmlReport, plain);
    expect(html).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    );
    expect(html).not.toMatch(/<(?:script|link|img|iframe|object|form|a)\b|url\(|@import|\son\w+=/i);
    expect(html).toMatch(/<footer>Written by knowctl \d/);
    expectClosedTags(html);
  });

  it.each(hostileTexts)("stays the same page: %j", (text) => {
    const html = textOf(htmlReport, reportOf(text));
    expect(tagsOf(html)).toEqual(tagsOf(textOf(htmlReport, plain)));
    expect(html).not.toMatch(dangerous);
    expect(html.isWellFormed()).toBe(true);
  });

  it.each(hostileTexts)("stays the same tests in XML: %j", (text) => {
    const shape = (report: Report) =>
      casesOf(report).map(({ children }) => children.map((e) => e.name));
    expect(shape(reportOf(text))).toEqual(shape(plain));
  });

  it.each(hostileTexts)("stays data in JSON, SARIF and GitLab's form: %j", (text) => {
    const report = reportOf(text);
    expect(JSON.parse([...jsonOf(report.data)].join(""))).toMatchObject({
      version: expect.any(Number) as number,
    });
    const texts = [textOf(sarifReport, report), textOf(gitlabReport, report)];
    for (const each of texts) expect(each).not.toMatch(dangerous);
    SarifLog.parse(JSON.parse(texts[0]!));
    const issues = JSON.parse(texts[1]!) as { fingerprint: string }[];
    expect(new Set(issues.map(({ fingerprint }) => fingerprint)).size).toBe(issues.length);
  });

  it.each(hostileTexts)("stays one line an annotation, and text in the job summary: %j", (text) => {
    const report = reportOf(text);
    for (const each of annotationsOf(report, "docs/")) {
      expect(formatAnnotation(each)).not.toMatch(/[\r\n]/);
    }
    // Beside letters and references only what the summary of harmless texts has as well.
    const marks = (summary: string): string =>
      summary.replace(/&#\d+;/g, "").replace(/[^|<>`#[\]!*_~]/g, "");
    expect(marks(jobSummary(report))).toBe(marks(jobSummary(plain)));
    expect(jobSummary(report)).not.toContain("www.");
  });
});
