import { ApiError } from "../../errors.ts";
import { createBreaker, type OutcomeKind } from "./breaker.ts";
import {
  admit,
  enter,
  isWaitingForRate,
  pause,
  rejectWaiters,
  type GateState,
} from "./gate-state.ts";
import { createLimit } from "./limit.ts";
import type { Clock } from "./timing.ts";

interface GateSnapshot {
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

/** One gate for all workers of a run: how many at once, how fast, and when not at all. */
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
  state(): GateSnapshot;
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
function stop(state: GateState, error: ApiError): void {
  state.stopped ??= error;
  rejectWaiters(state, state.stopped);
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
function coolDown(state: GateState, error: ApiError): void {
  state.limit.collapse();
  pause(state, breakerPauseMs);
  if (state.breaker.isSpent()) stop(state, stopError(error, "the service did not recover"));
}

function fail(state: GateState, setback: Setback | undefined, begun: number): void {
  state.inFlight -= 1;
  state.answeredAt = state.clock.elapsed();
  if (setback?.kind === "throttled") {
    state.throttled += 1;
    state.limit.throttled(begun, state.clock.elapsed());
    if (setback.retryAfterMs !== undefined) pause(state, setback.retryAfterMs);
  }
  const reopened = state.breaker.record(setback?.kind ?? "abandoned");
  if (reopened && setback) coolDown(state, setback.error);
  admit(state);
}

/** Creates the gate of one run. Costs well under a microsecond a request while nothing holds. */
export function createGate(options: GateOptions): Gate {
  const state: GateState = {
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
      if (state.waiters.length > 0) admit(state);
    },
    moved: () => void (state.answeredAt = state.clock.elapsed()),
    fail: (setback, begun) => fail(state, setback, begun),
    spend(retry, setback) {
      state.retries += 1;
      if (state.breaker.spend(retry, setback.kind)) coolDown(state, setback.error);
    },
    giveUp(setback) {
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
      isHeldByLatency: state.limit.isHeldByLatency(),
      latencyMs: state.limit.latencyMs(),
      answeredAt: state.answeredAt,
      breakerOpen: state.breaker.isOpen(),
      stopped: state.stopped,
    }),
  };
}
