import type { Outcome } from "./result.ts";
import type { MetricName } from "./summary.ts";

export type Verdict = "better" | "worse" | "same" | "cannot-tell";

/** A case of both runs. */
export interface ComparedCase {
  id: string;
  before: Outcome;
  now: Outcome;
}

/** A metric now minus before, paired over the cases, with the 95 % interval of the difference. */
export interface Difference {
  before: number;
  now: number;
  value: number;
  low: number;
  high: number;
  n: number;
}

/** A run compared with an earlier one of the same cases. Each compared case is in one list only. */
export interface Comparison {
  /** Name of the baseline's file. */
  baseline: string;
  /** Number of cases of both runs. */
  compared: number;
  better: readonly ComparedCase[];
  worse: readonly ComparedCase[];
  /** Flaky in at least one run, and not better or worse beyond that. */
  flaky: readonly ComparedCase[];
  /** Ended in an error in at least one run. */
  undecided: readonly ComparedCase[];
  unchanged: number;
  /** McNemar's exact test on `better` and `worse`; null if nothing was compared. */
  p: number | null;
  verdict: Verdict;
  /** With `cannot-tell`: about how many cases would be needed; null if the number is unknown. */
  needed: number | null;
  /** Null for a metric that no case has. */
  metrics: Record<MetricName, Difference | null>;
  /** Ids of cases that only this run has. */
  added: readonly string[];
  /** Ids of cases that only the baseline has. */
  removed: readonly string[];
  /** Ids of cases that are written differently now: not compared. */
  changed: readonly string[];
}
