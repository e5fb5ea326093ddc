import type {
  CaseMetrics,
  Estimate,
  EvalSummary,
  Measured,
  MetricName,
  Outcome,
} from "./result.ts";

/** An estimate with the limits of its 95 % interval. */
interface Interval {
  value: number;
  low: number;
  high: number;
}

/** 97.5 % quantile of the normal distribution: 95 % lie between -z and z. */
export const z = 1.959963984540054;

/**
 * Wilson's 95 % score interval (without continuity correction) of the rate `successes / n`, between
 * 0 and 1. `successes` may be a sum of values between 0 and 1: their variance is at most that of
 * 0 and 1 with the same mean, so the interval is then too wide rather than too narrow.
 * `n` is at least 1.
 */
export function wilson(successes: number, n: number): Interval {
  const value = successes / n;
  const centre = value + (z * z) / (2 * n);
  const half = z * Math.sqrt((value * (1 - value)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return {
    value,
    // At 0 and at n the limit is exact; rounding errors would put the value outside.
    low: successes <= 0 ? 0 : Math.max(0, (centre - half) / scale),
    high: successes >= n ? 1 : Math.min(1, (centre + half) / scale),
  };
}

const resamples = 4000;
const tail = 0.025;

/** Numbers from 0 (included) to 1 (excluded), always the same ones: Marsaglia's xorshift32. */
function createRandom(): () => number {
  let state = 2_463_534_242;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

function meanOf(values: Iterable<number>, n: number): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / n;
}

/** Means of samples that are drawn from `values` with replacement, ascending. */
function resampledMeans(values: Float64Array): Float64Array {
  const random = createRandom();
  const n = values.length;
  const means = new Float64Array(resamples);
  for (let sample = 0; sample < resamples; sample++) {
    let sum = 0;
    for (let drawn = 0; drawn < n; drawn++) sum += values[Math.floor(random() * n)] ?? 0;
    means[sample] = sum / n;
  }
  return means.sort();
}

/** The value below which the share `share` of the ascending `values` lies. */
function quantile(values: Float64Array, share: number): number {
  const place = share * (values.length - 1);
  const below = Math.floor(place);
  const low = values[below] ?? 0;
  return low + (place - below) * ((values[below + 1] ?? low) - low);
}

/**
 * Mean of `values` with the 95 % percentile interval of 4,000 bootstrap samples. The samples are the
 * same in each run, and the order of `values` does not matter. `values` is not empty. Values that
 * are all equal have an interval without width, whatever their number.
 */
export function bootstrapMean(values: readonly number[]): Interval {
  const sorted = Float64Array.from(values).sort();
  const means = resampledMeans(sorted);
  return {
    value: meanOf(sorted, sorted.length),
    low: quantile(means, tail),
    high: quantile(means, 1 - tail),
  };
}

/** Fewer values than these have too little spread for a bootstrap. */
const fewestResampled = 10;

/**
 * Mean of values from `least` to 1 with its 95 % interval, which is rather too wide than too narrow:
 *
 * - values that are all equal do not prove that the next one is: as for Wilson's interval of 0 of n,
 *   up to z² / (n + z²) of the cases may have any other value;
 * - of fewer than 10 values it is Wilson's, between `least` and 1;
 * - else it is by bootstrap.
 */
function boundedMean(values: readonly number[], least: number): Interval {
  const n = values.length;
  const value = meanOf(values, n);
  if (values.every((each) => each === values[0])) {
    const unseen = wilson(0, n).high;
    return { value, low: value - unseen * (value - least), high: value + unseen * (1 - value) };
  }
  if (n >= fewestResampled) return bootstrapMean(values);
  const range = 1 - least;
  const { low, high } = wilson((n * (value - least)) / range, n);
  return { value, low: least + low * range, high: least + high * range };
}

/** Mean of scores from 0 to 1 with its 95 % interval, see boundedMean(). */
export const meanScore = (scores: readonly number[]): Interval => boundedMean(scores, 0);

/** Mean of differences of such scores with its 95 % interval, see boundedMean(). */
export const meanDifference = (differences: readonly number[]): Interval =>
  boundedMean(differences, -1);

/** What a summary needs of a case. */
interface Scored {
  group: string | null;
  outcome: Outcome;
  metrics: CaseMetrics;
}

/**
 * A score of a case from 0 to 1; null if the case does not count: it was skipped, or the metric is
 * about wanted documents and the case wants none. A case in error has 0.
 */
export function scoreOf({ outcome, metrics }: Scored, name: MetricName): number | null {
  if (outcome === "skipped") return null;
  if (name === "passed") return outcome === "passed" ? 1 : 0;
  const score = metrics[name];
  return outcome === "error" && score !== null ? 0 : score;
}

/** A value for each metric, in the order of reports. */
export function forEachMetric<Value>(of: (name: MetricName) => Value): Record<MetricName, Value> {
  return {
    passed: of("passed"),
    hit: of("hit"),
    recall: of("recall"),
    mrr: of("mrr"),
    ndcg: of("ndcg"),
  };
}

function estimate(cases: readonly Scored[], name: MetricName): Estimate {
  const scores = cases.map((each) => scoreOf(each, name)).filter((score) => score !== null);
  const n = scores.length;
  if (n === 0) return { value: null, low: null, high: null, n };
  // Repeated cases may hit in a part of their runs: their sum is no count, see wilson().
  const isRate = name === "passed" || name === "hit";
  const sum = scores.reduce((total, score) => total + score, 0);
  return { ...(isRate ? wilson(sum, n) : meanScore(scores)), n };
}

function measure(cases: readonly Scored[]): Measured {
  const counts = { cases: cases.length, passed: 0, failed: 0, error: 0, flaky: 0, skipped: 0 };
  for (const { outcome } of cases) counts[outcome]++;
  return { ...counts, metrics: forEachMetric((name) => estimate(cases, name)) };
}

/** Counts and metrics of all cases, and of each group in the order of the suite, if there are groups. */
export function summarise(cases: readonly Scored[]): EvalSummary {
  const names = [...new Set(cases.map(({ group }) => group))];
  const groups = names.map((group) => ({
    group,
    ...measure(cases.filter((each) => each.group === group)),
  }));
  return { ...measure(cases), groups: names.some((name) => name !== null) ? groups : [] };
}
