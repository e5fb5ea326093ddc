import type { EvalReport } from "../../checks/eval/report.ts";
import type { Column } from "../formats/select.ts";
import { formatCount } from "../terminal/progress.ts";
import { layOutTable } from "../terminal/table.ts";
import { metricNames } from "./metric-names.ts";
import { differenceText, intervalText, metricLabel, metricText } from "./words.ts";

/** Numbers are never cut, not even on a terminal. */
const plain = { isTerminal: false, columns: (): number => 80 };

/** The metrics with their intervals, a line each below a header; with a baseline also the change. */
export function metricRows(report: EvalReport): string[] {
  const { basis, summary, comparison } = report;
  const rows = metricNames.filter((name) => summary.metrics[name].n > 0);
  const right = { align: "right" } as const;
  const columns: Column<(typeof metricNames)[number]>[] = [
    { name: "metric", value: (name) => metricLabel(name, basis) },
    { name: "value", value: (name) => metricText(name, summary.metrics[name].value), ...right },
    {
      name: "95 % interval",
      value: (name) => intervalText(name, summary.metrics[name]),
      ...right,
    },
    { name: "cases", value: (name) => formatCount(summary.metrics[name].n), ...right },
  ];
  if (comparison) {
    columns.push({
      name: "change (95 %)",
      value: (name) => {
        const change = comparison.metrics[name];
        return change === null ? null : differenceText(name, change);
      },
    });
  }
  const { header, lines } = layOutTable(plain, columns, rows);
  return rows.length === 0 ? [] : [header, ...lines];
}

/** Counts and metrics of each group, a line each below a header. Empty without groups. */
export function groupRows({ summary, basis }: EvalReport): string[] {
  const right = { align: "right" } as const;
  type Group = (typeof summary.groups)[number];
  const columns: Column<Group>[] = [
    { name: "group", value: ({ group }) => group ?? "(none)" },
    { name: "cases", value: ({ cases }) => formatCount(cases), ...right },
    ...metricNames.map((name): Column<Group> => ({
      name: metricLabel(name, basis),
      value: ({ metrics }) => metricText(name, metrics[name].value),
      ...right,
    })),
  ];
  const { header, lines } = layOutTable(plain, columns, summary.groups);
  return summary.groups.length === 0 ? [] : [header, ...lines];
}
