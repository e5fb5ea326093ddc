/** Answer to one request, as the pace needs it. Times by `clock.elapsed`. */
export interface PacedAnswer {
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
