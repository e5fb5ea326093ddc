import { describe, expect, it } from "vitest";
import type { Failure, Result } from "../../../src/api/answers/answers.ts";
import { limitsOf } from "../../../src/api/call.ts";
import { type Gate, createGate } from "../../../src/api/retry/gate.ts";
import { type CallClass, policies } from "../../../src/api/retry/policy.ts";
import { planRetry, retrying } from "../../../src/api/retry/retry.ts";
import { ApiError } from "../../../src/errors.ts";
import { createTestClock } from "../support.ts";
import { type Service, bucket, upload } from "./virtual-service.ts";
import * as fc from "../../property.ts";
import {
  backoffMs,
  clampTimer,
  describeWait,
  longestTimerMs,
  parseHttpDate,
  parseRetryAfter,
} from "../../../src/api/retry/timing.ts";

describe("retry", () => {
  function failure(over: Partial<Failure>): Failure {
    const error = new ApiError("server-error", "no", {
      method: "POST",
      url: "http://x/",
      status: over.status,
      code: over.code,
    });
    return { kind: "status", outcome: "broken", error, ...over };
  }

  /** How many attempts a call makes that always fails like this. */
  function attemptsOf(policy: CallClass, over: Partial<Failure>): number {
    const seen = new Map<string, number>();
    const always = failure(over);
    for (let attempt = 1; ; attempt++) {
      for (const cause of [always.kind, String(always.status ?? ""), always.code ?? ""]) {
        seen.set(cause, (seen.get(cause) ?? 0) + 1);
      }
      if (planRetry(policies[policy], always, attempt, seen, 0) === undefined) return attempt;
    }
  }

  describe("the retry table", () => {
    const transient = [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529];
    const never = [
      300, 301, 308, 400, 401, 403, 404, 405, 406, 410, 411, 413, 414, 415, 422, 431, 451, 501, 505,
    ];

    it.each(transient)("status %i", (status) => {
      const whole = status === 429 ? 3 : 1;
      expect({
        list: attemptsOf("list", { status }),
        upsert: attemptsOf("upsert", { status }),
        chatWhole: attemptsOf("chatWhole", { status }),
        chatStream: attemptsOf("chatStream", { status }),
        upload: attemptsOf("upload", { status }),
        rememberedUpload: attemptsOf("rememberedUpload", { status }),
      }).toEqual({
        list: 4,
        upsert: status === 500 ? 3 : 5,
        chatWhole: whole,
        chatStream: whole,
        upload: whole,
        rememberedUpload: whole,
      });
    });

    it.each(never)("status %i is never tried again", (status) => {
      for (const policy of Object.keys(policies) as CallClass[]) {
        expect(attemptsOf(policy, { status, retryAfterMs: 1000 })).toBe(1);
      }
    });

    it.each<[string, Partial<Failure>, number, number, number]>([
      ["503 with Retry-After", { status: 503, retryAfterMs: 1 }, 4, 5, 3],
      ["409", { status: 409 }, 1, 2, 1],
      ["a reset", { kind: "connection", code: "ECONNRESET" }, 4, 5, 1],
      ["a timeout", { kind: "timeout", code: "HEADERS_TIMEOUT" }, 4, 5, 1],
      ["no connection", { kind: "unsent", code: "ECONNREFUSED" }, 4, 5, 3],
      ["an unknown host", { kind: "unsent", code: "ENOTFOUND" }, 2, 2, 2],
      ["a silent name server", { kind: "unsent", code: "EAI_AGAIN" }, 4, 5, 3],
      ["a wrong shape", { kind: "shape" }, 2, 2, 1],
      ["a certificate", { kind: "fatal", code: "CERT_HAS_EXPIRED" }, 1, 1, 1],
    ])("%s", (_name, over, list, upsert, other) => {
      expect({
        list: attemptsOf("list", over),
        upsert: attemptsOf("upsert", over),
        chatWhole: attemptsOf("chatWhole", over),
        chatStream: attemptsOf("chatStream", over),
        upload: attemptsOf("upload", over),
      }).toEqual({ list, upsert, chatWhole: other, chatStream: other, upload: other });
    });

    it.each<[string, Partial<Failure>, number]>([
      ["a reset", { kind: "connection", code: "ECONNRESET" }, 3],
      ["a timeout", { kind: "timeout", code: "HEADERS_TIMEOUT" }, 3],
      ["no connection", { kind: "unsent", code: "ECONNREFUSED" }, 3],
      ["a wrong shape", { kind: "shape" }, 1],
      ["a certificate", { kind: "fatal", code: "CERT_HAS_EXPIRED" }, 1],
    ])("%s in an upload whose id is remembered", (_name, over, attempts) => {
      expect(attemptsOf("rememberedUpload", over)).toBe(attempts);
    });

    it("waits at least as long as the server asks, and a second after a conflict", () => {
      const seen = new Map<string, number>();
      const wait = (over: Partial<Failure>, random: number): number | undefined =>
        planRetry(policies.upsert, failure(over), 1, seen, random);
      expect(wait({ status: 429, retryAfterMs: 7000 }, 0)).toBe(7000);
      expect(wait({ status: 409 }, 0)).toBe(1000);
      expect(wait({ status: 500 }, 0.5)).toBe(250);
    });
  });

  describe("limitsOf", () => {
    it.each<
      [
        CallClass,
        number | undefined,
        number,
        { headersMs: number; idleMs: number; totalMs: number },
      ]
    >([
      ["list", undefined, 0, { headersMs: 60_000, idleMs: 30_000, totalMs: 300_000 }],
      ["list", 5000, 0, { headersMs: 5000, idleMs: 30_000, totalMs: 300_000 }],
      ["list", 900_000, 0, { headersMs: 900_000, idleMs: 900_000, totalMs: 900_000 }],
      ["upsert", undefined, 0, { headersMs: 120_000, idleMs: 30_000, totalMs: 600_000 }],
      ["upsert", undefined, 640 * 1024, { headersMs: 130_000, idleMs: 30_000, totalMs: 600_000 }],
      ["chatWhole", undefined, 0, { headersMs: 0, idleMs: 120_000, totalMs: 900_000 }],
      ["chatWhole", 5000, 0, { headersMs: 0, idleMs: 120_000, totalMs: 5000 }],
      ["chatStream", undefined, 0, { headersMs: 120_000, idleMs: 120_000, totalMs: 0 }],
      ["chatStream", 5000, 0, { headersMs: 5000, idleMs: 5000, totalMs: 0 }],
      ["rawSafe", 5000, 0, { headersMs: 5000, idleMs: 120_000, totalMs: 0 }],
      ["upload", undefined, 6400 * 1024, { headersMs: 136_000, idleMs: 30_000, totalMs: 600_000 }],
    ])("of %s with --timeout %s and %i bytes", (policy, timeoutMs, bytes, expected) => {
      expect(limitsOf(policies[policy], timeoutMs, bytes)).toEqual(expected);
    });

    it("gives deep research its own silence unless the user says otherwise", () => {
      expect(limitsOf(policies.chatStream, undefined, 0, 600_000).idleMs).toBe(600_000);
      expect(limitsOf(policies.chatStream, 5000, 0, 600_000).idleMs).toBe(5000);
    });
  });

  describe("retrying behind a gate", () => {
    const ok: Result<string> = { ok: true, value: "done" };
    const no = (over: Partial<Failure>): Result<string> => ({ ok: false, failure: failure(over) });

    function start(ceiling = 8) {
      const clock = createTestClock();
      const signal = new AbortController().signal;
      const gate = createGate({ ceiling, clock, signal });
      const run = (
        attempt: (number: number, leftMs: number) => Promise<Result<string>>,
      ): Promise<string> =>
        retrying(attempt, { policy: policies.upsert, totalMs: 600_000, clock, signal, gate });
      return { clock, gate, run };
    }

    it("gives the place back while it waits", async () => {
      const { gate, run, clock } = start(1);
      const inFlight: number[] = [];
      const original = clock.sleep.bind(clock);
      clock.sleep = async (ms, signal) => {
        inFlight.push(gate.state().inFlight);
        await original(ms, signal);
      };
      await run(async (number) => (number < 3 ? no({ status: 502 }) : ok));
      expect(inFlight).toEqual([0, 0]);
      expect(gate.state()).toMatchObject({ inFlight: 0, retries: 2 });
    });

    it("goes on, within its time, although the clock is set meanwhile", async () => {
      const { run, clock } = start(1);
      const attempt = async (number: number): Promise<Result<string>> => {
        clock.set(number === 1 ? 3_600_000 : -7_200_000);
        return number < 3 ? no({ status: 429, outcome: "throttled", retryAfterMs: 4000 }) : ok;
      };
      await expect(run(attempt)).resolves.toBe("done");
      expect(Math.max(...clock.sleeps)).toBeLessThan(5000);
    });

    it("limits all attempts together, from the first on", async () => {
      const { run, clock } = start(1);
      const left: number[] = [];
      const attempt = async (_number: number, leftMs: number): Promise<Result<string>> => {
        left.push(leftMs);
        clock.advance(Math.min(leftMs, 250_000));
        return no({ kind: "timeout", outcome: "timeout", code: "HEADERS_TIMEOUT" });
      };
      const begun = clock.elapsed();
      await expect(run(attempt)).rejects.toThrow("(3 attempts)");
      expect(left[0]).toBe(600_000);
      expect(left[1]).toBeLessThanOrEqual(350_000);
      expect(left[2]).toBeLessThanOrEqual(100_000);
      expect(clock.elapsed() - begun).toBeLessThanOrEqual(600_000);
    });

    it("gives a last attempt a second, though less is left", async () => {
      const { run, clock } = start(1);
      const left: number[] = [];
      const attempt = async (number: number, leftMs: number): Promise<Result<string>> => {
        left.push(leftMs);
        if (number > 1) return ok;
        clock.advance(599_400);
        return no({ kind: "timeout", outcome: "timeout", code: "HEADERS_TIMEOUT" });
      };
      await expect(run(attempt)).resolves.toBe("done");
      expect(left).toEqual([600_000, 1000]);
    });

    it("gives the place back when an attempt throws", async () => {
      const { gate, run } = start(1);
      await expect(run(async () => Promise.reject(new Error("Ctrl-C")))).rejects.toThrow("Ctrl-C");
      expect(gate.state().inFlight).toBe(0);
    });

    it.each([401, 402, 403, 404, 405, 410, 501])("status %i ends the run", async (status) => {
      const { gate, run } = start();
      await expect(run(async () => no({ status, outcome: "refused" }))).rejects.toMatchObject({
        status,
      });
      expect(gate.state().stopped).toMatchObject({ status });
      await expect(run(async () => ok)).rejects.toMatchObject({ status });
    });

    it.each([400, 409, 413, 422, 500])("status %i fails this request only", async (status) => {
      const { gate, run } = start();
      await expect(run(async () => no({ status }))).rejects.toMatchObject({ status });
      expect(gate.state().stopped).toBeUndefined();
      expect(await run(async () => ok)).toBe("done");
    });

    it("ends the run when the server asks to wait too long", async () => {
      const { gate, run } = start();
      const answer = no({ status: 429, outcome: "throttled", retryAfterMs: 90_000_000 });
      await expect(run(async () => answer)).rejects.toThrow("asks to wait 25 h");
      expect(gate.state().stopped?.message).toContain("asks to wait 25 h");
      expect(gate.state().pausedUntil).toBe(0);
    });

    it.each([4, 8, 16])(
      "a service that dies for good costs at most 40 requests with %i workers",
      async (workers) => {
        const { clock, gate, run } = start(workers);
        let sent = 0;
        const healthy = 400;
        const begun = clock.now();
        const attempt = async (): Promise<Result<string>> => {
          sent += 1;
          await new Promise<void>((resolve) => setImmediate(resolve));
          return sent <= healthy
            ? ok
            : no({ kind: "connection", outcome: "connection", code: "ECONNREFUSED" });
        };
        const worker = async (): Promise<void> => {
          while (!gate.state().stopped) await run(attempt).catch(() => {});
        };
        await Promise.all(Array.from({ length: workers }, worker));
        expect(sent).toBeLessThanOrEqual(healthy + 40);
        expect(clock.now() - begun).toBeLessThanOrEqual(120_000);
      },
    );
  });

  describe("answers of another server", () => {
    const clock = createTestClock();
    const signal = new AbortController().signal;
    const strange: Result<string> = {
      ok: false,
      failure: failure({ kind: "shape", outcome: "unexpected" }),
    };
    const run = (gate: Gate, result: Result<string>): Promise<string> =>
      retrying(async () => result, { policy: policies.upsert, totalMs: 0, clock, signal, gate });

    it("end the run when nothing else ever came", async () => {
      const gate = createGate({ ceiling: 8, clock, signal });
      await expect(run(gate, strange)).rejects.toThrow("no");
      expect(gate.state().stopped?.message).toContain("does not seem to be the service");
    });

    it("fail their document among good ones, and end the run when they come in a row", async () => {
      const gate = createGate({ ceiling: 8, clock, signal });
      for (let count = 0; count < 5; count++) {
        await run(gate, { ok: true, value: "done" });
        await expect(run(gate, strange)).rejects.toThrow("no");
      }
      expect(gate.state().stopped).toBeUndefined();
      await expect(run(gate, strange)).rejects.toThrow("no");
      expect(gate.state().stopped).toBeUndefined();
      await expect(run(gate, strange)).rejects.toThrow("no");
      expect(gate.state().stopped).toBeDefined();
    });
  });

  it("ends a look-up that arrives byte by byte within a minute, and a list within five", () => {
    for (const [name, totalMs] of [
      ["lookUp", 60_000],
      ["longList", 300_000],
    ] as const) {
      const limits = limitsOf(policies[name], undefined, 0);
      expect(limits.totalMs).toBe(totalMs);
      expect(limits.headersMs).toBeLessThanOrEqual(totalMs);
      expect(limitsOf(policies[name], 900_000, 0).totalMs).toBe(900_000);
    }
  });
});

describe("throttled", () => {
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
      const { failures, seconds } = await upload(
        { judge, latencyMs: after(20) },
        { documents: 200 },
      );
      expect(failures).toBe(0);
      expect(seconds).toBeLessThan(1.6 * 400);
    });
  });
});

describe("timing", () => {
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
});
