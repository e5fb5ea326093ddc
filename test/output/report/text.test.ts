import { describe, expect, it } from "vitest";
import { placeOf } from "../../../src/output/report/report.ts";
import {
  bareReason,
  formatBytes,
  formatTime,
  missingText,
} from "../../../src/output/report/text.ts";

describe("the bare reason", () => {
  it.each([
    ["a.md", "a.md:3:5: bad", "bad"],
    ["a.md", "a.md:3: bad", "bad"],
    ["a.md", "a.md: bad", "bad"],
    ["a.md", "a.md", "a.md"],
    ["a.md", "a.md: ", "a.md: "],
    ["a.md", "a.mdx: bad", "a.mdx: bad"],
    ["a.md", "no a.md: bad", "no a.md: bad"],
    ["", ": bad", ": bad"],
  ])("of %j: %j", (path, reason, expected) => {
    expect(bareReason({ path, reason })).toBe(expected);
  });
});

it("a place is as exact as it is known", () => {
  expect(placeOf({ path: "a.md" })).toBe("a.md");
  expect(placeOf({ path: "a.md", line: 3 })).toBe("a.md:3");
  expect(placeOf({ path: "a.md", line: 3, column: 5 })).toBe("a.md:3:5");
});

it.each([
  [[], 3, ""],
  [[3], 8, "shard 3 of 8 is missing"],
  [[3, 7], 8, "shards 3 and 7 of 8 are missing"],
  [[1, 2, 3], 4, "shards 1, 2 and 3 of 4 are missing"],
  [
    Array.from({ length: 22 }, (_, index) => index + 1),
    30,
    "shards 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 2 more of 30 are missing",
  ],
])("missing %j of %d", (missing, shards, expected) => {
  expect(missingText(missing, shards)).toBe(expected);
});

it.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1536, "1.5 KiB"],
  [500 * 1024 ** 2, "500 MiB"],
  [3 * 1024 ** 5, "3072 TiB"],
])("%d bytes are %s", (bytes, expected) => expect(formatBytes(bytes)).toBe(expected));

it.each([
  [0.4, "0 ms"],
  [950, "950 ms"],
  [1500, "1.5s"],
  [90_000, "1m30s"],
])("%d ms are %s", (ms, expected) => expect(formatTime(ms)).toBe(expected));
