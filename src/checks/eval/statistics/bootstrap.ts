import type { Interval } from "./interval.ts";
import { wilson } from "./wilson.ts";

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

/**
 * Mean of scores from 0 to 1 with its 95 % interval: by bootstrap; if all scores are equal, by
 * Wilson, because ten perfect cases do not prove that the next one is perfect.
 */
export function meanScore(scores: readonly number[]): Interval {
  const n = scores.length;
  const isConstant = scores.every((score) => score === scores[0]);
  return isConstant ? wilson((scores[0] ?? 0) * n, n) : bootstrapMean(scores);
}
