import { type ApiError, reworded } from "../../errors.ts";
import { createBreaker, type OutcomeKind } from "./breaker.ts";
import {
  admit,
  enter,
  isPaced,
  isWaitingForRate,
  pause,
  rejectWaiters,
  type GateState,
} from "./gate-state.ts";
import { createLimit } from "./limit.ts";
import { createPace } from "./pace.ts";
import type { Clock } from "./timing.ts";

interface GateSnapshot {
  inFlight: number;
  /** Current limit of requests in flight. */
  limit: number;
  /** Requests that wait for a slot. */
  waiting: number;
  /** End of the pause by `clock.elapsed`; 0 without a pause. */
  pausedUntil: number;
  /** Admitted attempts. */
  requests: number;
  /** Attempts that were retries. */
  retries: number;
  /** Responses with 429 or 503. */
  throttled: number;
  /** A request waits only because of --rate. */
  isHeldByRate: boolean;
  /** Requests per second that the service permits, while requests wait for that; else undefined. */
  permittedPerSecond: number | undefined;
  /** Concurrency is reduced because the latency rose with it. */
  isHeldByLatency: boolean;
  /** Mean latency of recent successes. */
  latencyMs: number;
  /**
   * Last activity by `clock.elapsed`: an attempt ended, a piece of a body was sent, or an attempt
   * began with none in flight.
   */
  answeredAt: number;
  /** The service counts as down until one request succeeds. */
  breakerOpen: boolean;
  /** The error that ends the run. */
  stopped: ApiError | undefined;
}

/** A failed attempt, as the gate needs it. */
export interface Setback {
  kind: OutcomeKind;
  retryAfterMs?: number | undefined;
  error: ApiError;
}

/** Limits concurrency and rate of all requests of a run, pauses them, and stops the run. */
export interface Gate {
  /** Waits for a slot; undefined if one is free at once. Throws or rejects with the error that ended the run. */
  enter(): Promise<void> | undefined;
  /** Frees the slot after a success. `begun` is the `elapsed()` at which the attempt started. */
  succeed(begun: number): void;
  /** Records that a piece of a body was sent: the service is not silent. */
  moved(): void;
  /** Frees the slot after any other outcome; without a setback the attempt was abandoned. */
  fail(setback: Setback | undefined, begun: number): void;
  /** Charges the `retry`th retry (from 1) of a request; the breaker may open. */
  spend(retry: number, setback: Setback): void;
  /** Records a failed request that gets no further retry. */
  giveUp(setback: Setback): void;
  /** Ends the run: rejects all waiting and later requests with `error`. */
  stop(error: ApiError): void;
  state(): GateSnapshot;
}

export interface GateOptions {
  /** Maximum of requests in flight. */
  ceiling: number;
  /** Maximum of request starts per second. */
  ratePerSecond?: number | undefined;
  clock: Clock;
  signal: AbortSignal;
}

/** Counts as a retry that is not free. */
const lastRetry = 2;
const breakerPauseMs = 30_000;
/** A Retry-After up to this holds only its own request. */
const shortWaitMs = 10_000;

/** Rejects what waits with a copy of the error: the request that failed was sent, the others were not. */
function stop(state: GateState, error: ApiError): void {
  state.stopped ??= reworded(error, error.message);
  rejectWaiters(state, state.stopped);
}

const stopError = (error: ApiError, why: string): ApiError =>
  reworded(error, `${error.message}; stopped: ${why}`);

/** After the breaker opened: pauses all requests, then one request probes the service. */
function coolDown(state: GateState, error: ApiError): void {
  state.limit.collapse();
  pause(state, breakerPauseMs);
  if (state.breaker.isSpent()) stop(state, stopError(error, "the service did not recover"));
}

/**
 * After a 429 or 503. If at least half of the recent answers were refusals, halves the
 * concurrency and pauses all requests. A long wait pauses all requests in any case; a short one
 * holds only its own request.
 */
function refuse(state: GateState, retryAfterMs: number, begun: number): void {
  state.throttled += 1;
  const now = state.answeredAt;
  const inFlight = state.inFlight + 1;
  const isOverload = state.pace.record({ begun, now, inFlight, isRefused: true });
  if (isOverload) state.limit.throttled(begun, now);
  if (isOverload || retryAfterMs > shortWaitMs) pause(state, retryAfterMs);
}

function fail(state: GateState, setback: Setback | undefined, begun: number): void {
  state.inFlight -= 1;
  state.answeredAt = state.clock.elapsed();
  if (setback?.kind === "throttled") refuse(state, setback.retryAfterMs ?? 0, begun);
  const reopened = state.breaker.record(setback?.kind ?? "abandoned");
  if (reopened && setback) coolDown(state, setback.error);
  admit(state);
}

/** Creates the gate of one run. Costs well under a microsecond per request that need not wait. */
export function createGate(options: GateOptions): Gate {
  const state: GateState = {
    clock: options.clock,
    signal: options.signal,
    limit: createLimit(options.ceiling),
    breaker: createBreaker(),
    pace: createPace(),
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
  state.signal.addEventListener("abort", () => rejectWaiters(state, state.signal.reason), {
    once: true,
  });
  return {
    enter: () => enter(state),
    succeed(begun) {
      state.inFlight -= 1;
      state.breaker.record("success");
      state.answeredAt = state.clock.elapsed();
      state.limit.succeeded(state.answeredAt - begun);
      const inFlight = state.inFlight + 1;
      state.pace.record({ begun, now: state.answeredAt, inFlight, isRefused: false });
      if (state.waiters.length > 0) admit(state);
    },
    moved: () => void (state.answeredAt = state.clock.elapsed()),
    fail: (setback, begun) => fail(state, setback, begun),
    spend(retry, setback) {
      state.retries += 1;
      if (state.breaker.spend(retry, setback.kind)) coolDown(state, setback.error);
    },
    giveUp(setback) {
      // A request that used up its time is never retried: without this it would cost nothing.
      const isSlow = setback.kind === "timeout";
      if (isSlow && state.breaker.spend(lastRetry, setback.kind)) coolDown(state, setback.error);
      if (!state.breaker.giveUp(setback.kind, setback.error.code ?? "")) return;
      const why =
        setback.kind === "unexpected"
          ? "this does not seem to be the service"
          : "the first requests all failed the same way";
      stop(state, stopError(setback.error, why));
    },
    stop: (error) => stop(state, error),
    state: () => ({
      inFlight: state.inFlight,
      limit: state.limit.current(),
      waiting: state.waiters.length,
      pausedUntil: state.pausedUntil,
      requests: state.requests,
      retries: state.retries,
      throttled: state.throttled,
      isHeldByRate: isWaitingForRate(state),
      permittedPerSecond:
        isPaced(state) && state.waiters.length > 0 ? 1000 / state.pace.intervalMs() : undefined,
      isHeldByLatency: state.limit.isHeldByLatency(),
      latencyMs: state.limit.latencyMs(),
      answeredAt: state.answeredAt,
      breakerOpen: state.breaker.isOpen(),
      stopped: state.stopped,
    }),
  };
}
