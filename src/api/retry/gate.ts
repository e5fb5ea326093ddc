import { ApiError } from "../../errors.ts";
import { createBreaker, type OutcomeKind } from "./breaker.ts";
import { admit, enter, isHeldByRate, pause, turnAway, type Door } from "./door.ts";
import { createLimit } from "./limit.ts";
import type { Clock } from "./timing.ts";

interface GateState {
  inFlight: number;
  /** How many may be in flight now. */
  limit: number;
  /** How many wait for a place. */
  waiting: number;
  /** Until when nobody may start by `clock.elapsed`, 0 when nothing holds. */
  pausedUntil: number;
  /** Attempts that were let in. */
  requests: number;
  /** Attempts that were repeated. */
  retries: number;
  /** Answers that said "slower" (429, 503). */
  throttled: number;
  /** Somebody waits only because of the rate. */
  isHeldByRate: boolean;
  /** Fewer are let in because with more the service took longer. */
  isHeldByLatency: boolean;
  /** How long recent successes took. */
  latencyMs: number;
  /** When the last attempt ended, a piece of a body went out, or one began after a time without any, by `clock.elapsed`. */
  answeredAt: number;
  /** The service is taken for dead until one request succeeds. */
  breakerOpen: boolean;
  /** Why the run must end. */
  stopped: ApiError | undefined;
}

/** An attempt that did not succeed, as the gate needs it. */
export interface Setback {
  kind: OutcomeKind;
  retryAfterMs?: number | undefined;
  error: ApiError;
}

/** One door for all workers of a run: how many at once, how fast, and when not at all. */
export interface Gate {
  /** Waits for a place; undefined when there is one at once. Throws or rejects with why the run ended. */
  enter(): Promise<void> | undefined;
  /** Gives the place back after a success. `begun` is the `elapsed()` at which the attempt started. */
  succeed(begun: number): void;
  /** A piece of a body went out: the service is not silent. */
  moved(): void;
  /** Gives the place back after anything else; without a setback the attempt was abandoned. */
  fail(setback: Setback | undefined, begun: number): void;
  /** Pays for the `retry`th retry (from 1) of a request; the breaker may open. */
  spend(retry: number, setback: Setback): void;
  /** A request failed for good. */
  giveUp(setback: Setback): void;
  /** Ends the run: everybody who waits or comes is turned away with `error`. */
  stop(error: ApiError): void;
  state(): GateState;
}

export interface GateOptions {
  /** Most requests in flight. */
  ceiling: number;
  /** Most requests started per second. */
  ratePerSecond?: number | undefined;
  clock: Clock;
  signal: AbortSignal;
}

const breakerPauseMs = 30_000;
function stop(door: Door, error: ApiError): void {
  door.stopped ??= error;
  turnAway(door, door.stopped);
}

function stopError(error: ApiError, why: string): ApiError {
  const { method, url, status, code, hints } = error;
  return new ApiError(error.exit, `${error.message}; stopped: ${why}`, {
    method,
    url,
    status,
    code,
    hints,
    retryable: error.retryable,
    cause: error,
  });
}

/** The breaker has opened: nobody starts for a while, then one request tries. */
function coolDown(door: Door, error: ApiError): void {
  door.limit.collapse();
  pause(door, breakerPauseMs);
  if (door.breaker.isSpent()) stop(door, stopError(error, "the service did not recover"));
}

function fail(door: Door, setback: Setback | undefined, begun: number): void {
  door.inFlight -= 1;
  door.answeredAt = door.clock.elapsed();
  if (setback?.kind === "throttled") {
    door.throttled += 1;
    door.limit.throttled(begun, door.clock.elapsed());
    if (setback.retryAfterMs !== undefined) pause(door, setback.retryAfterMs);
  }
  const reopened = door.breaker.record(setback?.kind ?? "abandoned");
  if (reopened && setback) coolDown(door, setback.error);
  admit(door);
}

/** Creates the gate of one run. Costs well under a microsecond a request while nothing holds. */
export function createGate(options: GateOptions): Gate {
  const door: Door = {
    clock: options.clock,
    signal: options.signal,
    limit: createLimit(options.ceiling),
    breaker: createBreaker(),
    intervalMs: options.ratePerSecond ? 1000 / options.ratePerSecond : 0,
    nextStartAt: 0,
    waiters: [],
    asleep: false,
    inFlight: 0,
    pausedUntil: 0,
    answeredAt: 0,
    requests: 0,
    retries: 0,
    throttled: 0,
    stopped: undefined,
  };
  door.signal.addEventListener("abort", () => turnAway(door, door.signal.reason), { once: true });
  return {
    enter: () => enter(door),
    succeed(begun) {
      door.inFlight -= 1;
      door.breaker.record("success");
      door.answeredAt = door.clock.elapsed();
      door.limit.succeeded(door.answeredAt - begun);
      if (door.waiters.length > 0) admit(door);
    },
    moved: () => void (door.answeredAt = door.clock.elapsed()),
    fail: (setback, begun) => fail(door, setback, begun),
    spend(retry, setback) {
      door.retries += 1;
      if (door.breaker.spend(retry, setback.kind)) coolDown(door, setback.error);
    },
    giveUp(setback) {
      if (!door.breaker.giveUp(setback.kind, setback.error.code ?? "")) return;
      const why =
        setback.kind === "unexpected"
          ? "this does not seem to be the service"
          : "the first requests all failed the same way";
      stop(door, stopError(setback.error, why));
    },
    stop: (error) => stop(door, error),
    state: () => ({
      inFlight: door.inFlight,
      limit: door.limit.current(),
      waiting: door.waiters.length,
      pausedUntil: door.pausedUntil,
      requests: door.requests,
      retries: door.retries,
      throttled: door.throttled,
      isHeldByRate: isHeldByRate(door),
      isHeldByLatency: door.limit.isHeldByLatency(),
      latencyMs: door.limit.latencyMs(),
      answeredAt: door.answeredAt,
      breakerOpen: door.breaker.isOpen(),
      stopped: door.stopped,
    }),
  };
}
