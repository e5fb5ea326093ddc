import type { Interval } from "./interval.ts";

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
