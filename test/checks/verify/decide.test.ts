import { describe, expect, it } from "vitest";
import {
  type Facts,
  type VerifyResult,
  decideResult,
  decisions,
  outcomeOf,
} from "../../../src/checks/verify/decide.ts";
import { type Candidate, chooseSample, rareQueries } from "../../../src/checks/verify/sample.ts";

describe("decide", () => {
  /** Written by hand from the specification, not from the table of the code. */
  const rows: [facts: Facts, result: VerifyResult][] = [
    [{ chunks: "some", text: "same" }, "current"],
    [{ chunks: "some", text: "same", list: "no" }, "current"],
    [{ chunks: "some", text: "other" }, "stale"],
    [{ chunks: "some", text: "more" }, "unknown"],
    [{ chunks: "some", text: "unsure" }, "unknown"],
    [{ chunks: "some", text: "unread" }, "unknown"],
    [{ chunks: "some", text: "unasked" }, "present"],
    [{ chunks: "some" }, "present"],
    [{ chunks: "failed" }, "unknown"],
    [{ chunks: "refused" }, "unknown"],
    [{ chunks: "none", list: "no" }, "missing"],
    [{ chunks: "none", list: "no", access: "no" }, "missing"],
    [{ chunks: "none", list: "in this pair", access: "yes", search: "not found" }, "listed-only"],
    [{ chunks: "none", list: "in this pair", access: "yes", search: "found" }, "hidden"],
    [{ chunks: "none", list: "in this pair", access: "yes", search: "unavailable" }, "unknown"],
    [{ chunks: "none", list: "in this pair", access: "yes" }, "unknown"],
    [{ chunks: "none", list: "in this pair", access: "unknown", search: "not found" }, "unknown"],
    [{ chunks: "none", list: "in this pair", search: "not found" }, "unknown"],
    [{ chunks: "none", list: "in this pair", access: "no" }, "hidden"],
    [{ chunks: "none", list: "in another pair", access: "no" }, "hidden"],
    [
      { chunks: "none", list: "in another pair", access: "yes", search: "not found" },
      "listed-only",
    ],
    [{ chunks: "none", list: "unavailable", access: "yes", search: "not found" }, "missing"],
    [{ chunks: "none", list: "unavailable", access: "yes", search: "unavailable" }, "unknown"],
    [{ chunks: "none", list: "unavailable", access: "no" }, "hidden"],
    [{ chunks: "none" }, "unknown"],
    [{ chunks: "none", ownKey: "some" }, "hidden"],
    [{ chunks: "none", ownKey: "none", list: "no" }, "missing"],
    [{ chunks: "none", ownKey: "none", access: "unknown" }, "unknown"],
  ];

  describe("the decision", () => {
    it.each(rows)("of %j is %s", (facts, result) => {
      expect(decideResult(facts).result).toBe(result);
    });

    it("gives a reason for every result but those that are as expected", () => {
      for (const { result, reason } of decisions) {
        const isFine = result === "current" || result === "present";
        expect(reason === "").toBe(isFine);
      }
    });

    it("is never `current` without compared text, and never certain without an answer", () => {
      const values = {
        chunks: ["some", "none", "refused", "failed"],
        text: ["same", "other", "more", "unsure", "unread", "unasked", undefined],
        ownKey: ["some", "none", undefined],
        search: ["found", "not found", "unavailable", undefined],
        list: ["in this pair", "in another pair", "no", "unavailable", undefined],
        access: ["yes", "no", "unknown", undefined],
      };
      let all: Facts[] = [{} as Facts];
      for (const [name, each] of Object.entries(values)) {
        all = all.flatMap((facts) => each.map((value) => ({ ...facts, [name]: value }) as Facts));
      }
      for (const facts of all) {
        const { result } = decideResult(facts);
        if (result === "current") expect([facts.chunks, facts.text]).toEqual(["some", "same"]);
        if (facts.chunks === "refused" || facts.chunks === "failed") expect(result).toBe("unknown");
        if (result === "listed-only" || result === "missing") expect(facts.chunks).toBe("none");
      }
    });
  });

  describe("the outcome", () => {
    it.each<[VerifyResult, string, string]>([
      ["current", "expected", "failed"],
      ["present", "expected", "failed"],
      ["stale", "failed", "failed"],
      ["missing", "failed", "undecided"],
      ["listed-only", "failed", "undecided"],
      ["hidden", "failed", "expected"],
      ["unknown", "undecided", "undecided"],
    ])("of %s is %s, and in a leak test %s", (result, usual, inLeakTest) => {
      expect(outcomeOf(result, false)).toBe(usual);
      expect(outcomeOf(result, true)).toBe(inLeakTest);
    });
  });
});

describe("sample", () => {
  const folders = ["", "people/", "people/old/", "it/"];
  const all: Candidate[] = Array.from({ length: 400 }, (_, index) => {
    const path = `${folders[index % 4]}${index}.md`;
    return { id: `docs/${path}`, path, isSuspect: index % 10 === 0 };
  });

  describe("a sample", () => {
    it("is the same for the same documents, in any order", () => {
      const ids = chooseSample(all, 30).map(({ id }) => id);
      expect(chooseSample(all.toReversed(), 30).map(({ id }) => id)).toEqual(ids);
      expect(new Set(ids).size).toBe(30);
    });

    it("takes suspects first, up to a third", () => {
      const chosen = chooseSample(all, 30);
      expect(chosen.slice(0, 10).every(({ isSuspect }) => isSuspect)).toBe(true);
      const few = all.map((each, index) => ({ ...each, isSuspect: index < 3 }));
      expect(chooseSample(few, 30).filter(({ isSuspect }) => isSuspect)).toHaveLength(3);
    });

    it("takes documents of every folder", () => {
      const chosen = chooseSample(
        all.map((each) => ({ ...each, isSuspect: false })),
        8,
      );
      const counts = folders.map(
        (folder) => chosen.filter(({ path }) => path?.replace(/\d+\.md$/, "") === folder).length,
      );
      expect(counts).toEqual([2, 2, 2, 2]);
    });

    it("is everything where it is larger, and fills up from large folders", () => {
      expect(chooseSample(all, 400)).toEqual(all);
      expect(chooseSample(all, 399)).toHaveLength(399);
    });
  });

  describe("queries of rare words", () => {
    it("take codes and long words first, three a query", () => {
      const text =
        "the cat is on the mat and the invoice INV2024X of Grönemeyer is on it, too often";
      expect(rareQueries("Cats", [text])).toEqual([
        "INV2024X Grönemeyer invoice",
        "often the cat",
        "mat and too",
      ]);
      expect(rareQueries("Title", ["a b"])).toEqual(["Title"]);
      expect(rareQueries("", [])).toEqual([]);
    });
  });
});
