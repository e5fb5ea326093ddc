import { ApiError } from "../errors.ts";
import { createBreaker, type Breaker, type OutcomeKind } from "./breaker.ts";
import { createLimit, type Limit } from "./limit.ts";

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Rejects with the signal's reason when it is aborted meanwhile. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Between 0 (included) and 1 (excluded). */
  random(): number;
}

interface GateState {
  inFlight: number;
  /** How many may be in flight now. */
  limit: number;
  /** How many wait for a place. */
  waiting: number;
  /** Until when nobody may start (milliseconds since the epoch), 0 when nothing holds. */
  pausedUntil: number;
  /** Attempts that were repeated. */
  retries: number;
  /** Answers that said "slower" (429, 503). */
  throttled: number;
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
  /** Gives the place back after a success. `begun` is the `now()` at which the attempt started. */
  succeed(begun: number): void;
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
/** Unused rate that may be caught up, because timers are coarse. */
const rateSlackMs = 100;

interface Door {
  clock: Clock;
  signal: AbortSignal;
  limit: Limit;
  breaker: Breaker;
  /** Milliseconds between two starts, 0 without a rate. */
  intervalMs: number;
  nextStartAt: number;
  waiters: { resolve: () => void; reject: (error: unknown) => void }[];
  asleep: boolean;
  inFlight: number;
  pausedUntil: number;
  retries: number;
  throttled: number;
  stopped: ApiError | undefined;
}

function turnAway(door: Door, error: unknown): void {
  for (const waiter of door.waiters.splice(0)) waiter.reject(error);
}

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

/** When the next may start, as far as only time holds it back; 0 is now. */
function heldUntil(door: Door): number {
  if (door.pausedUntil === 0 && door.intervalMs === 0) return 0;
  const now = door.clock.now();
  if (door.pausedUntil <= now) door.pausedUntil = 0;
  const until = Math.max(door.pausedUntil, door.intervalMs > 0 ? door.nextStartAt : 0);
  return until > now ? until : 0;
}

function hasPlace(door: Door): boolean {
  return door.inFlight < (door.breaker.isOpen() ? 1 : door.limit.current());
}

function take(door: Door): void {
  door.inFlight += 1;
  if (door.breaker.isOpen()) door.breaker.probe();
  if (door.intervalMs === 0) return;
  door.nextStartAt = Math.max(door.nextStartAt, door.clock.now() - rateSlackMs) + door.intervalMs;
}

function admit(door: Door): void {
  while (door.waiters.length > 0 && hasPlace(door)) {
    const until = heldUntil(door);
    if (until > 0) return wakeAt(door, until);
    take(door);
    door.waiters.shift()?.resolve();
  }
}

function wakeAt(door: Door, until: number): void {
  if (door.asleep) return;
  door.asleep = true;
  door.clock.sleep(until - door.clock.now(), door.signal).then(
    () => {
      door.asleep = false;
      // The sleep decides, not the clock: a clock set back must not hold everybody for hours.
      if (door.pausedUntil <= until) door.pausedUntil = 0;
      if (door.nextStartAt <= until) door.nextStartAt = Math.min(until, door.clock.now());
      admit(door);
    },
    (reason: unknown) => {
      door.asleep = false;
      turnAway(door, reason);
    },
  );
}

function pause(door: Door, ms: number): void {
  door.pausedUntil = Math.max(door.pausedUntil, door.clock.now() + ms);
}

/** The breaker has opened: nobody starts for a while, then one request tries. */
function coolDown(door: Door, error: ApiError): void {
  door.limit.collapse();
  pause(door, breakerPauseMs);
  if (door.breaker.isSpent()) stop(door, stopError(error, "the service did not recover"));
}

function enter(door: Door): Promise<void> | undefined {
  if (door.stopped) throw door.stopped;
  door.signal.throwIfAborted();
  if (door.waiters.length === 0 && hasPlace(door) && heldUntil(door) === 0) {
    take(door);
    return undefined;
  }
  return new Promise((resolve, reject) => {
    door.waiters.push({ resolve, reject });
    admit(door);
  });
}

function fail(door: Door, setback: Setback | undefined, begun: number): void {
  door.inFlight -= 1;
  if (setback?.kind === "throttled") {
    door.throttled += 1;
    door.limit.throttled(begun, door.clock.now());
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
      door.limit.succeeded(door.clock.now() - begun);
      if (door.waiters.length > 0) admit(door);
    },
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
      retries: door.retries,
      throttled: door.throttled,
      breakerOpen: door.breaker.isOpen(),
      stopped: door.stopped,
    }),
  };
}
