import { describe, expect, it } from "vitest";
import { refuseMany } from "../../../src/commands/prune/guards.ts";

describe("the limit of a removal by default", () => {
  it.each([
    [1, 1],
    [1, 5],
    [2, 29],
    [100, 5000],
  ])("takes %i of %i", (count, total) => {
    expect(() => refuseMany(count, total)).not.toThrow();
  });

  it.each([
    [
      2,
      5,
      "2 of 5 documents would be removed, but --max-delete allows 1 (default: 10 % of 5, at least 1",
    ],
    [3, 29, "--max-delete allows 2 (default: 10 %"],
    [101, 5000, "--max-delete allows 100 (default: 10 %"],
  ])("refuses %i of %i, and names the flag", (count, total, message) => {
    expect(() => refuseMany(count, total)).toThrow(message);
  });
});
