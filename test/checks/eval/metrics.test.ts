import { describe, expect, it } from "vitest";
import { caseMetrics, metricsOf, rankWanted } from "../../../src/checks/eval/documents.ts";
import { matchesPath, retrieved } from "./sample.ts";

const wanted = (path: string, relevance = 1) => ({ document: { path }, relevance });
const ranks = (...all: [relevance: number, rank: number | null][]) =>
  all.map(([relevance, rank]) => ({ relevance, rank }));

describe("metricsOf", () => {
  it("has nDCG as the article in Wikipedia", () => {
    // "Discounted cumulative gain": relevances 3, 2, 3, 0, 1, 2 at the ranks 1 to 6, and two more
    // documents of relevance 3 and 2 that did not come: DCG 6.861, ideal DCG 8.740, nDCG 0.785.
    const ranked = ranks([3, 1], [2, 2], [3, 3], [1, 5], [2, 6], [3, null], [2, null]);
    expect(metricsOf(ranked, 6).ndcg).toBeCloseTo(0.785, 3);
  });

  it("has MRR as the article in Wikipedia", () => {
    // "Mean reciprocal rank": ranks 3, 2 and 1 have the mean 11/18.
    const all = [3, 2, 1].map((rank) => metricsOf(ranks([1, rank]), null).mrr ?? 0);
    expect(all.reduce((sum, each) => sum + each) / 3).toBeCloseTo(11 / 18, 12);
  });

  it.each([
    { ranked: ranks([1, 1]), expected: { hit: 1, recall: 1, mrr: 1, ndcg: 1 } },
    { ranked: ranks([1, null]), expected: { hit: 0, recall: 0, mrr: 0, ndcg: 0 } },
    { ranked: ranks([1, 3]), expected: { hit: 1, recall: 1, mrr: 1 / 3, ndcg: 0.5 } },
    { ranked: ranks([1, 3], [1, null]), expected: { hit: 1, recall: 0.5, mrr: 1 / 3 } },
    { ranked: [], expected: { hit: null, recall: null, mrr: null, ndcg: null } },
  ])("is exact for $ranked", ({ ranked, expected }) => {
    expect(metricsOf(ranked, 5)).toMatchObject(expected);
  });

  it("has the ideal of k documents where more are wanted", () => {
    const ranked = ranks([1, 1], [1, 2], [1, null]);
    expect(metricsOf(ranked, 2)).toEqual({ hit: 1, recall: 2 / 3, mrr: 1, ndcg: 1 });
  });
});

describe("rankWanted", () => {
  it("finds a document beyond k, which does not count", () => {
    const ranked = rankWanted([wanted("c.md")], retrieved("a.md", "b.md", "c.md"), matchesPath);
    expect(ranked.map(({ rank }) => rank)).toEqual([3]);
    expect(metricsOf(ranked, 2)).toEqual({ hit: 0, recall: 0, mrr: 0, ndcg: 0 });
    expect(metricsOf(ranked, null)).toMatchObject({ hit: 1, mrr: 1 / 3 });
  });

  it("counts a document once, at its best rank, for the most relevant name of it", () => {
    const both = [wanted("a.md"), wanted("a.md", 3)];
    const ranked = rankWanted(both, retrieved("b.md", "a.md"), matchesPath);
    expect(ranked.map(({ rank }) => rank)).toEqual([null, 2]);
    const twice = rankWanted([wanted("a.md")], retrieved("a.md", "a.md"), matchesPath);
    expect(twice.map(({ rank }) => rank)).toEqual([1]);
  });
});

describe("caseMetrics", () => {
  const passed = { outcome: "passed", retrieved: retrieved("a.md") };
  const error = { outcome: "error", retrieved: retrieved("a.md") };

  it("is the mean over the runs, with 0 for a run in error", () => {
    const metrics = caseMetrics([wanted("a.md")], [passed, passed, passed, error], 5, matchesPath);
    expect(metrics).toEqual({ hit: 0.75, recall: 0.75, mrr: 0.75, ndcg: 0.75 });
    const none = caseMetrics([wanted("a.md")], [], 5, matchesPath);
    expect(none).toEqual({ hit: 0, recall: 0, mrr: 0, ndcg: 0 });
  });

  it("is null where no document is wanted, also in error", () => {
    const metrics = caseMetrics([], [error], 5, matchesPath);
    expect(metrics).toEqual({ hit: null, recall: null, mrr: null, ndcg: null });
  });
});
