import type { Result } from "../../../src/api/answers/answers.ts";
import { createGate } from "../../../src/api/retry/gate.ts";
import { policies } from "../../../src/api/retry/policy.ts";
import { retrying } from "../../../src/api/retry/retry.ts";
import type { Clock } from "../../../src/api/retry/timing.ts";
import { ApiError } from "../../../src/errors.ts";
import { startPass } from "../../../src/sync/run/run.ts";

interface VirtualClock extends Clock {
  /** Lets time pass, from one sleep to the next, until the promise settles. */
  run<T>(promise: Promise<T>): Promise<T>;
}

/** A clock whose time passes only when all wait. Its randomness is repeatable. */
function createVirtualClock(): VirtualClock {
  let time = 0;
  let seed = 1;
  const sleeping: { at: number; wake: () => void }[] = [];
  const wakeNext = (): void => {
    const next = sleeping.shift();
    if (!next) throw new Error("all wait for ever");
    time = Math.max(time, next.at);
    next.wake();
  };
  return {
    now: () => time,
    elapsed: () => time,
    random: () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647,
    sleep: (ms) =>
      new Promise((wake) => {
        const at = time + ms;
        const index = sleeping.findLastIndex((each) => each.at <= at);
        sleeping.splice(index + 1, 0, { at, wake });
      }),
    async run(promise) {
      let isSettled = false;
      const settle = (): void => void (isSettled = true);
      promise.then(settle, settle);
      while (!isSettled) {
        await new Promise<void>((resolve) => setImmediate(resolve));
        if (!isSettled) wakeNext();
      }
      return await promise;
    },
  };
}

interface Uploaded {
  /** Of virtual time. */
  seconds: number;
  /** Share of the answers that were refusals. */
  share: number;
  /** Documents that failed. */
  failures: number;
  /** When the service accepted each document, in milliseconds. */
  acceptedAt: number[];
}

/** What the service does with a request; undefined: it accepts it. */
export interface Refusal {
  status: 429 | 503;
  retryAfterMs?: number | undefined;
}

/** A service in virtual time. */
export interface Service {
  /** Judges a request, in the order in which they arrive. */
  judge(now: number, random: () => number): Refusal | undefined;
  /** Milliseconds until the answer, with so many requests in flight. */
  latencyMs(inFlight: number): number;
}

/** A token bucket of so many requests per second that holds `size`. `rate` may change. */
export function bucket(
  rate: (now: number) => number,
  size: number,
  retryAfterMs?: number,
): Service["judge"] {
  let tokens = size;
  let last = 0;
  return (now) => {
    tokens = Math.min(size, tokens + ((now - last) / 1000) * rate(now));
    last = now;
    if (tokens < 1) return { status: 429, retryAfterMs };
    tokens -= 1;
    return undefined;
  };
}

function failed({ status, retryAfterMs }: Refusal): Result<undefined> {
  const error = new ApiError("rate-limited", "upload: slower", {
    method: "POST",
    url: "http://x/",
    status,
    retryable: true,
  });
  return {
    ok: false,
    failure: { kind: "status", outcome: "throttled", status, retryAfterMs, error },
  };
}

async function* toBatches<Item>(batch: Promise<Item[]>): AsyncGenerator<Item[]> {
  yield await batch;
}

/** Sends so many documents through a gate, as an upload does. */
export async function upload(
  service: Service,
  { documents = 1500, ceiling = 8 } = {},
): Promise<Uploaded> {
  const clock = createVirtualClock();
  const { signal } = new AbortController();
  const gate = createGate({ ceiling, clock, signal });
  const acceptedAt: number[] = [];
  let [refused, failures] = [0, 0];
  const attempt = async (): Promise<Result<undefined>> => {
    const refusal = service.judge(clock.elapsed(), clock.random);
    await clock.sleep(service.latencyMs(gate.state().inFlight));
    if (refusal) {
      refused += 1;
      return failed(refusal);
    }
    acceptedAt.push(clock.elapsed());
    return { ok: true, value: undefined };
  };
  const onHeld = (change: 1 | -1): void => pass.hold(change);
  const tools = { policy: policies.upsert, totalMs: 600_000, clock, signal, gate, onHeld };
  const items = Promise.resolve(Array.from({ length: documents }, (_, index) => index));
  const pass = startPass(
    toBatches(items),
    ceiling,
    () => undefined,
    async () => {
      await retrying(attempt, tools).catch(() => void (failures += 1));
    },
  );
  await clock.run(pass.finished);
  const share = refused / (refused + acceptedAt.length);
  return { seconds: clock.elapsed() / 1000, share, failures, acceptedAt };
}
