import { describe, expect, it } from "vitest";
import { CliError } from "../../../src/errors.ts";
import { checkBaseline, compareReports, verdictOf } from "../../../src/checks/eval/compare.ts";
import {
  checkFailOn,
  createReport,
  failUnlessPassed,
  parseFailOn,
} from "../../../src/checks/eval/report.ts";
import type { EvalBasis, EvalReport, Outcome } from "../../../src/checks/eval/result.ts";
import { sampleCase, sampleReport, sampleRun } from "./sample.ts";

/** A run of cases with these outcomes: `passed passed failed`, with the ids 0, 1, 2. */
function runOf(outcomes: string, basis: Partial<EvalBasis> = {}): EvalReport {
  const cases = outcomes
    .split(" ")
    .map((outcome, index) =>
      sampleCase(String(index), { outcome: outcome as Outcome, digest: "d" }),
    );
  const run = sampleRun(cases);
  return sampleReport({ ...run, basis: { ...run.basis, ...basis } });
}
const many = (count: number, outcome: string): string => Array(count).fill(outcome).join(" ");
const compare = (before: string, now: string) =>
  compareReports(runOf(before), runOf(now), "base.json");

function refusal(run: () => unknown): CliError {
  try {
    run();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("compareReports", () => {
  it.each([
    ["passed", "failed", "worse"],
    ["passed", "flaky", "worse"],
    ["failed", "passed", "better"],
    ["flaky", "passed", "better"],
    ["failed", "flaky", "flaky"],
    ["flaky", "failed", "flaky"],
    ["flaky", "flaky", "flaky"],
    ["passed", "error", "undecided"],
    ["error", "passed", "undecided"],
    ["error", "error", "undecided"],
  ] as const)("lists %s, then %s, as %s alone", (before, now, change) => {
    const comparison = compare(`passed ${before}`, `passed ${now}`);
    expect(comparison[change]).toEqual([{ id: "1", before, now }]);
    const lists = [comparison.better, comparison.worse, comparison.flaky, comparison.undecided];
    expect(lists.flat()).toHaveLength(1);
    expect(comparison).toMatchObject({ compared: 2, unchanged: 1 });
  });

  it("takes another share of passed runs for a change only beyond the flakiness of the case", () => {
    const [run] = sampleCase("0").runs;
    const caseOf = (letters: string, outcome: Outcome) =>
      sampleReport(
        sampleRun([
          sampleCase("0", {
            digest: "d",
            outcome,
            runs: [...letters].map((letter) => ({
              ...run!,
              outcome: letter === "P" ? "passed" : "failed",
            })),
          }),
        ]),
      );
    const change = (before: EvalReport, now: EvalReport) => {
      const { better, worse, flaky } = compareReports(before, now, "base.json");
      return [better.length, worse.length, flaky.length];
    };
    const [most, some] = [caseOf("PPPFF", "passed"), caseOf("PPFFF", "flaky")];
    expect(change(most, some)).toEqual([0, 0, 1]);
    expect(change(some, most)).toEqual([0, 0, 1]);
    expect(change(caseOf("PPPPP", "passed"), some)).toEqual([0, 1, 0]);
    expect(change(most, caseOf("FFFFF", "failed"))).toEqual([0, 1, 0]);
    expect(change(some, caseOf("PPPPP", "passed"))).toEqual([1, 0, 0]);
  });

  it("refuses a baseline with a case id that occurs twice", () => {
    const before = runOf("passed passed");
    const twice = { ...before, cases: [...before.cases, before.cases[0]!] };
    const error = refusal(() => compareReports(twice, runOf("passed passed"), "base.json"));
    expect(error.exit).toBe("usage");
    expect(error.message).toBe("--baseline base.json: the case 0 occurs twice");
  });

  it("compares the common cases and names the others", () => {
    const before = runOf("passed passed passed passed");
    const now = sampleReport(
      sampleRun([
        sampleCase("0", { digest: "d" }),
        sampleCase("1", { digest: "other", outcome: "failed" }),
        sampleCase("2", { digest: "d", outcome: "skipped" }),
        sampleCase("new", { digest: "d" }),
      ]),
    );
    expect(compareReports(before, now, "base.json")).toMatchObject({
      compared: 1,
      unchanged: 1,
      added: ["new"],
      removed: ["2", "3"],
      changed: ["1"],
    });
  });

  it("has the difference of each metric with an interval", () => {
    const { metrics } = compare(`${many(10, "failed")} ${many(10, "passed")}`, many(20, "passed"));
    expect(metrics.passed).toMatchObject({ before: 0.5, now: 1, value: 0.5, n: 20 });
    expect(metrics.passed?.low).toBeGreaterThan(0.2);
    expect(metrics.passed?.high).toBeLessThan(0.8);
    expect(metrics.recall).toEqual(metrics.passed);
  });

  it("counts a case in error as 0", () => {
    expect(compare("passed passed", "passed error").metrics.recall).toMatchObject({
      now: 0.5,
      n: 2,
    });
  });

  it.each([
    [{ kind: "answers" }, "kind", "kind: retrieval there, answers now"],
    [{ via: "indexed" }, "way", "way: keyword there, indexed now"],
    [{ dialect: "standard" }, "dialect", "dialect: onyx there, standard now"],
    [{ k: 10 }, "k", "k: 5 there, 10 now"],
    [{ judge: "m" }, "judge", "judge: none there, m now"],
    [{ judge: "m", k: null }, "k, judge", "k: 5 there, none now"],
  ] as const)("refuses a baseline with another basis: %o", (basis, words, detail) => {
    const error = refusal(() => compareReports(runOf("passed"), runOf("passed", basis), "b.json"));
    expect(error.exit).toBe("usage");
    expect(error.message).toBe(`--baseline b.json: a run of another ${words}`);
    expect(error.details).toContain(detail);
  });

  it("refuses a baseline of another suite", () => {
    const other = sampleReport(sampleRun([sampleCase("x")]));
    const error = refusal(() => compareReports(other, runOf("passed"), "b.json"));
    expect(error.exit).toBe("usage");
    expect(error.message).toContain("another suite");
  });

  it("is checked before the first question, by the cases that will be asked", () => {
    const { basis } = runOf("passed");
    const check = (digest: string, before: string) => () =>
      checkBaseline(runOf(before), { basis, cases: [{ id: "0", digest }] }, "b.json");
    check("d", "passed")();
    expect(refusal(check("other", "passed")).message).toContain("another suite");
    expect(refusal(check("d", "skipped passed")).message).toContain("another suite");
  });
});

describe("the verdict", () => {
  it("cannot tell with one to five differing cases, and says how many would be needed", () => {
    const five = compare(many(100, "passed"), `${many(5, "failed")} ${many(95, "passed")}`);
    expect(five).toMatchObject({ verdict: "cannot-tell", needed: 120, p: 2 / 32 });
    const rest = many(995, "passed");
    const narrow = compare(`${many(5, "passed")} ${rest}`, `${many(5, "failed")} ${rest}`);
    expect(narrow).toMatchObject({
      verdict: "cannot-tell",
      metrics: { passed: { value: -0.005 } },
    });
    const equal = compare("passed failed", "failed passed");
    expect(equal).toMatchObject({ verdict: "cannot-tell", needed: null });
  });

  it("is worse or better from six differing cases in one direction on", () => {
    const [few, all] = [`${many(6, "failed")} ${many(14, "passed")}`, many(20, "passed")];
    expect(compare(all, few)).toMatchObject({ verdict: "worse", p: 2 / 64, needed: null });
    expect(compare(few, all).verdict).toBe("better");
  });

  it("is same if no case differs, or if the rate is known to be within 5 points", () => {
    expect(compare("passed failed", "passed failed").verdict).toBe("same");
    const left = `${many(10, "passed")} ${many(10, "failed")}`;
    const right = `${many(10, "failed")} ${many(10, "passed")}`;
    expect(compare(left, right).verdict).toBe("cannot-tell");
    const rest = many(980, "passed");
    expect(compare(`${left} ${rest}`, `${right} ${rest}`).verdict).toBe("same");
  });

  it("lets errors prove nothing", () => {
    const passed = many(20, "passed");
    const errors = compare(passed, `${many(6, "error")} ${many(14, "passed")}`);
    expect(errors.verdict).toBe("cannot-tell");
    const rate = errors.metrics.passed;
    expect(verdictOf({ better: 0, worse: 6, undecided: 1 }, rate)).toBe("cannot-tell");
    expect(verdictOf({ better: 0, worse: 9, undecided: 1 }, rate)).toBe("worse");
    expect(verdictOf({ better: 9, worse: 0, undecided: 1 }, rate)).toBe("better");
    expect(compare("passed error", "passed error").verdict).toBe("cannot-tell");
  });
});

describe("--fail-on", () => {
  it.each([
    "",
    "wors",
    "rate<",
    "rate<0",
    "rate<1.01",
    "rate>0.9",
    "rate<-1",
    "rate<9e-1",
    "rate<.5.5",
  ])("refuses %j and names the forms", (text) => {
    const error = refusal(() => parseFailOn(text));
    expect(error.exit).toBe("usage");
    expect(error.details.join()).toMatch(/worse.*significantly-worse.*rate<0\.9/);
  });

  it("needs a baseline for a comparison", () => {
    expect(refusal(() => checkFailOn({ when: "worse" }, false)).exit).toBe("usage");
    checkFailOn({ when: "worse" }, true);
    checkFailOn(parseFailOn("rate < 0.5"), false);
  });

  const all = many(20, "passed");
  const exitOf = (before: string | undefined, now: string, condition?: string): string => {
    const failOn = condition === undefined ? undefined : parseFailOn(condition);
    const baseline = before === undefined ? undefined : runOf(before);
    const run = runOf(now);
    const report = createReport(run, run.cases, {
      failOn,
      baseline: baseline && { report: baseline, name: "base.json" },
    });
    const statuses: Record<string, string> = { "checks-failed": "failed", partial: "partial" };
    try {
      failUnlessPassed(report, failOn);
    } catch (error) {
      const { exit } = error as CliError;
      expect(report.status).toBe(statuses[exit]);
      return exit;
    }
    expect(report.status).toBe("passed");
    return "ok";
  };

  it.each([
    [undefined, "passed passed", undefined, "ok"],
    [undefined, "passed skipped", undefined, "ok"],
    [undefined, "passed failed", undefined, "checks-failed"],
    [undefined, "passed flaky", undefined, "checks-failed"],
    [undefined, "failed error", undefined, "checks-failed"],
    [undefined, "passed error", undefined, "partial"],
    [undefined, "passed failed", "rate<0.5", "ok"],
    [undefined, "passed failed", "rate<0.6", "checks-failed"],
    [undefined, "passed error", "rate<0.6", "checks-failed"],
    [undefined, "passed error", "rate<0.5", "partial"],
    [undefined, "skipped", "rate<0.5", "checks-failed"],
    ["passed failed", "passed failed", "worse", "ok"],
    ["passed passed", "passed failed", "worse", "checks-failed"],
    ["passed passed", "passed flaky", "worse", "checks-failed"],
    ["passed flaky", "passed failed", "worse", "ok"],
    ["passed failed", "passed passed", "worse", "ok"],
    ["passed passed", "passed error", "worse", "partial"],
    ["passed failed", "passed failed", "significantly-worse", "ok"],
    ["passed passed", "passed failed", "significantly-worse", "ok"],
    [all, many(20, "failed"), "significantly-worse", "checks-failed"],
    [many(20, "failed"), all, "worse", "ok"],
  ])("for %s, then %s, with %s ends with %s", (before, now, condition, exit) => {
    expect(exitOf(before, now, condition)).toBe(exit);
  });

  it("names the cases that got worse", () => {
    const against = (before: string, now: string) => {
      const run = runOf(now);
      return createReport(run, run.cases, { baseline: { report: runOf(before), name: "b.json" } });
    };
    const report = against(many(12, "passed"), many(12, "failed"));
    expect(refusal(() => failUnlessPassed(report, { when: "worse" })).message).toBe(
      "significantly worse than b.json: 12 cases got worse: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more",
    );
    const one = against("passed", "failed");
    expect(refusal(() => failUnlessPassed(one, { when: "worse" })).message).toBe(
      "1 case got worse than in b.json: 0",
    );
  });

  it("is partial for a run that ended early", () => {
    const run = { ...runOf("passed"), stopped: "401" };
    const report = createReport(run, run.cases);
    expect(report.status).toBe("partial");
    expect(refusal(() => failUnlessPassed(report, undefined)).exit).toBe("partial");
  });
});
