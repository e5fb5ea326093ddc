import type { CaseMetrics, Outcome } from "./result.ts";
import { meanScore } from "./statistics/bootstrap.ts";
import { wilson } from "./statistics/wilson.ts";

/** A mean with its 95 % interval; null where no case counts. */
export interface Estimate {
  value: number | null;
  low: number | null;
  high: number | null;
  /** Number of cases. */
  n: number;
}

export type MetricName = "passed" | keyof CaseMetrics;

/** `passed` is the share of the cases that passed; the others are means of CaseMetrics. */
export type EvalMetrics = Record<MetricName, Estimate>;

/** Number of cases by outcome, and of all. */
export type EvalCounts = Record<Outcome | "cases", number>;

export interface EvalGroup extends EvalCounts {
  /** Null for the cases without a group. */
  group: string | null;
  metrics: EvalMetrics;
}

export interface EvalSummary extends EvalCounts {
  metrics: EvalMetrics;
  /** In the order of the suite; empty if no case has a group. */
  groups: readonly EvalGroup[];
}

/** What a summary needs of a case. */
export interface Scored {
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

function estimate(cases: readonly Scored[], name: MetricName): Estimate {
  const scores = cases.map((each) => scoreOf(each, name)).filter((score) => score !== null);
  const n = scores.length;
  if (n === 0) return { value: null, low: null, high: null, n };
  // Repeated cases may hit in a part of their runs: their sum is no count, see wilson().
  const isRate = name === "passed" || name === "hit";
  const sum = scores.reduce((total, score) => total + score, 0);
  return { ...(isRate ? wilson(sum, n) : meanScore(scores)), n };
}

function measure(cases: readonly Scored[]): EvalCounts & { metrics: EvalMetrics } {
  const count = (outcome: Outcome): number =>
    cases.filter((each) => each.outcome === outcome).length;
  return {
    cases: cases.length,
    passed: count("passed"),
    failed: count("failed"),
    error: count("error"),
    flaky: count("flaky"),
    skipped: count("skipped"),
    metrics: {
      passed: estimate(cases, "passed"),
      hit: estimate(cases, "hit"),
      recall: estimate(cases, "recall"),
      mrr: estimate(cases, "mrr"),
      ndcg: estimate(cases, "ndcg"),
    },
  };
}

/** Counts and metrics of all cases and of each group. */
export function summarise(cases: readonly Scored[]): EvalSummary {
  const byGroup = new Map<string | null, Scored[]>();
  for (const each of cases) {
    const group = byGroup.get(each.group);
    if (group) group.push(each);
    else byGroup.set(each.group, [each]);
  }
  const hasGroups = [...byGroup.keys()].some((group) => group !== null);
  const groups = hasGroups
    ? [...byGroup].map(([group, those]) => ({ group, ...measure(those) }))
    : [];
  return { ...measure(cases), groups };
}
