import { describe, expect, it } from "vitest";
import { rareQueries, chooseSample, type Candidate } from "../../../src/checks/verify/sample.ts";

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
    const text = "the cat is on the mat and the invoice INV2024X of Grönemeyer is on it, too often";
    expect(rareQueries("Cats", [text])).toEqual([
      "INV2024X Grönemeyer invoice",
      "often the cat",
      "mat and too",
    ]);
    expect(rareQueries("Title", ["a b"])).toEqual(["Title"]);
    expect(rareQueries("", [])).toEqual([]);
  });
});
