import { describe, expect, it } from "vitest";
import { matchesWithin, patternProblem, runWithin } from "../../src/checks/time-limit.ts";

describe("matchesWithin", () => {
  it("matches like the expression itself", () => {
    expect(matchesWithin(/^a+$/, "aaa")).toBe(true);
    expect(matchesWithin(/^a+$/, "b")).toBe(false);
  });

  it.each([/(a+)+$/, /(?:a|a)*$/, /(.*a){20}$/])(
    "ends %s, which would backtrack for ever",
    (pattern) => {
      expect(matchesWithin(pattern, `${"a".repeat(60)}!`, 50)).toBeUndefined();
      // The thread works on.
      expect(matchesWithin(/a/, "a")).toBe(true);
    },
  );
});

describe("runWithin", () => {
  it("returns the value, and throws what the work throws", () => {
    expect(runWithin(1000, () => undefined)).toEqual({ value: undefined });
    const failure = new Error("broken");
    expect(() =>
      runWithin(1000, () => {
        throw failure;
      }),
    ).toThrow(failure);
  });
});

it.each([
  ["a+", undefined],
  ["(", "unterminated group"],
  ["[b-a]", "range out of order in character class"],
  ["a: (b", "unterminated group"],
])("patternProblem(%j)", (source, problem) => {
  expect(patternProblem(source)).toBe(problem);
});
