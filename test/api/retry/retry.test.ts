import { describe, expect, it } from "vitest";
import type { Failure, Result } from "../../../src/api/answers/answers.ts";
import { limitsOf } from "../../../src/api/call.ts";
import { createGate, type Gate } from "../../../src/api/retry/gate.ts";
import { policies, type CallClass } from "../../../src/api/retry/policy.ts";
import { planRetry, retrying } from "../../../src/api/retry/retry.ts";
import { ApiError } from "../../../src/errors.ts";
import { createTestClock } from "../support.ts";

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
    [CallClass, number | undefined, number, { headersMs: number; idleMs: number; totalMs: number }]
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
