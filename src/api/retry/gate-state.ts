import type { ApiError } from "../../errors.ts";
import type { Breaker } from "./breaker.ts";
import type { Limit } from "./limit.ts";
import type { Pace } from "./pace.ts";
import type { Clock } from "./timing.ts";

/** Unused rate that later requests may use up, because timers are coarse. */
const rateSlackMs = 100;
/** The same for the learned pace: the service may count strictly. */
const paceSlackMs = 20;

/** State of the gate: its waiters and what limits them. */
export interface GateState {
  clock: Clock;
  signal: AbortSignal;
  limit: Limit;
  breaker: Breaker;
  pace: Pace;
  /** Milliseconds between two request starts by --rate; 0 without it. */
  intervalMs: number;
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
  stopped: ApiError | undefined;
}

/** Rejects all waiters. */
export function rejectWaiters(state: GateState, error: unknown): void {
  for (const waiter of state.waiters.splice(0)) waiter.reject(error);
}

/** Milliseconds between two request starts: the longer one of --rate and the learned pace. */
function intervalOf(state: GateState): number {
  return Math.max(state.intervalMs, state.pace.intervalMs());
}

/** Whether the learned pace is slower than --rate. */
export function isPaced(state: GateState): boolean {
  return state.pace.intervalMs() > state.intervalMs;
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
  return state.inFlight < (state.breaker.isOpen() ? 1 : state.limit.current());
}

/** Whether a request waits only because of --rate. */
export function isWaitingForRate(state: GateState): boolean {
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
export function admit(state: GateState): void {
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
export function pause(state: GateState, ms: number): void {
  state.pausedUntil = Math.max(state.pausedUntil, state.clock.elapsed() + ms);
}

/** Waits for a slot; undefined if one is free at once. */
export function enter(state: GateState): Promise<void> | undefined {
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
