import { describe, expect, it } from "vitest";
import { bucket, upload, type Service } from "./virtual-service.ts";

const every = (nth: number, retryAfterMs: number): Service["judge"] => {
  let count = 0;
  return () => (++count % nth === 0 ? { status: 429, retryAfterMs } : undefined);
};
const after = (ms: number) => (): number => ms;
const accepted = (times: readonly number[], from: number, to: number): number =>
  times.filter((each) => each >= from && each < to).length / ((to - from) / 1000);

// All times are virtual: no test here waits.
describe("a service that throttles", () => {
  it.each([8, 16])(
    "every tenth answer, with %i in flight: holds one document each",
    async (ceiling) => {
      const judge = every(10, 1000);
      const { seconds, failures } = await upload(
        { judge, latencyMs: after(20) },
        { documents: 1000, ceiling },
      );
      expect(failures).toBe(0);
      expect(seconds).toBeLessThan(12);
    },
  );

  it.each([
    [100, 8, 2],
    [100, 8, 20],
    [100, 16, 20],
    [100, 64, 20],
    [20, 8, 2],
    [20, 8, 20],
    [20, 16, 20],
    [20, 64, 200],
  ])(
    "by a token bucket of 100/s that holds %i, with %i in flight at %i ms: uses 0.8 of it",
    async (size, ceiling, ms) => {
      const judge = bucket(() => 100, size, 1000);
      const { seconds, share } = await upload({ judge, latencyMs: after(ms) }, { ceiling });
      expect(seconds).toBeLessThan((1500 - size) / 100 / 0.8);
      expect(share).toBeLessThan(0.25);
    },
  );

  it("without Retry-After, by 503", async () => {
    const judge: Service["judge"] = bucket(() => 100, 20);
    const service: Service = {
      judge: (now, random) => judge(now, random) && { status: 503 },
      latencyMs: after(20),
    };
    const { seconds, share } = await upload(service);
    expect(seconds).toBeLessThan(18.5);
    expect(share).toBeLessThan(0.25);
  });

  it("with a long Retry-After: all wait, and few ask meanwhile", async () => {
    const perMinute = 300;
    let window = 0;
    let count = 0;
    const judge: Service["judge"] = (now) => {
      if (Math.floor(now / 60_000) > window) [window, count] = [Math.floor(now / 60_000), 0];
      return ++count > perMinute
        ? { status: 429, retryAfterMs: Math.ceil((60_000 - (now % 60_000)) / 1000) * 1000 }
        : undefined;
    };
    const { seconds, share, failures } = await upload({ judge, latencyMs: after(20) });
    expect(failures).toBe(0);
    expect(seconds).toBeLessThan(5 * 60);
    expect(share).toBeLessThan(0.1);
  });

  it("less and less with its load: finds the load that its latency bears", async () => {
    // Four at once; more only queue.
    const service: Service = {
      judge: () => undefined,
      latencyMs: (inFlight) => 50 * Math.max(1, inFlight / 4),
    };
    const { seconds } = await upload(service, { ceiling: 32 });
    expect(seconds).toBeLessThan(1500 / 80 / 0.8);
  });

  it("by a limit that changes in the middle: goes down and comes back up", async () => {
    const limit = (now: number): number => (now > 5000 && now < 15_000 ? 20 : 200);
    const judge = bucket(limit, 20, 1000);
    const { acceptedAt, share } = await upload(
      { judge, latencyMs: after(20) },
      { documents: 5000, ceiling: 16 },
    );
    expect(accepted(acceptedAt, 1000, 5000)).toBeGreaterThan(0.8 * 200);
    expect(accepted(acceptedAt, 8000, 15_000)).toBeGreaterThan(0.8 * 20);
    expect(accepted(acceptedAt, 25_000, 30_000)).toBeGreaterThan(0.8 * 200);
    expect(share).toBeLessThan(0.25);
  });

  it.each([
    ["all", 1],
    ["most", 0.6],
  ])("by 503 for %s answers of a few seconds: comes back up", async (_name, part) => {
    const judge: Service["judge"] = (now, random) =>
      now > 2000 && now < 7000 && random() < part ? { status: 503 } : undefined;
    const { acceptedAt } = await upload({ judge, latencyMs: after(20) }, { documents: 3000 });
    // The breaker may add its pauses of 30 s.
    const last = acceptedAt.at(-1) ?? 0;
    expect(last).toBeLessThan(120_000);
    expect(accepted(acceptedAt, last - 1000, last)).toBeGreaterThan(100);
  });

  it("to less than one request a second: sends all", async () => {
    const judge = bucket(() => 0.5, 1, 2000);
    const { failures, seconds } = await upload({ judge, latencyMs: after(20) }, { documents: 200 });
    expect(failures).toBe(0);
    expect(seconds).toBeLessThan(1.6 * 400);
  });
});
