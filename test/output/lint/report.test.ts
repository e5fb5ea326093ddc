import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  lintReportFormatOf,
  writeLintCodeQuality,
  writeLintReport,
} from "../../../src/output/lint/report.ts";
import { fixedLines } from "../../../src/output/lint/notes.ts";
import { safeRun, type LintRun } from "../../../src/output/lint/lint-run.ts";
import { createSecrets } from "../../../src/output/terminal/redact.ts";
import { temporaryFolder } from "../../support.ts";
import { findingWith, printOf } from "../../checks/lint/finding.ts";
import { runOf } from "./sample.ts";

const key = "onyx_pat_1234567890abcdef";

describe("writeLintReport", () => {
  const secrets = createSecrets();
  secrets.add(key);
  const options = { redact: secrets.redactLast, prefix: "" };
  const leaky = findingWith({
    rule: "no-title",
    severity: "error",
    message: `a key ${key}\u001b]0;x\u0007 and its start ${key.slice(0, 12)}`,
    path: `docs/${key}\u202e.md`,
  });

  it.each([
    ["report.sarif", '"version": "2.1.0"'],
    ["report.xml", "<testsuites"],
    ["REPORT.HTML", "<!doctype html>"],
    ["report.json", "the JSON of"],
  ])("writes %s, without secrets and control characters", async (name, part) => {
    const path = join(temporaryFolder(), name);
    const json = ({ findings }: LintRun): string[] => [
      `the JSON of ${JSON.stringify([...findings])}`,
    ];
    await writeLintReport(path, runOf([leaky]), { ...options, json });
    const text = readFileSync(path, "utf8");
    expect(text).toContain(part);
    expect(text).toContain("a key ***^[]0;x^G and its start ***");
    expect(text).not.toContain("onyx");
    expect(text).not.toMatch(/[\u0007\u001b\u202e]/);
  });

  it("writes GitLab's report the same way", async () => {
    const path = join(temporaryFolder(), "gl-code-quality-report.json");
    await writeLintCodeQuality(path, runOf([leaky]), options);
    expect(readFileSync(path, "utf8")).not.toContain("onyx");
  });

  it.each(["report.txt", "report", ".sarif"])("refuses %s", (name) => {
    expect(() => lintReportFormatOf(name)).toThrow(
      expect.objectContaining({
        exit: "usage",
        hints: ["use a file name that ends in .json, .sarif, .xml (JUnit) or .html"],
      }),
    );
  });
});

it("safeRun keeps only the members of a finding", () => {
  const withFix = { ...findingWith(), fix: "a secret", span: { start: 1, end: 2 } };
  expect([...safeRun(runOf([withFix]), (text) => text).findings]).toEqual([findingWith()]);
});

describe("the lines about fixed findings", () => {
  const entry = { path: "docs/a.md", rule: "missing-link", fingerprints: [printOf(1)] };
  const two = { ...entry, rule: "no-title", fingerprints: [printOf(1), printOf(2)] };
  const shown = (path: string): string => `up/${path}`;

  it.each([
    ["nothing", [], []],
    [
      "one",
      [entry],
      [
        "1 finding of the baseline no longer occurs: remove it with --write-baseline",
        "  up/docs/a.md: missing-link",
      ],
    ],
    [
      "several",
      [entry, two],
      [
        "3 findings of the baseline no longer occur: remove them with --write-baseline",
        "  up/docs/a.md: missing-link",
        "  up/docs/a.md: no-title, 2 findings",
      ],
    ],
  ])("name %s", (_what, fixed, lines) => {
    expect(fixedLines(fixed, shown)).toEqual(lines);
  });

  it("are few and one line each, whatever the file contains", () => {
    const fixed = Array.from({ length: 300 }, () => ({ ...entry, path: "a\n\u001b[2J.md" }));
    const lines = fixedLines(fixed, shown);
    expect(lines).toHaveLength(22);
    expect(lines[1]).toBe("  up/a ^[[2J.md: missing-link");
    expect(lines.at(-1)).toBe("  and 280 more");
  });
});
