import { describe, expect, it } from "vitest";
import {
  bootstrapMean,
  meanDifference,
  meanScore,
  summarise,
  wilson,
} from "../../../src/checks/eval/summary.ts";
import { documentWith, matchesPath, retrieved, sampleCase } from "./sample.ts";
import { casesNeeded, mcnemar } from "../../../src/checks/eval/compare.ts";
import { dialects } from "../../../src/api/dialects.ts";
import {
  caseMetrics,
  createDocumentMatch,
  metricsOf,
  rankWanted,
} from "../../../src/checks/eval/documents.ts";

describe("summarise", () => {
  const leak = {
    expected: [],
    unwanted: [{ document: { path: "docs/board.md" }, path: "docs/board.md" }],
    metrics: { hit: null, recall: null, mrr: null, ndcg: null },
  };

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

describe("wilson", () => {
  // R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
  // Medicine 17 (1998) 857-872, table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])("of %d of %d is Newcombe's", (successes, n, low, high) => {
    const interval = wilson(successes, n);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
    expect(interval.value).toBe(successes / n);
  });

  it("has the rates as limits that are just z standard errors away", () => {
    for (const [successes, n] of [
      [3, 10],
      [81, 263],
      [1, 29],
      [7.5, 12],
    ] as const) {
      const { value, low, high } = wilson(successes, n);
      for (const limit of [low, high]) {
        const standardError = Math.sqrt((limit * (1 - limit)) / n);
        expect(Math.abs(value - limit) / standardError).toBeCloseTo(1.959963984540054, 9);
      }
    }
  });

  it("keeps the value inside at both ends", () => {
    for (let n = 1; n <= 200; n++) {
      expect(wilson(n, n).high).toBe(1);
      expect(wilson(0, n).low).toBe(0);
      expect(wilson(n, n).low).toBeCloseTo(1 - wilson(0, n).high, 12);
    }
  });
});

describe("mcnemar", () => {
  // Exact fractions: 2 * (C(n,0) + … + C(n,least)) / 2 ** n.
  it.each([
    [0, 0, 1],
    [5, 0, 2 / 32],
    [0, 6, 2 / 64],
    [1, 9, (2 * (1 + 10)) / 1024],
    [2, 10, (2 * (1 + 12 + 66)) / 4096],
    [4, 4, 1],
    [3, 4, 1],
  ])("of %d better and %d worse is the binomial tail", (better, worse, p) => {
    expect(mcnemar(better, worse)).toBeCloseTo(p, 12);
    expect(mcnemar(worse, better)).toBeCloseTo(p, 12);
  });

  // Python: 2*sum(Fraction(comb(236,k), 2**236) for k in range(87)). The counts are those of
  // A. Agresti, "Categorical Data Analysis", table 10.1: approval of a prime minister.
  it("holds for many cases", () => {
    expect(mcnemar(86, 150)).toBeCloseTo(3.715936139571442e-5, 15);
    expect(mcnemar(900, 1100)).toBeCloseTo(8.457089535503927e-6, 12);
  });
});

describe("mcnemar for every table of up to 40 differing cases", () => {
  // Whole numbers: the binomial coefficients of a row are sums of the row above.
  const rows: bigint[][] = [[1n]];
  for (let n = 1; n <= 40; n++) {
    const above = rows[n - 1]!;
    rows.push(Array.from({ length: n + 1 }, (_, k) => (above[k - 1] ?? 0n) + (above[k] ?? 0n)));
  }

  it("is the exact fraction", () => {
    for (const [n, row] of rows.entries()) {
      for (let least = 0; 2 * least <= n; least++) {
        const tail = row.slice(0, least + 1).reduce((sum, each) => sum + each, 0n);
        const exact = Math.min(1, (2 * Number(tail)) / 2 ** n);
        expect(mcnemar(least, n - least) / exact).toBeCloseTo(1, 10);
      }
    }
  });
});

describe("casesNeeded", () => {
  it("is what six differing cases take if all go one way", () => {
    expect(casesNeeded(0, 3, 100)).toBe(200);
    expect(casesNeeded(5, 0, 1000)).toBe(1200);
  });

  it("grows as the directions become alike", () => {
    // (1.96 / 0.5) ** 2 = 15.4: 16 differing cases, 4 in 100.
    expect(casesNeeded(1, 3, 100)).toBe(400);
    expect(casesNeeded(2, 2, 100)).toBe(null);
  });
});

describe("bootstrapMean", () => {
  it("is near the exact distribution of all samples", () => {
    // 4 ** 4 samples of 0, 0, 0, 1 have the mean k/4 with the probability C(4,k) 0.25**k 0.75**(4-k):
    // P(0) = 0.316, P(≤ 0.5) = 0.949, P(≤ 0.75) = 0.996. So 2.5 % lie at 0 and 97.5 % at 0.75.
    expect(bootstrapMean([0, 1, 0, 0])).toEqual({ value: 0.25, low: 0, high: 0.75 });
  });

  it("is near the normal interval for many values", () => {
    // 0, 1/999, …, 1: standard error sqrt((1000 + 1) / (12 * 999) / 1000) = 0.0091379.
    const values = Array.from({ length: 1000 }, (_, index) => index / 999);
    const { value, low, high } = bootstrapMean(values);
    expect(value).toBeCloseTo(0.5, 12);
    expect(low).toBeCloseTo(0.5 - 1.96 * 0.0091379, 2);
    expect(high).toBeCloseTo(0.5 + 1.96 * 0.0091379, 2);
  });

  it("is the same each time and in each order", () => {
    const values = [0.1, 0.9, 0.5, 0, 1, 0.25];
    expect(bootstrapMean(values)).toEqual(bootstrapMean(values.toReversed()));
  });
});

