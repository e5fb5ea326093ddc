/** Limit of requests in flight: doubles at the start, then grows by one, halves on 429 or 503, stops at rising latency. */
export interface Limit {
  current(): number;
  /** Moving mean of the latency of recent successes. */
  latencyMs(): number;
  /** Whether rising latency prevents an increase. */
  isHeldByLatency(): boolean;
  /** Records a success that took `ms`. */
  succeeded(ms: number): void;
  /** Records a 429 or 503 for an attempt that began at `begun`. */
  throttled(begun: number, now: number): void;
  /** Sets the limit to one, e.g. because the service seems down. */
  collapse(): void;
}

const startLimit = 4;
const successesPerStep = 20;
const latencyWeight = 1 / 16;
// If requests only queue, half the concurrency halves their latency; a smaller gain does not count.
const queueingRatio = 0.75;

/**
 * The step after one batch of successes. −1 if the mean latency is more than twice the
 * best, because then further requests only queue; 0 near that; else +1. The 20 ms filter
 * the noise of a fast service.
 */
export function latencyStep(meanMs: number, bestMs: number): -1 | 0 | 1 {
  if (meanMs > 2 * bestMs + 20) return -1;
  return meanMs > 1.5 * bestMs + 10 ? 0 : 1;
}

/**
 * Starts at 4 (or `ceiling`) and moves between 1 and `ceiling` (faults.md section 3).
 *
 * If latency does not fall with half the concurrency, or with one request, concurrency was not
 * the cause. Then this latency becomes the new best, and the limit grows again.
 *
 * Slow start, as in TCP: the limit doubles after as many successes as the limit itself, until the
 * first 429 or 503 or rising latency. From then on it grows by one per 20 successes. Growing by
 * one from the start would take 12 s to reach 64 in flight at 200 ms; a short run never would.
 */
export function createLimit(ceiling: number): Limit {
  let limit = Math.min(startLimit, ceiling);
  let isStarting = true;
  let successes = 0;
  let sumMs = 0;
  let recentMs = Number.NaN;
  let bestMs = Number.POSITIVE_INFINITY;
  let halvedAt = Number.NEGATIVE_INFINITY;
  // Limit and latency at the start of the current decrease.
  let decrease: { limit: number; meanMs: number } | undefined;
  let isHeld = false;
  const isQueueing = (mean: number): boolean => {
    decrease ??= { limit, meanMs: mean };
    if (limit === 1) return false;
    if (limit > decrease.limit / 2) return true;
    const isLess = mean < queueingRatio * decrease.meanMs;
    decrease = { limit, meanMs: mean };
    return isLess;
  };
  const stepAfter = (mean: number): -1 | 0 | 1 => {
    // Let the best latency age, so that the limit sometimes tries to grow.
    bestMs = Math.min(bestMs * 1.02, mean);
    const step = latencyStep(mean, bestMs);
    if (step === -1 && isQueueing(mean)) return step;
    if (step === -1) bestMs = mean;
    decrease = undefined;
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
      // Halve once per round trip: ignore responses to requests sent before the last halving.
      if (begun < halvedAt) return;
      halvedAt = now;
      isStarting = false;
      decrease = undefined;
      limit = Math.max(1, limit >> 1);
    },
    collapse() {
      limit = 1;
      isStarting = false;
      decrease = undefined;
      successes = sumMs = 0;
    },
  };
}
