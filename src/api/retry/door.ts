import type { ApiError } from "../../errors.ts";
import type { Breaker } from "./breaker.ts";
import type { Limit } from "./limit.ts";
import type { Clock } from "./timing.ts";

/** Unused rate that may be caught up, because timers are coarse. */
const rateSlackMs = 100;

/** Who waits before the gate, and what holds them back. */
export interface Door {
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
  /** When the last attempt ended, a piece of a body went out, or one began while no other was in flight. */
  answeredAt: number;
  requests: number;
  retries: number;
  throttled: number;
  stopped: ApiError | undefined;
}

/** Rejects everybody who waits. */
export function turnAway(door: Door, error: unknown): void {
  for (const waiter of door.waiters.splice(0)) waiter.reject(error);
}

/** When the next may start, as far as only time holds it back; 0 is now. */
function heldUntil(door: Door): number {
  if (door.pausedUntil === 0 && door.intervalMs === 0) return 0;
  const now = door.clock.elapsed();
  if (door.pausedUntil <= now) door.pausedUntil = 0;
  const until = Math.max(door.pausedUntil, door.intervalMs > 0 ? door.nextStartAt : 0);
  return until > now ? until : 0;
}

function hasPlace(door: Door): boolean {
  return door.inFlight < (door.breaker.isOpen() ? 1 : door.limit.current());
}

/** Somebody waits, there is a place, and only --rate says not yet. */
export function isHeldByRate(door: Door): boolean {
  if (door.waiters.length === 0 || door.intervalMs === 0 || !hasPlace(door)) return false;
  return door.pausedUntil <= door.clock.elapsed() && heldUntil(door) > 0;
}

function take(door: Door): void {
  if (door.inFlight === 0) door.answeredAt = door.clock.elapsed();
  door.inFlight += 1;
  door.requests += 1;
  if (door.breaker.isOpen()) door.breaker.probe();
  if (door.intervalMs === 0) return;
  door.nextStartAt =
    Math.max(door.nextStartAt, door.clock.elapsed() - rateSlackMs) + door.intervalMs;
}

/** Lets in whom place and time allow. */
export function admit(door: Door): void {
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
  door.clock.sleep(until - door.clock.elapsed(), door.signal).then(
    () => {
      door.asleep = false;
      // The sleep decides: a timer may fire a little before its time.
      if (door.pausedUntil <= until) door.pausedUntil = 0;
      if (door.nextStartAt <= until) door.nextStartAt = Math.min(until, door.clock.elapsed());
      admit(door);
    },
    (reason: unknown) => {
      door.asleep = false;
      turnAway(door, reason);
    },
  );
}

/** Nobody starts for `ms`, from now. */
export function pause(door: Door, ms: number): void {
  door.pausedUntil = Math.max(door.pausedUntil, door.clock.elapsed() + ms);
}

/** Waits for a place; undefined when there is one at once. */
export function enter(door: Door): Promise<void> | undefined {
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