describe("meanScore and meanDifference", () => {
  it("do not call equal values certain", () => {
    expect(meanScore([1, 1, 1, 1]).low).toBeCloseTo(wilson(4, 4).low, 12);
    expect(meanScore([1, 1, 1, 1]).high).toBe(1);
    expect(meanScore([0, 0]).high).toBeCloseTo(wilson(0, 2).high, 12);
    // z² / (n + z²) with n = 1000 is 0.0038; with n = 3 it is 0.5615.
    expect(meanDifference(Array(1000).fill(0)).high).toBeCloseTo(0.0038, 4);
    expect(meanDifference([0, 0, 0]).low).toBeCloseTo(-0.5615, 4);
    expect(meanDifference([1, 1, 1]).low).toBeCloseTo(1 - 2 * 0.5615, 4);
  });

  it("are Wilson's for a few values, which is wider", () => {
    expect(meanScore([0, 0.5, 1])).toEqual(wilson(1.5, 3));
    const { value, low, high } = meanDifference([0, 1]);
    expect(value).toBe(0.5);
    expect((low + 1) / 2).toBeCloseTo(wilson(1.5, 2).low, 12);
    expect((high + 1) / 2).toBeCloseTo(wilson(1.5, 2).high, 12);
  });

  it("are the bootstrap's for ten or more values", () => {
    const values = Array.from({ length: 10 }, (_, index) => index / 10);
    expect(meanScore(values)).toEqual(bootstrapMean(values));
    expect(meanDifference(values)).toEqual(bootstrapMean(values));
  });
});

describe("documents", () => {
  describe("match document", () => {
    const storedId = dialects.onyx.storedId ?? ((id: string): string => id);
    const matches = createDocumentMatch({
      idsOfPath: (path) => (path === "docs/faq.csv" ? ["faq-1", "faq-2"] : [storedId(path)]),
      storedIds: (id) => [storedId(id)],
    });

    describe("a document by path", () => {
      it("matches by the local file", () => {
        expect(
          matches({ path: "docs/a.md" }, documentWith({ path: "docs/a.md", id: "other" })),
        ).toBe(true);
      });

      it("matches by the stored id of the file, and by the id of each of its rows", () => {
        expect(matches({ path: "docs/a b.md" }, documentWith({ id: "docs%2Fa_b.md" }))).toBe(true);
        expect(matches({ path: "docs/faq.csv" }, documentWith({ id: "faq-2" }))).toBe(true);
        expect(matches({ path: "docs/faq.csv" }, documentWith({ id: "faq-3" }))).toBe(false);
      });

      it("matches nothing by a document without id and path", () => {
        expect(matches({ path: "docs/a.md" }, documentWith({ title: "docs/a.md" }))).toBe(false);
      });
    });

    it("matches an id as written, and as the service stores it", () => {
      expect(matches({ id: "docs/a b.md" }, documentWith({ id: "docs%2Fa_b.md" }))).toBe(true);
      expect(matches({ id: "docs%2Fa_b.md" }, documentWith({ id: "docs%2Fa_b.md" }))).toBe(true);
      expect(matches({ id: "docs/a" }, documentWith({ id: "docs/b" }))).toBe(false);
    });

    it.each([
      ["https://d.example.com/leave", "https://d.example.com/leave#days", true],
      ["https://D.example.com/leave", "https://d.example.com/leave", true],
      ["https://d.example.com/a b", "https://d.example.com/a%20b", true],
      ["https://d.example.com/leave#days", "https://d.example.com/leave#days", true],
      ["https://d.example.com/leave#days", "https://d.example.com/leave", false],
      ["https://d.example.com/leave", "https://d.example.com/leave/2023", false],
      ["https://d.example.com/leave?v=1", "https://d.example.com/leave?v=2", false],
      ["notes/leave", "notes/leave#x", true],
    ])("compares the link %s with %s: %s", (link, found, expected) => {
      expect(matches({ link }, documentWith({ link: found }))).toBe(expected);
    });

    it("matches no link where the service names none", () => {
      expect(matches({ link: "https://d.example.com/" }, documentWith())).toBe(false);
    });
  });

  describe("metrics", () => {
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
        const metrics = caseMetrics(
          [wanted("a.md")],
          [passed, passed, passed, error],
          5,
          matchesPath,
        );
        expect(metrics).toEqual({ hit: 0.75, recall: 0.75, mrr: 0.75, ndcg: 0.75 });
        const none = caseMetrics([wanted("a.md")], [], 5, matchesPath);
        expect(none).toEqual({ hit: 0, recall: 0, mrr: 0, ndcg: 0 });
      });

      it("is null where no document is wanted, also in error", () => {
        const metrics = caseMetrics([], [error], 5, matchesPath);
        expect(metrics).toEqual({ hit: null, recall: null, mrr: null, ndcg: null });
      });
    });
  });
});
