import { ApiError, type CliError, reworded } from "../../errors.ts";
import {
  createBreaker,
  type OutcomeKind,
  type Breaker,
  createLimit,
  type Limit,
  createPace,
  type Pace,
} from "./pace.ts";
import type { Clock } from "./timing.ts";

/** Unused rate that later requests may use up, because timers are coarse. */
const rateSlackMs = 100;
/** The same for the learned pace: the service may count strictly. */
const paceSlackMs = 20;

/** State of the gate: its waiters and what limits them. */
interface GateState {
  clock: Clock;
  signal: AbortSignal;
  limit: Limit;
  breaker: Breaker;
  pace: Pace;
  mayStart: () => boolean;
  /** Milliseconds between two request starts by --rate; 0 without it. */
  intervalMs: number;
  /** Workers that share the rate. */
  workers: number;
  nextStartAt: number;
  waiters: { resolve: () => void; reject: (error: unknown) => void }[];
  asleep: boolean;
  inFlight: number;
  pausedUntil: number;
  /** Last activity: an attempt ended, a piece of a body was sent, or an attempt began with none in flight. */
  answeredAt: number;
  requests: number;
  retries: number;
  throttled: number;
  statuses: Record<string, number>;
  waitedMs: number;
  stopped: CliError | undefined;
}

/** Counts an attempt that ended, under its HTTP status or `none`. */
function countStatus({ statuses }: GateState, status: number | "none"): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
}

/** Rejects all waiters. */
function rejectWaiters(state: GateState, error: unknown): void {
  for (const waiter of state.waiters.splice(0)) waiter.reject(error);
}

/** Milliseconds between two request starts by this worker's share of --rate; 0 without it. */
const ownIntervalMs = ({ intervalMs, workers }: GateState): number => intervalMs * workers;

/** Milliseconds between two request starts: the longer one of --rate and the learned pace. */
function intervalOf(state: GateState): number {
  return Math.max(ownIntervalMs(state), state.pace.intervalMs());
}

/** Whether the learned pace is slower than --rate. */
function isPaced(state: GateState): boolean {
  return state.pace.intervalMs() > ownIntervalMs(state);
}

/** When pause and rate allow the next start, by `clock.elapsed`; 0 means now. */
function heldUntil(state: GateState): number {
  const interval = intervalOf(state);
  if (state.pausedUntil === 0 && interval === 0) return 0;
  const now = state.clock.elapsed();
  if (state.pausedUntil <= now) state.pausedUntil = 0;
  const until = Math.max(state.pausedUntil, interval > 0 ? state.nextStartAt : 0);
  return until > now ? until : 0;
}

function hasCapacity(state: GateState): boolean {
  const most = state.breaker.isOpen() ? 1 : state.limit.current();
  return state.inFlight < most && state.mayStart();
}

/** Whether a request waits only because of --rate. */
function isWaitingForRate(state: GateState): boolean {
  if (state.intervalMs === 0 || isPaced(state)) return false;
  if (state.waiters.length === 0 || !hasCapacity(state)) return false;
  return state.pausedUntil <= state.clock.elapsed() && heldUntil(state) > 0;
}

function admitOne(state: GateState): void {
  if (state.inFlight === 0) state.answeredAt = state.clock.elapsed();
  state.inFlight += 1;
  state.requests += 1;
  if (state.breaker.isOpen()) state.breaker.probe();
  const interval = intervalOf(state);
  if (interval === 0) return;
  const slackMs = isPaced(state) ? paceSlackMs : rateSlackMs;
  state.nextStartAt = Math.max(state.nextStartAt, state.clock.elapsed() - slackMs) + interval;
}

/** Admits waiters while capacity and rate allow. */
function admit(state: GateState): void {
  while (state.waiters.length > 0 && hasCapacity(state)) {
    const until = heldUntil(state);
    if (until > 0) {
      if (isPaced(state) && until === state.nextStartAt) state.pace.held();
      return wakeAt(state, until);
    }
    admitOne(state);
    state.waiters.shift()?.resolve();
  }
}

