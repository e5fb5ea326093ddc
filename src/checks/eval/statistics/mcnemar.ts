import { z } from "./wilson.ts";

/** Below, a difference is called one. */
export const significance = 0.05;

/** Fewer differing cases cannot be significant: 2 / 2 ** 5 is 0.0625. */
const fewestDiffering = 6;

function logFactorials(count: number): number[] {
  const logs = [0];
  for (let n = 1; n <= count; n++) logs.push((logs[n - 1] ?? 0) + Math.log(n));
  return logs;
}

/**
 * Two-sided p of McNemar's exact test: `better` and `worse` are the cases whose result changed, in
 * either direction. Without a difference each direction has a probability of one half, so p is
 * twice the binomial tail, at most 1.
 */
export function mcnemar(better: number, worse: number): number {
  const n = better + worse;
  const least = Math.min(better, worse);
  const logs = logFactorials(n);
  const of = (index: number): number => logs[index] ?? 0;
  let tail = 0;
  // By logarithms: 2 ** -n is 0 from n = 1075 on.
  for (let k = 0; k <= least; k++) tail += Math.exp(of(n) - of(k) - of(n - k) - n * Math.LN2);
  // Without the last digits, which are rounding errors.
  return Number(Math.min(1, 2 * tail).toPrecision(12));
}

/**
 * About how many cases would make the difference significant, if cases went on to differ at the
 * observed rate and in the observed directions; null if no number would, because as many got
 * better as got worse.
 *
 * With the share s of the larger direction, m differing cases are needed: (m·s − m/2) ÷ (√m / 2) = z,
 * so m = (z ÷ (2s − 1))², and never fewer than 6. At a rate of d differing cases of n these are
 * m·n ÷ d cases.
 */
export function casesNeeded(better: number, worse: number, compared: number): number | null {
  const differing = better + worse;
  if (better === worse) return null;
  const share = Math.max(better, worse) / differing;
  const needed = Math.max(fewestDiffering, Math.ceil((z / (2 * share - 1)) ** 2));
  return Math.ceil((needed * compared) / differing);
}
