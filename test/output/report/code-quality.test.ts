import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { gitlabReport } from "../../../src/output/report/gitlab.ts";
import type { Report } from "../../../src/output/report/report.ts";
import { sarifReport } from "../../../src/output/report/sarif.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import {
  lintOf,
  manyFindings,
  missingDocument,
  noTitle,
  sampleRun,
  someFindings,
  uploadOf,
  verifyOf,
} from "./sample.ts";
import { SarifLog } from "./sarif-schema.ts";

const sarifOf = (report: Report, prefix?: string): string =>
  [...sarifReport(report, prefix)].join("");

function readRun(report: Report, prefix?: string) {
  const [only, ...others] = SarifLog.parse(JSON.parse(sarifOf(report, prefix))).runs;
  expect(others).toEqual([]);
  // What readers rely on: an index leads to the rule of the same name.
  for (const { ruleId, ruleIndex } of only!.results) {
    if (ruleIndex !== undefined) expect(only!.tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
  }
  return only!;
}

describe("SARIF", () => {
  it("has rules and findings, worst first", () => {
    const run = readRun(lintOf(someFindings), "handbook/");
    expect(run.tool.driver.rules.map(({ id }) => id)).toEqual(["missing-link", "no-title"]);
    expect(run.tool.driver.rules[1]).toMatchObject({
      shortDescription: { text: "The document has no title" },
      fullDescription: {
        text: "The document has no title. Answers cite the title. Begin with a heading.",
      },
      defaultConfiguration: { level: "error" },
      properties: { tags: ["identity"] },
    });
    expect(run.tool.driver.rules[1]?.help?.markdown).toBe(
      "Answers cite the title. Begin with a heading.\n\nBad:\n\n    Text.\n\nGood:\n\n    # Leave\n    \n    Text.\n",
    );
    expect(run.columnKind).toBe("utf16CodeUnits");
    expect(run.originalUriBaseIds).toHaveProperty("SRCROOT");
    expect(run.invocations).toEqual([{ executionSuccessful: true }]);
    expect(run.results.map(({ level }) => level)).toEqual(["error", "warning", "note"]);
    expect(run.results[0]).toEqual({
      ruleId: "no-title",
      ruleIndex: 1,
      level: "error",
      message: { text: "no title" },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: "handbook/docs/a.md", uriBaseId: "SRCROOT" },
            region: { startLine: 3, startColumn: 5, endLine: 3, endColumn: 7 },
          },
        },
      ],
      partialFingerprints: { "knowctlFingerprint/v1": "0000000000000002" },
    });
  });

  it("has a result for each document that is not as it should be", () => {
    const { results } = readRun(verifyOf([missingDocument]));
    expect(results).toMatchObject([{ ruleId: "missing", level: "error" }]);
    const failed = readRun(uploadOf(sampleRun({ failed: [["docs/a.md", "docs/a.md:3:5: bad"]] })));
    expect(failed.results[0]).toMatchObject({ ruleId: "failed", message: { text: "bad" } });
  });

  it("cuts the example of a rule about long texts", () => {
    const long = { ...noTitle, bad: "word ".repeat(10_000) };
    const [rule] = readRun(lintOf([], { rules: [long] })).tool.driver.rules;
    expect(rule?.help?.text).toContain("word …\n\nGood:");
    expect(rule?.help?.text.length).toBeLessThan(1300);
  });

  it("names the first line of a binary file, as GitHub needs one", () => {
    const [, binary] = readRun(lintOf(someFindings)).results;
    expect(binary?.locations?.[0]?.physicalLocation).toEqual({
      artifactLocation: { uri: "docs/%C3%A4%20b.pdf", uriBaseId: "SRCROOT" },
      region: { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 },
    });
  });

  it.each([
    ["c:/x.md", "c%3A/x.md"],
    ["a?b#c%d.md", "a%3Fb%23c%25d.md"],
    ["\ud800.md", "%EF%BF%BD.md"],
    ["\u{1f600}.md", "%F0%9F%98%80.md"],
  ])("makes a URI of the path %j", (path, uri) => {
    const [result] = readRun(lintOf([findingWith({ path })])).results;
    expect(result?.locations?.[0]?.physicalLocation.artifactLocation.uri).toBe(uri);
  });

  it("has no index for a finding of no rule", () => {
    const [result] = readRun(lintOf([findingWith({ rule: "unused-comment" })])).results;
    expect(result?.ruleId).toBe("unused-comment");
    expect(result).not.toHaveProperty("ruleIndex");
  });

  it("is no success where files could not be read, and names the first hundred", () => {
    const names = Array.from({ length: 102 }, (_, index) => `docs/ä${index}.md`);
    const unread = new Map(names.map((name) => [name, `${name}: half a character`]));
    const [invocation] = readRun(lintOf(someFindings, { unread }), "handbook/").invocations;
    expect(invocation?.executionSuccessful).toBe(false);
    const notes = invocation?.toolExecutionNotifications ?? [];
    expect(notes).toHaveLength(101);
    const artifactLocation = { uri: "handbook/docs/%C3%A40.md", uriBaseId: "SRCROOT" };
    expect(notes[0]).toEqual({
      level: "error",
      message: { text: "half a character" },
      locations: [{ physicalLocation: { artifactLocation } }],
    });
    expect(notes[100]?.message.text).toBe("2 more items could not be judged");
  });

  it("keeps the 5,000 worst and says how many it cut", () => {
    const findings = [
      ...manyFindings(4000, "note"),
      ...manyFindings(4000, "warning"),
      ...manyFindings(9, "error"),
    ];
    const { results, invocations } = readRun(lintOf(findings));
    expect(results.map(({ level }) => level)).toEqual([
      ...Array<string>(9).fill("error"),
      ...Array<string>(4000).fill("warning"),
      ...Array<string>(991).fill("note"),
    ]);
    const text =
      "3,009 more results: only the 5,000 worst are in this file; the JSON report contains all";
    expect(invocations[0]?.toolExecutionNotifications).toEqual([
      { level: "warning", message: { text } },
    ]);
  });

  it("stays below the size that GitHub accepts, even with long random messages", () => {
    const noise = (index: number): string =>
      createHash("shake256", { outputLength: 900 }).update(`${index}`).digest("base64");
    const all = manyFindings(6000, "error").map((each, at) => ({ ...each, message: noise(at) }));
    expect(gzipSync(sarifOf(lintOf(all))).length).toBeLessThan(10 * 1024 * 1024);
  });
});

