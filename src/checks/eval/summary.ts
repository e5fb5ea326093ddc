import type {
  CaseMetrics,
  Estimate,
  EvalSummary,
  Measured,
  MetricName,
  Outcome,
} from "./result.ts";
import { meanScore, wilson } from "./statistics.ts";

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
