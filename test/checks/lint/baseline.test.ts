import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  readBaseline,
  baselineOf,
  baselineText,
  compareWithBaseline,
  parseBaseline,
  type WasChecked,
} from "../../../src/checks/lint/baseline.ts";
import type { Finding } from "../../../src/checks/lint/rule.ts";
import { temporaryFolder } from "../../support.ts";
import { findingWith, printOf } from "./finding.ts";

const findings = [
  findingWith({ path: "b.md", fingerprint: printOf(4) }),
  findingWith({ path: "docs/a.md", rule: "no-title", fingerprint: printOf(3) }),
  findingWith({ path: "docs/a.md", fingerprint: printOf(2) }),
  findingWith({ path: "docs/a.md", fingerprint: printOf(1) }),
];
const textOf = (entries = baselineOf(findings)): string => [...baselineText(entries)].join("");

describe("a baseline file", () => {
  it("has one sorted line for each path and rule", () => {
    expect(textOf()).toBe(`{
  "version": 1,
  "type": "lint-baseline",
  "findings": [
    {"path":"b.md","rule":"missing-link","count":1,"fingerprints":["${printOf(4)}"]},
    {"path":"docs/a.md","rule":"missing-link","count":2,"fingerprints":["${printOf(1)}","${printOf(2)}"]},
    {"path":"docs/a.md","rule":"no-title","count":1,"fingerprints":["${printOf(3)}"]}
  ]
}
`);
  });

  it("is the same whatever the order of the findings", () => {
    expect(textOf(baselineOf(findings.toReversed()))).toBe(textOf());
  });

  it("contains neither messages nor text of the files", () => {
    expect(textOf()).not.toContain("plan.md");
  });

  it.each([
    ["findings", findings],
    ["no finding", []],
  ])("is read as it was written, with %s", (_what, some) => {
    const entries = baselineOf(some);
    expect(parseBaseline(textOf(entries), "known.json")).toEqual(entries);
  });

  it("is read with a byte order mark", () => {
    expect(parseBaseline(`\ufeff${textOf()}`, "known.json")).toHaveLength(3);
  });

  it("keeps the old entries that the run did not look for", () => {
    const old = baselineOf(findings);
    const now = baselineOf([findings[2]!], old, ({ path }) => path === "docs/a.md");
    expect(now).toEqual([
      { path: "b.md", rule: "missing-link", fingerprints: [printOf(4)] },
      { path: "docs/a.md", rule: "missing-link", fingerprints: [printOf(2)] },
    ]);
  });
});

describe("a file that is no baseline", () => {
  const valid = JSON.parse(textOf()) as { findings: object[] };
  it.each([
    ["broken JSON", "{", "known.json: is not JSON"],
    ["an empty file", "", "known.json: is not JSON"],
    [
      "a merge conflict",
      textOf().replace("[\n", "[\n<<<<<<< HEAD\n"),
      "known.json: has an unsolved merge conflict",
    ],
    ["null", "null", "known.json: is JSON, but not a baseline of knowctl lint"],
    [
      "a report",
      '{"version":1,"type":"ingest-report"}',
      "known.json: is JSON, but not a baseline of knowctl lint",
    ],
    [
      "another version",
      JSON.stringify({ ...valid, version: 2 }),
      "known.json: a baseline of version 2",
    ],
    [
      "an unknown member",
      JSON.stringify({ ...valid, rules: [] }),
      /^known\.json: is not a valid baseline: /,
    ],
    [
      "a fingerprint that is none",
      JSON.stringify({ ...valid, findings: [{ ...valid.findings[0], fingerprints: ["x"] }] }),
      "known.json: is not a valid baseline: findings.0.fingerprints.0: not a fingerprint",
    ],
    [
      "a wrong count",
      JSON.stringify({ ...valid, findings: [{ ...valid.findings[0], count: 2 }] }),
      "known.json: the entry of missing-link in b.md is damaged: count 2, number of fingerprints 1",
    ],
  ])("is refused: %s", (_what, text, message) => {
    const failure = expect.objectContaining({
      exit: "usage",
      message: typeof message === "string" ? message : expect.stringMatching(message),
    });
    expect(() => parseBaseline(text, "known.json")).toThrow(failure);
  });
});

describe("readBaseline", () => {
  it("refuses a missing file, unless it may be missing", () => {
    const path = join(temporaryFolder(), "known.json");
    expect(() => readBaseline(path, "known.json")).toThrow(
      "--baseline known.json: cannot be read: no such file",
    );
    expect(readBaseline(path, "known.json", true)).toEqual([]);
    writeFileSync(path, textOf());
    expect(readBaseline(path, "known.json")).toHaveLength(3);
  });

  it("refuses what cannot be read, even if it may be missing", () => {
    const path = join(temporaryFolder(), "known.json");
    mkdirSync(path);
    expect(() => readBaseline(path, "known.json", true)).toThrow("cannot be read: it is a folder");
  });
});

it.runIf(process.platform !== "win32")("a pipe is never read to be replaced", () => {
  const path = join(temporaryFolder(), "known.json");
  spawnSync("mkfifo", [path]);
  expect(() => readBaseline(path, "known.json", true)).toThrow(
    "--baseline known.json: it is not a regular file",
  );
});

describe("compareWithBaseline", () => {
  const baseline = baselineOf(findings);
  const compared = (some: Finding[], wasChecked?: WasChecked) =>
    compareWithBaseline(some, baseline, wasChecked);

  it("takes known findings out and counts them", () => {
    const fresh = findingWith({ fingerprint: printOf(9) });
    const moved = findings.map((each) => ({ ...each, line: 90 }));
    expect(compared([fresh, ...moved])).toEqual({
      kept: [fresh],
      known: 4,
      fixed: [],
    });
  });

  it("names entries that no longer occur", () => {
    const { fixed, known } = compared(findings.slice(2));
    expect(known).toBe(2);
    expect(fixed).toEqual([
      { path: "b.md", rule: "missing-link", fingerprints: [printOf(4)] },
      { path: "docs/a.md", rule: "no-title", fingerprints: [printOf(3)] },
    ]);
  });

  it("does not call fixed what the run did not look for", () => {
    const { fixed } = compared([], ({ rule }) => rule === "no-title");
    expect(fixed.map(({ rule }) => rule)).toEqual(["no-title"]);
  });

  it("knows a finding only in its own file and of its own rule", () => {
    const others = [
      { ...findings[0]!, path: "c.md" },
      { ...findings[0]!, rule: "no-title" },
    ];
    expect(compared(others).kept).toEqual(others);
  });
});
