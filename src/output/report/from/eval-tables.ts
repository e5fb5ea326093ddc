import type { EvalReport } from "../../../checks/eval/report.ts";
import type { Estimate, MetricName } from "../../../checks/eval/summary.ts";
import { formatCount } from "../../terminal/progress.ts";
import type { Table } from "../report.ts";
import {
  differenceText,
  intervalText,
  isMissing,
  metricLabel,
  metricText,
  namedText,
} from "./eval-words.ts";

/** Every metric, in the order of reports. */
export const metricNames = [
  "passed",
  "hit",
  "recall",
  "mrr",
  "ndcg",
] as const satisfies readonly MetricName[];

/** The metrics with their intervals; with a baseline also the change. */
export function metricsTable({ summary, basis, comparison }: EvalReport): Table {
  const names = metricNames.filter((name) => summary.metrics[name].n > 0);
  return {
    title: "Metrics",
    columns: [
      { name: "metric" },
      { name: "value", kind: "number" },
      { name: "0 to 1", kind: "drawing" },
      { name: "95 % interval", kind: "number" },
      { name: "cases", kind: "number" },
      ...(comparison ? [{ name: "change (95 %)" }] : []),
    ],
    rows: names.map((name) => {
      const estimate = summary.metrics[name];
      const change = comparison?.metrics[name] ?? undefined;
      return [
        metricLabel(name, basis),
        metricText(name, estimate.value),
        rangeOf(estimate, change?.before),
        intervalText(name, estimate),
        formatCount(estimate.n),
        ...(comparison ? [change ? differenceText(name, change) : null] : []),
      ];
    }),
    key: comparison ? "Dashed line: the baseline, on the cases of both runs." : undefined,
    people: "always",
  };
}

function rangeOf({ value, low, high }: Estimate, before?: number) {
  if (value === null || low === null || high === null) return null;
  return { range: { value, low, high, before } };
}

/** Counts and metrics of each group. */
export function groupsTable({ summary, basis }: EvalReport): Table {
  return {
    title: "Groups",
    columns: [
      { name: "group" },
      { name: "cases", kind: "number" },
      { name: "passed, 0 to 1", kind: "drawing" },
      ...metricNames.map((name) => ({ name: metricLabel(name, basis), kind: "number" as const })),
    ],
    rows: summary.groups.map(({ group, cases, metrics }) => [
      group ?? "(none)",
      formatCount(cases),
      rangeOf(metrics.passed),
      ...metricNames.map((name) => metricText(name, metrics[name].value)),
    ]),
    isFolded: true,
    people: "verbose",
  };
}

/** The documents that should have been retrieved and were not, with the number of cases. */
export function missingTable({ cases }: EvalReport): Table {
  const counts = new Map<string, number>();
  for (const of of cases) {
    if (of.outcome !== "failed" && of.outcome !== "flaky") continue;
    for (const each of of.expected) {
      if (isMissing(each, of)) counts.set(namedText(each), (counts.get(namedText(each)) ?? 0) + 1);
    }
  }
  const sorted = [...counts].toSorted((a, b) => b[1] - a[1]);
  return {
    title: "Documents that should have been retrieved",
    columns: [
      { name: "cases", kind: "number" },
      { name: "document", kind: "path" },
    ],
    rows: sorted.map(([document, count]) => [formatCount(count), document]),
  };
}
