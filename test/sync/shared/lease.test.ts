import { describe, expect, it } from "vitest";
import { batchSize, heartbeatMs, maySend } from "../../../src/sync/shared/lease.ts";

const leaseMs = 60_000;
const hourMs = 3_600_000;

describe("a lease", () => {
  const lease = { elapsed: 1000, now: 5_000_000 };
  it.each([
    ["that is fresh", lease, { elapsed: 1000, now: 5_000_000 }, true],
    ["that is used by less than half", lease, { elapsed: 30_999, now: 5_029_999 }, true],
    ["that is used by half", lease, { elapsed: 31_000, now: 5_030_000 }, false],
    ["of a worker that has none", undefined, { elapsed: 0, now: 0 }, false],
    ["whose machine slept", lease, { elapsed: 1100, now: 5_000_000 + leaseMs }, false],
    ["whose clock went back", lease, { elapsed: 2000, now: 5_000_000 - hourMs }, true],
    ["that ran out while the clock went back", lease, { elapsed: 61_000, now: 0 }, false],
    ["whose clock was put forward", lease, { elapsed: 2000, now: 5_000_000 + hourMs }, false],
  ])("%s", (_, renewed, time, expected) => {
    expect(maySend(renewed, leaseMs, time)).toBe(expected);
  });

  it("is the same on a machine whose clock is an hour wrong", () => {
    const wrong = { elapsed: 1000, now: 5_000_000 + hourMs };
    const later = (ms: number) => ({ elapsed: 1000 + ms, now: wrong.now + ms });
    expect(maySend(wrong, leaseMs, later(29_000))).toBe(true);
    expect(maySend(wrong, leaseMs, later(30_000))).toBe(false);
  });

  it("is renewed several times before it is too old to send", () => {
    for (const ms of [1000, 5000, leaseMs, 600_000]) {
      expect(heartbeatMs(ms) * 3).toBeLessThanOrEqual(ms / 2);
      expect(heartbeatMs(ms)).toBeLessThanOrEqual(2000);
    }
  });
});

describe("the size of a batch", () => {
  it.each([
    [100_000, 3, 64, 64],
    [300, 3, 64, 50],
    [100, 8, 64, 7],
    [1, 8, 64, 1],
    [0, 8, 64, 1],
    [100_000, 3, 5, 5],
    [100, 0, 64, 50],
  ])("of %i documents for %i workers, at most %i at once", (left, workers, most, expected) => {
    expect(batchSize(left, workers, most)).toBe(expected);
  });
});
