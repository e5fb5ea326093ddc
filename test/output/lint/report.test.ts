import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  lintReportFormatOf,
  writeLintCodeQuality,
  writeLintReport,
} from "../../../src/output/lint/report.ts";
import { baselineLines, fixLines } from "../../../src/output/lint/notes.ts";
import { safeRun } from "../../../src/output/lint/lint-run.ts";
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
    const json = (run: object): string[] => [`the JSON of ${JSON.stringify(run)}`];
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
  expect(safeRun(runOf([withFix]), (text) => text).findings).toEqual([findingWith()]);
});

describe("the lines about a baseline", () => {
  const entry = { path: "docs/a.md", rule: "missing-link", fingerprints: [printOf(1)] };

  it.each([
    ["nothing", { findings: [], known: 0, fixed: [] }, []],
    [
      "known findings",
      { findings: [], known: 1, fixed: [] },
      ["1 known finding left out: known.json"],
    ],
    [
      "a fixed finding",
      { findings: [], known: 2, fixed: [entry] },
      [
        "2 known findings left out: known.json",
        "1 finding of the baseline no longer occurs; add --write-baseline to remove it",
        "  fixed up/docs/a.md: missing-link, 1",
      ],
    ],
  ])("say %s", (_what, compared, lines) => {
    expect(baselineLines(compared, "known.json", (path) => `up/${path}`)).toEqual(lines);
  });

  it("are few and one line each, whatever the file contains", () => {
    const fixed = Array.from({ length: 300 }, () => ({ ...entry, path: "a\n\u001b[2J.md" }));
    const lines = baselineLines({ findings: [], known: 0, fixed }, "known.json");
    expect(lines).toHaveLength(22);
    expect(lines[1]).toBe("  fixed a ^[[2J.md: missing-link, 1");
    expect(lines.at(-1)).toBe("  and 280 more");
  });
});

it("the lines about fixes name file, rules and places", () => {
  const changed = [
    { rule: "spaces", places: 2 },
    { rule: "title", places: 1 },
  ];
  const outcomes = [
    { path: "a.md", applied: changed, left: 1 },
    { path: "b\n.md", applied: [], left: 0, refused: "it changed after it was read" },
    { path: "c.md", applied: [], left: 0 },
  ];
  expect(fixLines(outcomes)).toEqual([
    "fixed a.md: spaces, 2 places; title, 1 place",
    "not fixed b .md: it changed after it was read",
    "1 fix would overlap with another: run --fix again",
  ]);
});
