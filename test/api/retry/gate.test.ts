import { describe, expect, it } from "vitest";
import {
  createBreaker,
  createLimit,
  latencyStep,
  type Limit,
} from "../../../src/api/retry/pace.ts";
import {
  createGate,
  type Gate,
  type GateOptions,
  type Setback,
} from "../../../src/api/retry/gate.ts";
import { ApiError } from "../../../src/errors.ts";
import { expectLinear } from "../../cost.ts";
import { createTestClock, type TestClock } from "../support.ts";

function openGate(options: Partial<GateOptions> = {}): Gate & { clock: TestClock } {
  const clock = (options.clock as TestClock | undefined) ?? createTestClock();
  const gate = createGate({
    ceiling: 8,
    signal: new AbortController().signal,
    ...options,
    clock,
  });
  return { ...gate, clock };
}

function setback(kind: Setback["kind"], retryAfterMs?: number, code = "ECONNREFUSED"): Setback {
  const error = new ApiError("unreachable", "upload: POST http://x/: connection refused", {
    method: "POST",
    url: "http://x/",
    code,
    retryable: true,
  });
  return { kind, retryAfterMs, error };
}

/** As many refusals as make a good part of the recent answers, of requests one after the other. */
async function refuseOften(gate: Gate & { clock: TestClock }): Promise<void> {
  gate.clock.advance(10);
  for (let index = 0; index < 4; index++) {
    await gate.enter();
    gate.fail(setback("throttled"), gate.clock.now());
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function succeedTimes(
  gate: Gate & { clock: TestClock },
  count: number,
  ms = 5,
): Promise<void> {
  for (let index = 0; index < count; index++) {
    await gate.enter();
    const begun = gate.clock.now();
    gate.clock.advance(ms);
    gate.succeed(begun);
  }
}

describe("the number in flight", () => {
  it("starts at 4, and the fifth waits for a place", async () => {
    const gate = openGate();
    for (let index = 0; index < 4; index++) expect(gate.enter()).toBeUndefined();
    let entered = false;
    const waiting = gate.enter()?.then(() => (entered = true));
    await turn();
    expect(entered).toBe(false);
    expect(gate.state()).toMatchObject({ inFlight: 4, waiting: 1 });
    gate.succeed(gate.clock.now());
    await waiting;
    expect(gate.state()).toMatchObject({ inFlight: 4, waiting: 0 });
  });

  it("never passes the ceiling, and doubles with each round of successes at the start", async () => {
    expect(openGate({ ceiling: 2 }).state().limit).toBe(2);
    const gate = openGate({ ceiling: 20 });
    const limits: number[] = [];
    for (const successes of [3, 1, 7, 1, 15, 1, 200]) {
      await succeedTimes(gate, successes);
      limits.push(gate.state().limit);
    }
    expect(limits).toEqual([4, 8, 8, 16, 16, 20, 20]);
  });

  it.each<[string, (gate: ReturnType<typeof openGate>) => void | Promise<void>]>([
    ["the service refused most requests", refuseOften],
    [
      "its latency rose",
      async (gate) => {
        await succeedTimes(gate, 4, 5);
        await succeedTimes(gate, 8, 20);
      },
    ],
  ])("goes up by one after 20 successes once %s", async (_why, tell) => {
    const gate = openGate({ ceiling: 64 });
    await tell(gate);
    const { limit } = gate.state();
    await succeedTimes(gate, 19);
    expect(gate.state().limit).toBe(limit);
    await succeedTimes(gate, 1);
    expect(gate.state().limit).toBe(limit + 1);
    await succeedTimes(gate, 20);
    expect(gate.state().limit).toBe(limit + 2);
  });

  it("is halved once a round trip where most are refused, down to one", async () => {
    const gate = openGate();
    const begun = gate.clock.now();
    for (let index = 0; index < 4; index++) void gate.enter();
    gate.clock.advance(10);
    for (let index = 0; index < 4; index++) gate.fail(setback("throttled"), begun);
    expect(gate.state()).toMatchObject({ limit: 2, throttled: 4 });
    for (let round = 0; round < 3; round++) await refuseOften(gate);
    expect(gate.state().limit).toBe(1);
  });

  it("stays where one in ten is refused", async () => {
    const gate = openGate();
    await succeedTimes(gate, 40);
    for (let round = 0; round < 50; round++) {
      await gate.enter();
      gate.fail(setback("throttled", 1000), gate.clock.now());
      await succeedTimes(gate, 9);
    }
    expect(gate.state()).toMatchObject({ limit: 8, throttled: 50 });
  });

  it.each([
    [5, 5, 1],
    [24, 5, 0],
    [31, 5, -1],
    [1000, 700, 1],
    [1200, 700, 0],
    [1500, 700, -1],
  ])("with %i ms a request and %i at best moves by %i", (mean, best, step) => {
    expect(latencyStep(mean, best)).toBe(step);
  });

  const batchOf = (limit: Limit, ms: number): number => {
    for (let index = 0; index < 20; index++) limit.succeeded(ms);
    return limit.current();
  };

  it("goes down while latency rises, and up again once half as many wait no less", () => {
    const limit = createLimit(8);
    limit.throttled(0, 0);
    const took = [...Array<number>(6).fill(100), ...Array<number>(8).fill(400), 400, 400];
    const limits = took.map((ms) => batchOf(limit, ms));
    expect(limits).toEqual([3, 4, 5, 6, 7, 8, 7, 6, 5, 4, 5, 6, 7, 8, 8, 8]);
  });

  it("stays down where requests only queue, and is held by that", () => {
    const limit = createLimit(16);
    limit.throttled(0, 0);
    for (let round = 0; round < 20; round++) batchOf(limit, 20);
    expect(limit.current()).toBe(16);
    expect(limit.isHeldByLatency()).toBe(false);
    const limits = Array.from({ length: 60 }, () => batchOf(limit, 100 * limit.current()));
    expect(limits.slice(0, 15)).toEqual([15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    // Now and then one more is tried.
    expect(Math.max(...limits.slice(15))).toBeLessThanOrEqual(4);
    expect(limit.isHeldByLatency()).toBe(true);
  });

  it("does not hold a service back that takes long with one request at a time", () => {
    const limit = createLimit(4);
    limit.throttled(0, 0);
    batchOf(limit, 20);
    limit.collapse();
    expect([batchOf(limit, 900), batchOf(limit, 900), batchOf(limit, 900)]).toEqual([2, 3, 4]);
    expect(limit.isHeldByLatency()).toBe(false);
  });
});

describe("a pause", () => {
  it("that one worker is asked for does not hold the others while it is short", async () => {
    const gate = openGate();
    for (let index = 0; index < 4; index++) void gate.enter();
    gate.fail(setback("throttled", 2000), gate.clock.now());
    expect(gate.state()).toMatchObject({ pausedUntil: 0, limit: 4 });
    expect(gate.enter()).toBeUndefined();
    expect(gate.clock.sleeps).toEqual([]);
  });

  it.each<[string, number, number]>([
    ["is long", 1, 12_000],
    ["is short but most are asked for it", 4, 2000],
  ])("holds all workers where it %s", async (_why, refusals, waitMs) => {
    const gate = openGate();
    const started: number[] = [];
    const begun = gate.clock.now();
    for (let index = 0; index < 4; index++) void gate.enter();
    for (let index = 0; index < 4; index++) {
      if (index < refusals) gate.fail(setback("throttled", waitMs), begun);
      else gate.succeed(begun);
    }
    const work = Array.from({ length: 4 }, async () => {
      await gate.enter();
      started.push(gate.clock.now() - begun);
      gate.succeed(gate.clock.now());
    });
    await Promise.all(work);
    expect(gate.clock.sleeps[0]).toBe(waitMs);
    expect(Math.min(...started)).toBe(waitMs);
  });

  it("is prolonged by a later answer, never shortened", async () => {
    const gate = openGate();
    const begun = gate.clock.now();
    void gate.enter();
    void gate.enter();
    gate.fail(setback("throttled", 50_000), begun);
    gate.fail(setback("throttled", 11_000), begun);
    expect(gate.state().pausedUntil).toBe(begun + 50_000);
    await gate.enter();
    expect(gate.clock.now()).toBe(begun + 50_000);
    expect(gate.state().pausedUntil).toBe(0);
  });

  it("is over after its sleep although the clock was set back meanwhile", async () => {
    const gate = openGate();
    const { clock } = gate;
    void gate.enter();
    gate.fail(setback("throttled", 40_000), clock.elapsed());
    clock.set(-3_600_000);
    expect(gate.state().pausedUntil - clock.elapsed()).toBe(40_000);
    await gate.enter();
    expect(clock.sleeps).toEqual([40_000]);
  });

  it("keeps the rate although the clock is set back", async () => {
    const gate = openGate({ ratePerSecond: 1 });
    const { clock } = gate;
    for (let started = 0; started < 3; started++) {
      await gate.enter();
      gate.succeed(clock.elapsed());
      clock.set(-3_600_000);
    }
    expect(Math.max(...clock.sleeps)).toBeLessThanOrEqual(1000);
  });
});

describe("the state of the gate", () => {
  it("counts what was let in, and tells how long answers take", async () => {
    const gate = openGate();
    expect(gate.state()).toMatchObject({ requests: 0, latencyMs: 0, isHeldByRate: false });
    await succeedTimes(gate, 3, 40);
    expect(gate.state()).toMatchObject({ requests: 3, latencyMs: 40 });
    await succeedTimes(gate, 60, 2000);
    expect(gate.state().latencyMs).toBeGreaterThan(1900);
  });

  it("says since when there has been no answer, counted from the first that is in flight", async () => {
    const gate = openGate();
    gate.clock.advance(60_000);
    await gate.enter();
    const begun = gate.clock.now();
    expect(gate.state().answeredAt).toBe(begun);
    gate.clock.advance(4000);
    await gate.enter();
    expect(gate.state().answeredAt).toBe(begun);
    gate.fail(setback("broken"), begun);
    expect(gate.state().answeredAt).toBe(begun + 4000);
  });

  it("is not silent while bytes of a body go out", async () => {
    const gate = openGate();
    await gate.enter();
    gate.clock.advance(60_000);
    gate.moved();
    expect(gate.state().answeredAt).toBe(gate.clock.elapsed());
  });

  it("is held by the rate only where nothing else holds", async () => {
    const clock = createTestClock();
    clock.sleep = () => new Promise(() => {});
    const gate = openGate({ ratePerSecond: 1, clock });
    expect(gate.enter()).toBeUndefined();
    const second = gate.enter();
    expect(gate.state()).toMatchObject({ inFlight: 1, waiting: 1, isHeldByRate: true });
    gate.fail(setback("throttled", 50_000), gate.clock.now());
    expect(gate.state().isHeldByRate).toBe(false);
    gate.stop(setback("broken").error);
    await expect(second).rejects.toThrow();
  });
});

describe("a rate", () => {
  it("spreads the starts", async () => {
    const gate = openGate({ ratePerSecond: 10 });
    const begun = gate.clock.now();
    for (let index = 0; index < 50; index++) {
      await gate.enter();
      gate.succeed(gate.clock.now());
    }
    const seconds = (gate.clock.now() - begun) / 1000;
    expect(seconds).toBeGreaterThan(4.5);
    expect(seconds).toBeLessThan(5.1);
  });
});

describe("the numbers of a gate", () => {
  it("count each attempt that ended by its status, and the waits before retries", async () => {
    const gate = openGate();
    const refused = setback("throttled");
    const { method, url } = refused.error;
    const error = new ApiError("rate-limited", "slow down", { method, url, status: 429 });
    for (const end of [undefined, { ...refused, error }, setback("connection")]) {
      await gate.enter();
      if (end) gate.fail(end, gate.clock.now());
      else gate.succeed(gate.clock.now());
    }
    await gate.enter();
    gate.fail(undefined, gate.clock.now());
    gate.spend(1, refused, 250);
    gate.spend(2, refused, 500);
    expect(gate.state()).toMatchObject({
      requests: 4,
      retries: 2,
      waitedMs: 750,
      statuses: { 200: 1, 429: 1, none: 2 },
    });
  });
});

describe("the breaker", () => {
  it("opens when the retries are used up, tries once every 30 s, and stops after three openings", async () => {
    const gate = openGate();
    const begun = gate.clock.now();
    let sent = 0;
    const attempt = async (): Promise<void> => {
      await gate.enter();
      sent += 1;
      gate.fail(setback("connection"), gate.clock.now());
    };
    for (let retry = 1; !gate.state().breakerOpen; retry++) {
      await attempt();
      gate.spend(retry, setback("connection"), 0);
    }
    expect(sent).toBe(21);
    expect(gate.state()).toMatchObject({ limit: 1, pausedUntil: gate.clock.now() + 30_000 });
    const results = await Promise.allSettled(Array.from({ length: 5 }, attempt));
    expect(sent).toBe(23);
    expect(gate.clock.now() - begun).toBe(60_000);
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(3);
    expect(gate.state().stopped).toMatchObject({ exit: "unreachable" });
    expect(gate.state().stopped?.message).toContain("the service did not recover");
    expect(() => gate.enter()).toThrow("did not recover");
  });

  it("opens for requests that use up their time, though none is retried and some succeed", () => {
    const gate = openGate();
    let slow = 0;
    for (; slow < 50 && !gate.state().breakerOpen; slow++) {
      void gate.enter();
      gate.succeed(gate.clock.now());
      void gate.enter();
      gate.fail(setback("timeout"), gate.clock.now());
      gate.giveUp(setback("timeout"));
    }
    expect(slow).toBeLessThan(15);
  });

  it("closes when its one probe succeeds", async () => {
    const gate = openGate();
    for (let retry = 1; !gate.state().breakerOpen; retry++) {
      await gate.enter();
      gate.fail(setback("timeout"), gate.clock.now());
      gate.spend(retry, setback("timeout"), 0);
    }
    const entered: number[] = [];
    const waiting = [0, 1, 2].map((index) =>
      Promise.resolve(gate.enter()).then(() => entered.push(index)),
    );
    await turn();
    await turn();
    expect(entered).toEqual([0]);
    gate.succeed(gate.clock.now());
    await turn();
    expect(gate.state()).toMatchObject({ breakerOpen: false, stopped: undefined });
    gate.succeed(gate.clock.now());
    await turn();
    gate.succeed(gate.clock.now());
    await Promise.all(waiting);
    expect(entered).toEqual([0, 1, 2]);
  });

  it("counts an answer that blames the request as life", () => {
    const breaker = createBreaker();
    while (!breaker.spend(2, "timeout")) expect(breaker.isOpen()).toBe(false);
    breaker.probe();
    expect(breaker.record("refused")).toBe(false);
    expect(breaker.isOpen()).toBe(false);
  });

  it("takes a probe that this side abandoned for no failure of the service", async () => {
    const gate = openGate();
    for (let retry = 1; !gate.state().breakerOpen; retry++) {
      await gate.enter();
      gate.fail(setback("timeout"), gate.clock.now());
      gate.spend(retry, setback("timeout"), 0);
    }
    for (let abandoned = 0; abandoned < 5; abandoned++) {
      await gate.enter();
      gate.fail(undefined, gate.clock.now());
    }
    expect(gate.state()).toMatchObject({ breakerOpen: true, stopped: undefined });
    await gate.enter();
    gate.fail(setback("timeout"), gate.clock.now());
    expect(gate.state().stopped).toBeUndefined();
    await gate.enter();
    gate.fail(setback("timeout"), gate.clock.now());
    expect(gate.state().stopped?.message).toContain("did not recover");
  });

  it("forgets earlier openings once successes have earned all retries back", () => {
    const breaker = createBreaker();
    const outage = (): void => {
      while (!breaker.spend(2, "timeout")) expect(breaker.isSpent()).toBe(false);
      breaker.probe();
      breaker.record("success");
    };
    for (let count = 0; count < 9; count++) {
      outage();
      for (let success = 0; success < 100; success++) breaker.record("success");
      expect(breaker.isSpent()).toBe(false);
    }
    outage();
    outage();
    expect(breaker.isSpent()).toBe(false);
    outage();
    expect(breaker.isSpent()).toBe(true);
  });

  it.each<[Setback["kind"], number]>([
    ["broken", 101],
    ["throttled", 101],
    ["connection", 21],
    ["timeout", 11],
  ])("allows so many retries after %s: %i", (kind, retries) => {
    const breaker = createBreaker();
    let count = 1;
    for (let retry = 1; !breaker.spend(retry, kind); retry++) count += 1;
    expect(count).toBe(retries);
  });

  it("lets first retries be free, and successes earn retries back", () => {
    const breaker = createBreaker();
    for (let count = 0; count < 1000; count++) expect(breaker.spend(1, "timeout")).toBe(false);
    for (let count = 0; count < 1000; count++) {
      for (let success = 0; success < 10; success++) breaker.record("success");
      expect(breaker.spend(2, "timeout")).toBe(false);
    }
  });

  it.each<[string, Setback["kind"][], boolean]>([
    ["seven connection faults", Array(7).fill("connection"), true],
    ["eight connection faults", Array(8).fill("connection"), false],
    [
      "eight connection faults with an answer between",
      [...Array(7).fill("connection"), "success", "connection"],
      true,
    ],
  ])("after %s, a first retry is free or not", (_name, outcomes, isFree) => {
    const breaker = createBreaker();
    for (const each of outcomes) breaker.record(each);
    let count = 0;
    while (count < 1000 && !breaker.spend(1, "connection")) count++;
    expect(count === 1000).toBe(isFree);
  });

  it("stops when the first three requests failed alike, not after a success", () => {
    const gate = openGate();
    gate.giveUp(setback("connection"));
    gate.giveUp(setback("connection", undefined, "ECONNRESET"));
    gate.giveUp(setback("connection"));
    gate.giveUp(setback("connection"));
    expect(gate.state().stopped).toBeUndefined();
    gate.giveUp(setback("connection"));
    expect(gate.state().stopped).toMatchObject({ exit: "unreachable", retryable: true });

    const working = openGate();
    void working.enter();
    working.succeed(working.clock.now());
    for (let count = 0; count < 9; count++) working.giveUp(setback("connection"));
    expect(working.state().stopped).toBeUndefined();
  });
});

describe("the end of a run", () => {
  it("turns away those who wait and those who come", async () => {
    const gate = openGate({ ceiling: 1 });
    void gate.enter();
    const waiting = gate.enter();
    const { error } = setback("refused");
    gate.stop(error);
    await expect(waiting).rejects.toMatchObject({ message: error.message, cause: error });
    expect(() => gate.enter()).toThrow(error);
  });

  it("by a signal turns away with its reason", async () => {
    const abort = new AbortController();
    const gate = openGate({ ceiling: 1, signal: abort.signal });
    void gate.enter();
    const waiting = gate.enter();
    abort.abort(new Error("Ctrl-C"));
    await expect(waiting).rejects.toThrow("Ctrl-C");
    expect(() => gate.enter()).toThrow("Ctrl-C");
  });
});

it("costs little while nothing holds: no wait, no promise, and as much for each", () => {
  const gate = openGate({ ceiling: 16 });
  expectLinear(100_000, (size) => {
    for (let count = 0; count < size; count++) {
      if (gate.enter()) throw new Error("held");
      gate.succeed(gate.clock.now());
    }
  });
  expect(gate.clock.sleeps).toEqual([]);
});

describe("a run that shares its work", () => {
  it("starts nothing without a lease, and goes on when the lease is renewed", async () => {
    let isHeld = false;
    const gate = openGate({ mayStart: () => !isHeld });
    expect(gate.enter()).toBeUndefined();
    isHeld = true;
    let entered = false;
    const waiting = gate.enter()?.then(() => (entered = true));
    gate.succeed(gate.clock.now());
    await turn();
    expect(entered).toBe(false);
    expect(gate.state()).toMatchObject({ inFlight: 0, waiting: 1, isHeldByLease: true });
    isHeld = false;
    gate.share(1);
    await waiting;
    expect(gate.state()).toMatchObject({ inFlight: 1, waiting: 0, isHeldByLease: false });
  });

  it("divides the rate among the workers", async () => {
    const gate = openGate({ ratePerSecond: 10 });
    gate.share(4);
    gate.clock.advance(1000);
    const starts: number[] = [];
    for (let index = 0; index < 5; index++) {
      await gate.enter();
      starts.push(gate.clock.now());
      gate.succeed(gate.clock.now());
    }
    const [, , third = 0, , fifth = 0] = starts;
    expect(fifth - third).toBe(800);
  });

  it("lets requests through again after a stop", async () => {
    const gate = openGate();
    gate.stop(setback("connection").error);
    expect(() => gate.enter()).toThrow("connection refused");
    gate.reopen();
    expect(gate.enter()).toBeUndefined();
    expect(gate.state().stopped).toBeUndefined();
  });
});
