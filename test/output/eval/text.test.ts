import { describe, expect, it } from "vitest";
import type { EvalReport } from "../../../src/checks/eval/report.ts";
import { writeEvalText } from "../../../src/output/eval/text.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { displayWidth } from "../../../src/output/terminal/width.ts";
import { sampleCase, sampleReport, sampleRun } from "../../checks/eval/sample.ts";
import { createTestContext } from "../../support.ts";
import { hostileTexts, mixedReport, reportOf } from "./report-sample.ts";

interface Shown {
  isTTY?: boolean;
  verbose?: boolean;
  secret?: string;
}

async function textOf(report: EvalReport, { isTTY = false, verbose, secret }: Shown = {}) {
  const context = createTestContext({ isTTY });
  const output = createOutput(context, { verbose, color: false });
  if (secret !== undefined) output.secrets.add(secret);
  await writeEvalText(output, report);
  await output.flush();
  return context.stdoutText();
}

const many = sampleReport(
  sampleRun(
    Array.from({ length: 60 }, (_, index) =>
      sampleCase(`case-${index}`, { outcome: index < 40 ? "failed" : "error" }),
    ),
  ),
);

describe("eval for people", () => {
  it("shows counts, verdict, metrics, and what got worse first", async () => {
    expect(await textOf(mixedReport())).toMatchInlineSnapshot(`
      "eval retrieval: suite.yaml · way keyword · k 5 · onyx
      1 of 7 cases passed: 2 failed, 1 flaky, 2 errors, 1 skipped
      errors: 2 × no response within 30s
      cannot tell whether better or worse than base.json: 0 better, 1 worse of 6 cases (p 1); 2 cases that ended in an error are undecided
      metric     value    95 % interval  cases  change (95 %)
      passed    16.7 %  3.0 % to 56.4 %      6  −16.7 (−72.1 to +51.8) points
      hit@5     20.0 %  3.6 % to 62.4 %      5  −20.0 (−76.5 to +53.9) points
      recall@5  20.0 %  3.6 % to 62.4 %      5  −20.0 (−76.5 to +53.9) points
      MRR@5      0.200   0.036 to 0.624      5  −0.200 (−0.765 to +0.539)
      nDCG@5     0.200   0.036 to 0.624      5  −0.200 (−0.765 to +0.539)
      group   cases  passed   hit@5  recall@5  MRR@5  nDCG@5
      people      2  50.0 %  50.0 %    50.0 %  0.500   0.500
      (none)      2   0.0 %       —         —      —       —
      it          3   0.0 %   0.0 %     0.0 %  0.000   0.000
      Worse than base.json: 1
        leave-days  How many days of leave does Handbook give?
          expected   ✗ docs/people/holidays.md (rank 6, beyond 5)
          retrieved  1 docs/a.md  2 docs/b.md  3 docs/c.md  4 docs/d.md  5 docs/e.md  6 ✓ docs/people/holidays.md
      Failed: 1
        no-leak (as intern)  Where is the secret plan?
          unwanted   docs/board.md (rank 1)
          retrieved  1 ✗ docs/board.md
      Flaky: 1
        shaky  What about shaky?
          expected   ✗ docs/shaky.md (not retrieved)
          retrieved  1 docs/other.md
      Errors: not judged: 2
        late  What about late?
          expected   docs/late.md (not judged)
          reason     no response within 30s
        later  What about later?
          expected   docs/later.md (not judged)
          reason     no response within 30s
      "
    `);
  });

  it("fits one screen of 80 columns and says how many cases are not shown", async () => {
    const lines = (await textOf(many, { isTTY: true })).trimEnd().split("\n");
    expect(lines.length).toBeLessThan(24);
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(80);
    const shown = lines.filter((line) => line.startsWith("  case-")).length;
    expect(lines.at(-1)).toBe(`and ${60 - shown} more: --verbose lists them all`);
    expect(shown).toBeGreaterThan(0);
  });

  it("shows everything with --verbose, and in a pipe", async () => {
    for (const shown of [{ isTTY: true, verbose: true }, { isTTY: false }]) {
      const text = await textOf(many, shown);
      expect(text.match(/^ {2}case-/gm)).toHaveLength(60);
      expect(text).not.toContain("more: --verbose");
    }
  });

  it("marks a run that a model judged", async () => {
    expect(await textOf(reportOf("x", "model-7"))).toContain("judged by model-7");
  });

  it.each(hostileTexts)("keeps %j on its line, without control characters", async (text) => {
    const harmless = (await textOf(reportOf("x"))).split("\n").length;
    for (const verbose of [false, true]) {
      const shown = await textOf(reportOf(text), { verbose });
      expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      expect(shown.split("\n")).toHaveLength(harmless);
    }
  });

  it("shows no part of a secret, also where a line is cut", async () => {
    const secret = "s3cr3t-of-this-run-0123456789";
    for (const isTTY of [false, true]) {
      const text = await textOf(reportOf(`${"x".repeat(50)} ${secret}`), { isTTY, secret });
      expect(text).not.toContain("s3cr3t");
    }
  });
});
