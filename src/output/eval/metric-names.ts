import type { MetricName } from "../../checks/eval/summary.ts";

/** Every metric, in the order of reports. */
export const metricNames = [
  "passed",
  "hit",
  "recall",
  "mrr",
  "ndcg",
] as const satisfies readonly MetricName[];
