/** Answer to one request, as the pace needs it. Times by `clock.elapsed`. */
interface PacedAnswer {
  begun: number;
  now: number;
  /** Requests in flight, including this one. */
  inFlight: number;
  /** 429 or 503. */
  isRefused: boolean;
}

/** The request rate that the service permits, learned from its answers. No limit until it refuses. */
export interface Pace {
  /** Milliseconds between two request starts; 0: no limit. */
  intervalMs(): number;
  /** Records that a request waits because of the pace. */
  held(): void;
  /** Records an answer. True if at least half of the recent answers were refusals. */
  record(answer: PacedAnswer): boolean;
}

const answersPerStep = 16;
/** This many refusals end a step at once if they are at least half of its answers. */
const refusalsOfOverload = 4;
const overloadFactor = 1 / 4;
/** Up to this share of refusals, the rate does not fall. */
const toleratedShare = 1 / 8;
/** Growth after a step with few refusals. It doubles with each step without any. */
const growth = 1 / 16;
const maxGrowth = 1 / 2;
const leastMeasuredMs = 1000;
const leastPerMs = 0.1 / 1000;
/** At a low rate, so many accepted requests end a step: 16 would take minutes. */
const acceptedPerSlowStep = 4;

/**
 * Each step judges at least 16 answers and one round trip; at a low rate, 4 answers without a
 * refusal. Answers to requests that began before the last step do not count, so the effect of a
 * step is seen before the next. The rate falls by the share of refusals; with few refusals it
 * grows. Refusals that have nothing to do with the rate, e.g. one in ten, therefore do not lower
 * it. The rate grows only while requests wait for it.
 */
export function createPace(): Pace {
  let ratePerMs = Number.POSITIVE_INFINITY;
  let stepBeganAt = Number.NEGATIVE_INFINITY;
  let firstAnswerAt = 0;
  let answers = 0;
  let refusals = 0;
  let sumInFlight = 0;
  let sumMs = 0;
  let cleanSteps = 0;
  let wasAllRefused = false;
  let isLimiting = false;

  const step = (isOverload: boolean, now: number): void => {
    const kept = (1 - refusals / answers) / (1 - toleratedShare);
    cleanSteps = refusals > 0 ? 0 : cleanSteps + 1;
    const grown = 1 + Math.min(maxGrowth, growth * 2 ** Math.max(0, cleanSteps - 1));
    const factor = isOverload ? overloadFactor : Math.min(grown, kept);
    // Without a pace that limits, the rate is measured, by Little's law.
    if (!isLimiting && refusals > 0) {
      ratePerMs = Math.min(ratePerMs, sumInFlight / Math.max(1, sumMs));
    }
    // If the service accepts nothing in two steps, it may be down: its rate is unknown.
    const isDown = refusals === answers && wasAllRefused;
    if ((isLimiting || refusals > 0) && !isDown) ratePerMs *= factor;
    wasAllRefused = refusals === answers;
    // Not below what the service accepted. A shorter time says little: the service may save up.
    const acceptedPerMs = (answers - refusals) / Math.max(leastMeasuredMs, now - stepBeganAt);
    ratePerMs = Math.max(ratePerMs, acceptedPerMs, leastPerMs);
    isLimiting = false;
    answers = refusals = sumInFlight = sumMs = 0;
    stepBeganAt = now;
  };
  return {
    intervalMs: () => 1 / ratePerMs,
    held: () => void (isLimiting = true),
    record({ begun, now, inFlight, isRefused }) {
      if (begun < stepBeganAt) return false;
      if (answers === 0) firstAnswerAt = now;
      answers += 1;
      sumInFlight += inFlight;
      sumMs += now - begun;
      if (isRefused) refusals += 1;
      const isOverload = refusals >= refusalsOfOverload && refusals * 2 >= answers;
      const isSlow =
        refusals === 0 && answers >= acceptedPerSlowStep && now - stepBeganAt >= leastMeasuredMs;
      const isComplete = (answers >= answersPerStep || isSlow) && begun >= firstAnswerAt;
      if (isOverload || isComplete) step(isOverload, now);
      return isOverload;
    },
  };
}

/** Outcome of one attempt, by what it shows of the service's health. */
export type OutcomeKind =
  | "success"
  /** 429 or 503. */
  | "throttled"
  /** A response that blames the request: the service is alive. */
  | "refused"
  /** A response that blames the service. */
  | "broken"
  /** A 200 that violates the interface, e.g. a login page. */
  | "unexpected"
  | "connection"
  | "timeout"
  /** Aborted by this side. */
  | "abandoned";

/** The retry budget of a run, and the circuit breaker that opens when the budget is spent. */
export interface Breaker {
  isOpen(): boolean;
  /** Records an outcome. True if it was the failed probe of an open breaker, which opens it again. */
  record(kind: OutcomeKind): boolean;
  /** Records that a request was admitted while the breaker is open. */
  probe(): void;
  /** Charges a retry to the budget. True if that opens the breaker. */
  spend(retry: number, kind: OutcomeKind): boolean;
  /** Records a request without further retries. True if all others would fail, too: end the run. */
  giveUp(kind: OutcomeKind, code: string): boolean;
  /** Whether the breaker opened so often that the run should end. */
  isSpent(): boolean;
}

const fullBudget = 100;
const budgetAfterBreaker = 50;
const openingsBeforeStop = 3;
const failuresBeforeStop = 3;
/** After this many consecutive connection faults, first retries are no longer free. */
const freeRetryFaults = 8;
const costs: Partial<Record<OutcomeKind, number>> = { connection: 5, timeout: 10 };

/**
 * The budget is 100 tokens. The first retry of a request is free. Each further retry costs 1
 * after a response, 5 after a connection fault, 10 after a timeout. A success earns 1
 * (faults.md section 3).
 */
export function createBreaker(): Breaker {
  let budget = fullBudget;
  let open = false;
  let probing = false;
  let openings = 0;
  let faults = 0;
  let succeeded = false;
  let same = { code: "", count: 0 };
  let unexpectedResponses = 0;
  const openAgain = (): true => {
    open = true;
    openings += 1;
    return true;
  };
  return {
    isOpen: () => open,
    isSpent: () => openings >= openingsBeforeStop,
    probe() {
      probing = true;
    },
    record(kind) {
      const wasProbe = open && probing;
      probing = false;
      faults = kind === "connection" ? faults + 1 : 0;
      if (kind === "success") {
        succeeded = true;
        unexpectedResponses = 0;
        if (budget < fullBudget && ++budget === fullBudget) openings = 0;
      }
      if (kind === "abandoned") return false;
      if (kind !== "success" && kind !== "refused") return wasProbe && openAgain();
      if (open) budget = Math.max(budget, budgetAfterBreaker);
      open = false;
      return false;
    },
    spend(retry, kind) {
      if (retry > 1 || faults >= freeRetryFaults) budget -= costs[kind] ?? 1;
      return !open && budget <= 0 && openAgain();
    },
    giveUp(kind, code) {
      // One odd response among good ones is due to its document; only odd ones mean another server.
      if (kind === "unexpected") return !succeeded || ++unexpectedResponses >= failuresBeforeStop;
      if (succeeded || (kind !== "connection" && kind !== "timeout")) return false;
      same = { code, count: same.code === code ? same.count + 1 : 1 };
      return same.count >= failuresBeforeStop;
    },
  };
}

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
