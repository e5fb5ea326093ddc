import { expect, it } from "vitest";
import type { Comparison } from "../../../src/checks/eval/comparison.ts";
import { verdictText } from "../../../src/output/eval/words.ts";

it("says no more than the counts where no case got better or worse", () => {
  const comparison: Comparison = {
    baseline: "base.json",
    compared: 8,
    better: [],
    worse: [],
    flaky: [{ id: "leave", before: "failed", now: "flaky" }],
    undecided: [],
    unchanged: 7,
    p: 1,
    verdict: "same",
    needed: null,
    metrics: { passed: null, hit: null, recall: null, mrr: null, ndcg: null },
    added: [],
    removed: [],
    changed: [],
  };
  expect(verdictText(comparison)).toBe("same as base.json: 0 better, 0 worse of 8 cases");
});
