import type { EvalReport, ReportedCase } from "../../checks/eval/report.ts";
import { cell, table } from "../report/markdown-table.ts";
import { sandboxCaveat } from "../sandbox-caveat.ts";
import { formatCount } from "../terminal/progress.ts";
import { problemText } from "./annotations.ts";
import { metricNames } from "./metric-names.ts";
import { problemsOf } from "./problems.ts";
import {
  basisParts,
  countsText,
  differenceText,
  foundText,
  intervalText,
  betterText,
  leftOutText,
  metricLabel,
  metricText,
  namedText,
  verdictText,
} from "./words.ts";

/** GitHub refuses a summary above 1 MiB a step; others of the job write into it too. */
const maxLength = 200_000;

function metricsTable({ summary, basis, comparison }: EvalReport): string {
  const header = ["metric", "value", "95 % interval", "cases", ...(comparison ? ["change"] : [])];
  const rows = metricNames
    .filter((name) => summary.metrics[name].n > 0)
    .map((name) => {
      const estimate = summary.metrics[name];
      const change = comparison?.metrics[name];
      const cells = [
        metricLabel(name, basis),
        metricText(name, estimate.value),
        intervalText(name, estimate),
        formatCount(estimate.n),
        ...(comparison ? [change ? differenceText(name, change) : "—"] : []),
      ];
      return cells.map(cell);
    });
  return rows.length === 0 ? "" : `${table(header, rows)}\n`;
}

function groupsTable({ summary, basis }: EvalReport): string {
  if (summary.groups.length === 0) return "";
  const rows = summary.groups
    .slice(0, 100)
    .map(({ group, cases, metrics }) => [
      cell(group ?? "(none)"),
      formatCount(cases),
      ...metricNames.map((name) => cell(metricText(name, metrics[name].value))),
    ]);
  const names = metricNames.map((name) => metricLabel(name, basis));
  const header = ["group", "cases", ...names];
  return `<details><summary>Groups</summary>\n\n${table(header, rows)}\n</details>\n\n`;
}

function caseRow(of: ReportedCase): string[] {
  const retrieved = of.retrieved
    .slice(0, of.k ?? 5)
    .map(
      (each, index) =>
        `${index + 1}. ${cell(foundText(each))}${each.role === null ? "" : each.role === "expected" ? " ✓" : " ✗"}`,
    );
  return [
    cell(of.id),
    cell(of.question),
    of.expected.map((each) => cell(namedText(each))).join("<br>"),
    retrieved.join("<br>"),
    cell(problemText(of)),
  ];
}

const caseHeader = ["case", "question", "expected", "retrieved", "problem"];

/**
 * The run as Markdown for GitHub's job summary: verdict, metrics, and the cases that did not pass,
 * those that got worse first, as many as fit. The report must be redacted.
 */
export function evalMarkdown(report: EvalReport): string {
  const { summary, comparison, stopped, command, sandbox } = report;
  const notes = [
    ...(sandbox ? [sandboxCaveat] : []),
    ...(comparison
      ? [verdictText(comparison), betterText(comparison), leftOutText(comparison)]
      : []),
    ...(stopped === null ? [] : [`stopped early: ${stopped}`]),
  ].filter((text) => text !== "");
  let text = [
    `## knowctl ${command}: ${cell(countsText(summary))}\n\n`,
    ...notes.map((note) => `> ${cell(note)}\n\n`),
    `${basisParts(report).map(cell).join(" · ")}\n\n`,
    metricsTable(report),
    groupsTable(report),
  ].join("");
  let hidden = 0;
  for (const { title, cases } of problemsOf(report)) {
    const rows: string[][] = [];
    let length = text.length;
    for (const each of cases) {
      const row = caseRow(each);
      length += row.join(" | ").length + 5;
      if (length > maxLength) break;
      rows.push(row);
    }
    hidden += cases.length - rows.length;
    const heading = `### ${cell(title)}: ${formatCount(cases.length)}\n\n`;
    text += heading + (rows.length === 0 ? "" : `${table(caseHeader, rows)}\n`);
  }
  if (hidden > 0) text += `and ${formatCount(hidden)} more in the report\n\n`;
  return text;
}
