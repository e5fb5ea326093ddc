import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { safeRun, type LintRun } from "../../../src/output/lint/lint-run.ts";
import { sarifReport } from "../../../src/output/lint/sarif.ts";
import { findingWith } from "../../checks/lint/finding.ts";
import { hostileTexts } from "../report/sample.ts";
import { many, noTitle, runOf, some } from "./sample.ts";
import { SarifLog } from "./sarif-schema.ts";

const same = (text: string): string => text;

function textOf(run: LintRun, prefix?: string): string {
  return [...sarifReport(safeRun(run, same), prefix)].join("");
}

function readRun(run: LintRun, prefix?: string) {
  const log = SarifLog.parse(JSON.parse(textOf(run, prefix)));
  const [only, ...others] = log.runs;
  expect(others).toEqual([]);
  // What readers rely on: an index leads to the rule of the same name.
  for (const { ruleId, ruleIndex } of only!.results) {
    if (ruleIndex !== undefined) expect(only!.tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
  }
  return only!;
}

describe("the SARIF report", () => {
  it("has rules and findings, worst first", () => {
    const run = readRun(runOf(some), "handbook/");
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

  it("cuts the example of a rule about long texts", () => {
    const long = { ...noTitle, bad: "word ".repeat(10_000) };
    const [rule] = readRun(runOf([], { rules: [long] })).tool.driver.rules;
    expect(rule?.help?.text).toContain("word …\n\nGood:");
    expect(rule?.help?.text.length).toBeLessThan(1300);
  });

  it("percent-encodes paths, and names the first line of a binary file, as GitHub needs one", () => {
    const [, binary] = readRun(runOf(some)).results;
    expect(binary?.locations).toEqual([
      {
        physicalLocation: {
          artifactLocation: { uri: "docs/%C3%A4%20b.pdf", uriBaseId: "SRCROOT" },
          region: { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 },
        },
      },
    ]);
  });

  it.each([
    ["c:/x.md", "c%3A/x.md"],
    ["a?b#c%d.md", "a%3Fb%23c%25d.md"],
    ["\ud800.md", "%EF%BF%BD.md"],
    ["\u{1f600}.md", "%F0%9F%98%80.md"],
  ])("makes a URI of the path %j", (path, uri) => {
    const [result] = readRun(runOf([findingWith({ path })])).results;
    expect(result?.locations[0]?.physicalLocation.artifactLocation.uri).toBe(uri);
  });

  it("has no index for a finding of no rule", () => {
    const [result] = readRun(runOf([findingWith({ rule: "unused-comment" })])).results;
    expect(result).not.toHaveProperty("ruleIndex");
  });

  it("is no success where files could not be read, and names the first hundred", () => {
    const names = Array.from({ length: 102 }, (_, index) => `docs/ä${index}.md`);
    const unread = new Map(names.map((name) => [name, `${name}: half a character`]));
    const [invocation] = readRun(runOf(some, { unread }), "handbook/").invocations;
    expect(invocation?.executionSuccessful).toBe(false);
    const notes = invocation?.toolExecutionNotifications ?? [];
    expect(notes).toHaveLength(101);
    const artifactLocation = { uri: "handbook/docs/%C3%A40.md", uriBaseId: "SRCROOT" };
    expect(notes[0]).toEqual({
      level: "error",
      message: { text: "docs/ä0.md: half a character" },
      locations: [{ physicalLocation: { artifactLocation } }],
    });
    expect(notes[100]?.message.text).toBe("2 more files could not be read");
  });

  it("keeps the 5,000 worst and says how many it cut", () => {
    const findings = [...many(4000, "note"), ...many(4000, "warning"), ...many(9, "error")];
    const { results, invocations } = readRun(runOf(findings));
    const levels = results.map(({ level }) => level);
    expect(levels).toEqual([
      ...Array<string>(9).fill("error"),
      ...Array<string>(4000).fill("warning"),
      ...Array<string>(991).fill("note"),
    ]);
    expect(invocations).toEqual([
      {
        executionSuccessful: true,
        toolExecutionNotifications: [
          {
            level: "warning",
            message: {
              text: "3,009 more findings: only the 5,000 worst findings are in this file; the JSON report contains all",
            },
          },
        ],
      },
    ]);
  });

  it("stays below the size that GitHub accepts, even with long random messages", () => {
    const noise = (index: number): string =>
      createHash("shake256", { outputLength: 900 }).update(`${index}`).digest("base64");
    const findings = many(6000, "error").map((each, at) => ({ ...each, message: noise(at) }));
    expect(gzipSync(textOf(runOf(findings))).length).toBeLessThan(10 * 1024 * 1024);
  });

  it("is valid whatever the texts are", () => {
    const findings = hostileTexts.map((text) =>
      findingWith({ message: `m${text}`, path: `p${text}` }),
    );
    const text = textOf(runOf(findings));
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(readRun(runOf(findings)).results).toHaveLength(hostileTexts.length);
  });
});