function wakeAt(state: GateState, until: number): void {
  if (state.asleep) return;
  state.asleep = true;
  state.clock.sleep(until - state.clock.elapsed(), state.signal).then(
    () => {
      state.asleep = false;
      // Trust the timer, not the clock: it may fire slightly early.
      if (state.pausedUntil <= until) state.pausedUntil = 0;
      if (state.nextStartAt <= until) state.nextStartAt = Math.min(until, state.clock.elapsed());
      admit(state);
    },
    (reason: unknown) => {
      state.asleep = false;
      rejectWaiters(state, reason);
    },
  );
}

/** Pauses all starts for `ms` from now. */
function pause(state: GateState, ms: number): void {
  state.pausedUntil = Math.max(state.pausedUntil, state.clock.elapsed() + ms);
}

/** Waits for a slot; undefined if one is free at once. */
function enter(state: GateState): Promise<void> | undefined {
  if (state.stopped) throw state.stopped;
  state.signal.throwIfAborted();
  if (state.waiters.length === 0 && hasCapacity(state) && heldUntil(state) === 0) {
    admitOne(state);
    return undefined;
  }
  return new Promise((resolve, reject) => {
    state.waiters.push({ resolve, reject });
    admit(state);
  });
}

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
  /** Attempts that ended, by HTTP status; `none` without a response. */
  statuses: Readonly<Record<string, number>>;
  /** Sum of the waits before retries. */
  waitedMs: number;
  /** A request waits only because of --rate. */
  isHeldByRate: boolean;
  /** Requests per second that the service permits, while requests wait for that; else undefined. */
  permittedPerSecond: number | undefined;
  /** Requests wait because this worker has no lease that is long enough. */
  isHeldByLease: boolean;
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
  stopped: CliError | undefined;
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
  /** Charges the `retry`th retry (from 1) of a request, after `waitMs`; the breaker may open. */
  spend(retry: number, setback: Setback, waitMs: number): void;
  /** Records a failed request that gets no further retry. */
  giveUp(setback: Setback): void;
  /** Ends the run: rejects all waiting and later requests with `error`. */
  stop(error: CliError): void;
  /** After stop(), once nothing is in flight: lets requests through again. */
  reopen(): void;
  /** Shares --rate with so many workers, this one included, and admits what waited for a lease. */
  share(workers: number): void;
  state(): GateSnapshot;
}

export interface GateOptions {
  /** Maximum of requests in flight. */
  ceiling: number;
  /** Maximum of request starts per second. */
  ratePerSecond?: number | undefined;
  /** Whether a request may start now; call share() when it may again. Default: always. */
  mayStart?: (() => boolean) | undefined;
  clock: Clock;
  signal: AbortSignal;
}

/** Counts as a retry that is not free. */
const lastRetry = 2;
const breakerPauseMs = 30_000;
/** A Retry-After up to this holds only its own request. */
const shortWaitMs = 10_000;

/** Rejects what waits with a copy of the error: the request that failed was sent, the others were not. */
function stop(state: GateState, error: CliError): void {
  state.stopped ??= error instanceof ApiError ? reworded(error, error.message) : error;
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
  countStatus(state, setback?.error.status ?? "none");
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
    mayStart: options.mayStart ?? (() => true),
    workers: 1,
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
    statuses: {},
    waitedMs: 0,
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
      countStatus(state, 200);
      state.answeredAt = state.clock.elapsed();
      state.limit.succeeded(state.answeredAt - begun);
      const inFlight = state.inFlight + 1;
      state.pace.record({ begun, now: state.answeredAt, inFlight, isRefused: false });
      if (state.waiters.length > 0) admit(state);
    },
    moved: () => void (state.answeredAt = state.clock.elapsed()),
    fail: (setback, begun) => fail(state, setback, begun),
    spend(retry, setback, waitMs) {
      state.retries += 1;
      state.waitedMs += waitMs;
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
    reopen: () => void (state.stopped = undefined),
    share(workers) {
      state.workers = Math.max(1, workers);
      admit(state);
    },
    state: () => ({
      inFlight: state.inFlight,
      limit: state.limit.current(),
      waiting: state.waiters.length,
      pausedUntil: state.pausedUntil,
      requests: state.requests,
      retries: state.retries,
      throttled: state.throttled,
      statuses: state.statuses,
      waitedMs: state.waitedMs,
      isHeldByRate: isWaitingForRate(state),
      isHeldByLease: state.waiters.length > 0 && !state.mayStart(),
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
