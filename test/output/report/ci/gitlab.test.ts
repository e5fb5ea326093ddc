import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gitlabCodeQuality, writeCodeQuality } from "../../../../src/output/report/ci/gitlab.ts";
import type { ReportFailure } from "../../../../src/output/report/record.ts";
import { temporaryFolder } from "../../../support.ts";
import { hostileTexts, sampleRun } from "../sample.ts";

interface Finding {
  description: string;
  check_name: string;
  fingerprint: string;
  severity: string;
  location: { path: string; lines: { begin: number } };
}

function findingsOf(failures: Iterable<ReportFailure>, prefix?: string): Finding[] {
  return JSON.parse([...gitlabCodeQuality(failures, prefix)].join("")) as Finding[];
}

describe("GitLab code quality", () => {
  it("has a finding for each failure", () => {
    const failed = [
      ["a.md", "a.md:3:5: bad"],
      ["b.md", "422"],
    ] as const;
    const findings = findingsOf(sampleRun({ failed }).failures, "docs/");
    expect(findings).toEqual([
      {
        description: "bad",
        check_name: "knowctl/ingest",
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        severity: "major",
        location: { path: "docs/a.md", lines: { begin: 3 } },
      },
      expect.objectContaining({
        description: "422",
        location: { path: "docs/b.md", lines: { begin: 1 } },
      }),
    ]);
    expect(findingsOf([])).toEqual([]);
  });

  it("has fingerprints that differ in a run and stay from run to run", () => {
    const failure = { path: "a.md", reason: "a.md:3:5: bad", line: 3, retryable: true };
    const moved = { ...failure, reason: "a.md:9:5: bad", line: 9 };
    const twice = findingsOf([failure, failure, moved, { ...failure, path: "b.md" }]);
    expect(new Set(twice.map(({ fingerprint }) => fingerprint)).size).toBe(4);
    // The line does not count: an edit above does not make a new finding.
    expect(findingsOf([moved])[0]?.fingerprint).toBe(twice[0]?.fingerprint);
    expect(twice[0]?.severity).toBe("minor");
  });

  it("takes any text, and at most 10,000", () => {
    const failed = hostileTexts.map((text) => [text, text] as const);
    expect(findingsOf(sampleRun({ failed }).failures)).toHaveLength(hostileTexts.length);
    const endless = (function* () {
      for (let index = 0; ; index++) yield { path: `${index}`, reason: "b", retryable: false };
    })();
    expect(findingsOf(endless)).toHaveLength(10_000);
  });

  it("is written redacted", async () => {
    const path = join(temporaryFolder(), "gl.json");
    const { failures } = sampleRun({ failed: [["a.md", "SECRET"]] });
    const redact = (text: string): string => text.replaceAll("SECRET", "***");
    await writeCodeQuality(path, failures, { redact, prefix: undefined });
    expect(readFileSync(path, "utf8")).toMatch(/"description":"\*\*\*"/);
  });
});