describe("GitLab's code quality report", () => {
  interface Issue {
    fingerprint: string;
    severity: string;
    location: { lines: { begin: number } };
  }
  const read = (report: Report, prefix?: string): Issue[] =>
    JSON.parse([...gitlabReport(report, prefix)].join("")) as Issue[];

  it("has the findings, worst first", () => {
    const found = read(lintOf(someFindings), "handbook/");
    expect(found.map(({ severity }) => severity)).toEqual(["major", "minor", "info"]);
    expect(found[0]).toEqual({
      description: "no title",
      check_name: "knowctl/no-title",
      fingerprint: "0000000000000002",
      severity: "major",
      location: { path: "handbook/docs/a.md", lines: { begin: 3 } },
    });
    expect(found[1]).toMatchObject({ location: { lines: { begin: 1 } } });
  });

  it("has what could not be read as critical", () => {
    const unread = new Map([["docs/c.md", "docs/c.md:1:1: half a character"]]);
    expect(read(lintOf([], { unread }), "handbook/")).toMatchObject([
      {
        description: "half a character",
        check_name: "knowctl/unreadable",
        severity: "critical",
        location: { path: "handbook/docs/c.md", lines: { begin: 1 } },
      },
    ]);
  });

  it("has a failure of an upload; one that may pass is minor", () => {
    const { head, failures } = sampleRun({
      failed: [
        ["a.md", "a.md:3:5: bad"],
        ["b.md", "503"],
      ],
    });
    const later = { ...failures[1]!, retryable: true };
    const found = read(uploadOf({ head, failures: [failures[0]!, later] }), "docs/");
    expect(found).toMatchObject([
      {
        description: "bad",
        check_name: "knowctl/ingest",
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        severity: "major",
        location: { path: "docs/a.md", lines: { begin: 3 } },
      },
      { severity: "minor" },
    ]);
  });

  it("has fingerprints that differ in a run and stay from run to run", () => {
    const { head } = sampleRun();
    const failure = { path: "a.md", reason: "a.md:3:5: bad", line: 3, retryable: true };
    const moved = { ...failure, reason: "a.md:9:5: bad", line: 9 };
    const failures = [failure, failure, moved, { ...failure, path: "b.md" }];
    const found = read(uploadOf({ head, failures }));
    expect(new Set(found.map(({ fingerprint }) => fingerprint)).size).toBe(4);
    // The line does not count: an edit above does not make a new finding.
    expect(read(uploadOf({ head, failures: [moved] }))[0]?.fingerprint).toBe(found[0]?.fingerprint);
  });

  it("has at most 10,000", () => {
    const all = [...manyFindings(10_000, "note"), ...manyFindings(1, "error")];
    expect(read(lintOf(all))).toHaveLength(10_000);
    expect(read(lintOf([]))).toEqual([]);
  });
});
