import { describe, expect, it } from "vitest";
import { meanScore, wilson, summarise } from "../../../src/checks/eval/summary.ts";
import { sampleCase } from "./sample.ts";

const leak = {
  expected: [],
  unwanted: [{ document: { path: "docs/board.md" }, path: "docs/board.md" }],
  metrics: { hit: null, recall: null, mrr: null, ndcg: null },
};

describe("summarise", () => {
  it("counts what was asked: an error is 0, a skipped case is left out", () => {
    const { metrics, ...counts } = summarise([
      sampleCase("a"),
      sampleCase("b", { outcome: "failed" }),
      sampleCase("c", { outcome: "error", metrics: { hit: 1, recall: 1, mrr: 1, ndcg: 1 } }),
      sampleCase("d", {
        outcome: "flaky",
        metrics: { hit: 0.5, recall: 0.5, mrr: 0.5, ndcg: 0.5 },
      }),
      sampleCase("e", { outcome: "skipped" }),
    ]);
    expect(counts).toEqual({
      cases: 5,
      passed: 1,
      failed: 1,
      error: 1,
      flaky: 1,
      skipped: 1,
      groups: [],
    });
    expect(metrics.passed).toEqual({ ...wilson(1, 4), n: 4 });
    expect(metrics.hit).toEqual({ ...wilson(1.5, 4), n: 4 });
    expect(metrics.ndcg).toEqual({ ...meanScore([1, 0, 0, 0.5]), n: 4 });
  });

  it("leaves cases that want no document out of the means of documents", () => {
    const { metrics } = summarise([sampleCase("a"), sampleCase("leak", leak)]);
    expect(metrics.passed.n).toBe(2);
    expect(metrics.recall.n).toBe(1);
    expect(summarise([sampleCase("leak", leak)]).metrics.recall).toEqual({
      value: null,
      low: null,
      high: null,
      n: 0,
    });
  });

  it("has each group in the order of the suite, none without groups", () => {
    const cases = [
      sampleCase("a", { group: "b" }),
      sampleCase("c"),
      sampleCase("d", { group: "b" }),
    ];
    const { groups } = summarise(cases);
    expect(groups.map(({ group, cases: count }) => [group, count])).toEqual([
      ["b", 2],
      [null, 1],
    ]);
  });

  it("is fast enough for 1,000 cases", () => {
    const cases = Array.from({ length: 1000 }, (_, index) =>
      sampleCase(String(index), { metrics: { hit: 1, recall: index / 1000, mrr: 1, ndcg: 0.5 } }),
    );
    expect(summarise(cases).metrics.recall.n).toBe(1000);
  });
});
