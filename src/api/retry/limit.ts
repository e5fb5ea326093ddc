/** How many requests may be in flight: doubled at the start, then additive up, halved down, held back by rising latency. */
export interface Limit {
  current(): number;
  /** Moving mean of what recent successes took. */
  latencyMs(): number;
  /** Whether rising latency keeps the limit from going up. */
  isHeldByLatency(): boolean;
  /** One success that took `ms`. */
  succeeded(ms: number): void;
  /** The service said "slower" to an attempt that began at `begun`. */
  throttled(begun: number, now: number): void;
  /** Down to one, e.g. because the service seems dead. */
  collapse(): void;
}

const startLimit = 4;
const successesPerStep = 20;
const latencyWeight = 1 / 16;
// Requests that only queue take half the time with half as many in flight.
const hardlyLess = 0.75;

/**
 * The step after one batch of successes: −1 when requests take more than twice
 * as long as at best, for then more at once only queue; 0 near that; else +1.
 * The 20 ms keep the noise of a fast service from counting.
 */
export function latencyStep(meanMs: number, bestMs: number): -1 | 0 | 1 {
  if (meanMs > 2 * bestMs + 20) return -1;
  return meanMs > 1.5 * bestMs + 10 ? 0 : 1;
}

/**
 * Starts at 4 (or `ceiling`) and moves between 1 and `ceiling` (faults.md section 3).
 *
 * Where latency stays as it is with half as many in flight, or with one, they were not what it
 * came from: then it is the new best, and the limit goes up again.
 *
 * Slow start, as TCP's: it doubles with each round of as many successes as may be
 * in flight, until the service has once said "slower" or its latency has risen;
 * from then on it is one more after 20 successes. One by one from the beginning,
 * 64 in flight at 200 ms would take 12 s to reach, and a short run would never.
 */
export function createLimit(ceiling: number): Limit {
  let limit = Math.min(startLimit, ceiling);
  let isStarting = true;
  let successes = 0;
  let sumMs = 0;
  let recentMs = Number.NaN;
  let bestMs = Number.POSITIVE_INFINITY;
  let halvedAt = Number.NEGATIVE_INFINITY;
  // The limit and the latency from which it has been going down.
  let down: { limit: number; meanMs: number } | undefined;
  let isHeld = false;
  const isOwnDoing = (mean: number): boolean => {
    down ??= { limit, meanMs: mean };
    if (limit === 1) return false;
    if (limit > down.limit / 2) return true;
    const isLess = mean < hardlyLess * down.meanMs;
    down = { limit, meanMs: mean };
    return isLess;
  };
  const stepAfter = (mean: number): -1 | 0 | 1 => {
    // The best fades: now and then one more is tried.
    bestMs = Math.min(bestMs * 1.02, mean);
    const step = latencyStep(mean, bestMs);
    if (step === -1 && isOwnDoing(mean)) return step;
    if (step === -1) bestMs = mean;
    down = undefined;
    return step === -1 ? 1 : step;
  };
  return {
    current: () => limit,
    latencyMs: () => (Number.isNaN(recentMs) ? 0 : recentMs),
    isHeldByLatency: () => isHeld,
    succeeded(ms) {
      sumMs += ms;
      recentMs = Number.isNaN(recentMs) ? ms : recentMs + (ms - recentMs) * latencyWeight;
      if (++successes < (isStarting ? limit : successesPerStep)) return;
      const mean = sumMs / successes;
      successes = sumMs = 0;
      const step = stepAfter(mean);
      isHeld = step !== 1;
      isStarting &&= step === 1;
      limit = Math.min(ceiling, Math.max(1, isStarting ? 2 * limit : limit + step));
    },
    throttled(begun, now) {
      successes = sumMs = 0;
      // Once per round trip: answers to what was sent before the last halving tell nothing new.
      if (begun < halvedAt) return;
      halvedAt = now;
      isStarting = false;
      down = undefined;
      limit = Math.max(1, limit >> 1);
    },
    collapse() {
      limit = 1;
      isStarting = false;
      down = undefined;
      successes = sumMs = 0;
    },
  };
}
