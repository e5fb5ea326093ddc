import type { EvalReport } from "../../../checks/eval/report.ts";
import type { Estimate, EvalSummary } from "../../../checks/eval/summary.ts";
import { escapeHtml } from "../../report/text.ts";
import { formatCount } from "../../terminal/progress.ts";
import { metricNames } from "../metric-names.ts";
import { differenceText, intervalText, metricLabel, metricText } from "../words.ts";

/** A bar from 0 to 1 with the interval, the value and the value before. Contains only numbers. */
function rangeDrawing({ value, low, high }: Estimate, before: number | undefined): string {
  if (value === null || low === null || high === null) return "";
  const x = (share: number): string => (share * 100).toFixed(2);
  const tick = (kind: string, share: number, margin: number): string =>
    `<line class="${kind}" x1="${x(share)}" x2="${x(share)}" y1="${margin}" y2="${18 - margin}"/>`;
  const label = `${x(value)} of 100; interval ${x(low)} to ${x(high)}`;
  return `<svg class="range" role="img" aria-label="${label}" viewBox="0 0 100 18" preserveAspectRatio="none"><line class="track" x1="0" x2="100" y1="9" y2="9"/><line class="spread" x1="${x(low)}" x2="${x(high)}" y1="9" y2="9"/>${before === undefined ? "" : tick("before", before, 0)}${tick("point", value, 3)}</svg>`;
}

/** The metrics with their intervals, drawn and as numbers. */
export function metricsSection({ summary, basis, comparison }: EvalReport): string {
  const names = metricNames.filter((name) => summary.metrics[name].n > 0);
  if (names.length === 0) return "";
  const rows = names.map((name) => {
    const estimate = summary.metrics[name];
    const change = comparison?.metrics[name] ?? undefined;
    const cells = [
      `<th class="row" scope="row">${metricLabel(name, basis)}</th>`,
      `<td class="n">${escapeHtml(metricText(name, estimate.value))}</td>`,
      `<td class="wide-range">${rangeDrawing(estimate, change?.before)}</td>`,
      `<td class="n">${escapeHtml(intervalText(name, estimate))}</td>`,
      `<td class="n">${formatCount(estimate.n)}</td>`,
      comparison ? `<td class="n">${change ? differenceText(name, change) : "—"}</td>` : "",
    ];
    return `<tr>${cells.join("")}</tr>`;
  });
  const change = comparison ? '<th class="n" scope="col">change (95 %)</th>' : "";
  const key = comparison
    ? '<p class="key">Dashed line: the baseline, on the cases of both runs.</p>'
    : "";
  return `<section><h2>Metrics</h2><div class="scroll"><table><thead><tr><th scope="col">metric</th><th class="n" scope="col">value</th><th class="wide-range" scope="col">0 to 1</th><th class="n" scope="col">95 % interval</th><th class="n" scope="col">cases</th>${change}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>${key}</section>`;
}

const maxGroups = 200;

/** Counts and metrics of each group. Empty without groups. */
export function groupsSection({ summary, basis }: EvalReport): string {
  const { groups } = summary;
  if (groups.length === 0) return "";
  const names = metricNames.filter((name) => summary.metrics[name].n > 0);
  const row = ({ group, cases, metrics }: EvalSummary["groups"][number]): string => {
    const cells = names.map(
      (name) => `<td class="n">${escapeHtml(metricText(name, metrics[name].value))}</td>`,
    );
    const rate = rangeDrawing(metrics.passed, undefined);
    return `<tr><th scope="row">${escapeHtml(group ?? "(none)")}</th><td class="n">${formatCount(cases)}</td><td class="wide-range">${rate}</td>${cells.join("")}</tr>`;
  };
  const header = names.map((name) => `<th class="n" scope="col">${metricLabel(name, basis)}</th>`);
  const rows = groups.slice(0, maxGroups).map(row);
  const hidden = groups.length - rows.length;
  const more = hidden > 0 ? `<p class="soft">and ${formatCount(hidden)} more groups</p>` : "";
  return `<section><h2>Groups</h2><div class="scroll"><table><thead><tr><th scope="col">group</th><th class="n" scope="col">cases</th><th class="wide-range" scope="col">passed, 0 to 1</th>${header.join("")}</tr></thead><tbody>${rows.join("\n")}</tbody></table></div>${more}</section>`;
}
