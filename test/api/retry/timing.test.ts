import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  backoffMs,
  clampTimer,
  describeWait,
  longestTimerMs,
  parseHttpDate,
  parseRetryAfter,
} from "../../../src/api/retry/timing.ts";

const now = Date.UTC(2026, 6, 1, 12, 0, 0);
const date = "Wed, 01 Jul 2026 11:00:00 GMT";

describe("parseRetryAfter", () => {
  it.each<[string | undefined, string | undefined, number | undefined]>([
    ["2", date, 2000],
    ["0", date, 0],
    [" 7 ", date, 7000],
    ["86400", date, 86_400_000],
    ["9999999999", date, 9_999_999_999_000],
    ["9".repeat(30), date, Number.MAX_SAFE_INTEGER],
    ["9".repeat(400), date, Number.MAX_SAFE_INTEGER],
    ["-3", date, undefined],
    ["+3", date, undefined],
    ["1.5", date, undefined],
    ["1e3", date, undefined],
    ["soon", date, undefined],
    ["", date, undefined],
    [undefined, date, undefined],
    ["2026-07-01T11:00:30Z", date, undefined],
    // Relative to the answer's own clock, which is an hour behind ours.
    ["Wed, 01 Jul 2026 11:00:30 GMT", date, 30_000],
    ["Wed, 01 Jul 2026 12:00:30 GMT", undefined, 30_000],
    ["Wed, 01 Jul 2026 12:00:30 GMT", "nonsense", 30_000],
    ["Wed, 01 Jul 2026 10:00:00 GMT", date, 0],
    ["Wed, 31 Feb 2026 10:00:00 GMT", date, undefined],
    ["Wed, 01 Jul 2026 25:00:00 GMT", date, undefined],
    ["Wed, 01 Foo 2026 10:00:00 GMT", date, undefined],
  ])("%j with Date %j is %j", (value, answered, expected) => {
    expect(parseRetryAfter(value, answered, now)).toBe(expected);
  });

  it("never throws and never gives a negative or broken wait", () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (value, answered) => {
        const wait = parseRetryAfter(value, answered, now);
        return wait === undefined || (wait >= 0 && !Number.isNaN(wait));
      }),
    );
  });
});

describe("parseHttpDate", () => {
  it("reads what the platform writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (seconds) => {
        const time = seconds * 1000;
        return parseHttpDate(new Date(time).toUTCString()) === time;
      }),
    );
  });
});

describe("backoffMs", () => {
  it.each([
    [1, 0.5, 250],
    [1, 0, 0],
    [2, 0.999, 999],
    [4, 0.5, 2000],
    [7, 0.5, 15_000],
    [60, 0.5, 15_000],
    [5000, 0.5, 15_000],
  ])("retry %i with random %f waits %i ms", (retry, random, expected) => {
    expect(backoffMs(retry, random)).toBe(expected);
  });
});

describe("clampTimer", () => {
  it.each([
    [-5, 0],
    [Number.NaN, 0],
    [0.2, 1],
    [2 ** 40, longestTimerMs],
    [Number.POSITIVE_INFINITY, longestTimerMs],
  ])("%d becomes %d", (ms, expected) => {
    expect(clampTimer(ms)).toBe(expected);
  });
});

describe("describeWait", () => {
  it.each([
    [1500, "2 s"],
    [600_000, "10 min"],
    [86_400_000, "24 h"],
    [10 * 86_400_000, "10 days"],
    [Number.MAX_SAFE_INTEGER, "more than 1000 days"],
  ])("%i ms is %s", (ms, expected) => {
    expect(describeWait(ms)).toBe(expected);
  });
});
