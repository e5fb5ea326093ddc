import { countOf, formatCount } from "../../terminal/progress.ts";
import { throughputChart } from "./chart.ts";
import { groupFailures } from "../ci/groups.ts";
import { failuresSection } from "./html-failures.ts";
import {
  lostSection,
  renamedSection,
  sentSection,
  skippedSection,
  slowestSection,
} from "./html-lists.ts";
import { pageEnd, pageStart } from "./page.ts";
import type { ReportCounts, ReportFailure, ReportHead, RunStatus } from "../record.ts";
import {
  dateText,
  escapeHtml,
  formatBytes,
  formatRate,
  formatTime,
  missingText,
  statusText,
  countWord,
} from "../text.ts";

const tones: Readonly<Record<RunStatus, string>> = {
  ok: "ok",
  partial: "warn",
  error: "bad",
  interrupted: "warn",
};

/** Columns hidden on a narrow page. */
const wideOnly = new Set(["unchanged", "skipped"]);
const cellClass = (name: string): string => (wideOnly.has(name) ? "n wide" : "n");

const names = ["created", "updated", "unchanged", "skipped", "failed"] as const;

function tile(head: ReportHead, name: keyof ReportCounts): string {
  const count = head.counts[name] ?? 0;
  const zero = count === 0 ? ' class="zero"' : "";
  return `<li${zero}><b>${formatCount(count)}</b><span><i class="dot ${name}"></i>${countWord(head, name)}</span></li>`;
}

function tiles(head: ReportHead): string {
  return `<ul class="tiles">${[...names, "renamed" as const].map((name) => tile(head, name)).join("")}</ul>`;
}

function proportions({ counts }: ReportHead): string {
  const total = names.reduce((sum, name) => sum + counts[name], 0);
  if (total === 0) return "";
  const parts = names.filter((name) => counts[name] > 0);
  const label = parts
    .map((name) => `${((counts[name] / total) * 100).toFixed(1)} % ${name}`)
    .join(", ");
  const pieces = parts.map(
    (name) =>
      `<i class="${name}" style="flex:${counts[name]} 0 0" title="${formatCount(counts[name])} ${name}"></i>`,
  );
  return `<div class="bar" role="img" aria-label="${label}">${pieces.join("")}</div>`;
}

function isUnfinished({ status, planned }: ReportHead): boolean {
  return planned > 0 && (status === "error" || status === "interrupted");
}

function mergedText({ merged }: ReportHead): string {
  if (!merged) return "";
  const count = merged.runs.length;
  if (merged.shards === null) return ` · ${countOf(count, "run")} merged`;
  return ` · ${formatCount(count)} of ${countOf(merged.shards, "shard")} merged`;
}

function heading(head: ReportHead): string {
  const { counts, target, seconds } = head;
  const sent = counts.created + counts.updated;
  const part = isUnfinished(head) ? `${formatCount(sent)} of ` : "";
  const title = `${part}${countOf(part === "" ? sent : head.planned, "document")} ${head.dryRun ? "to send" : "sent"}`;
  const pair = target.ccPairId === null ? "" : `, pair ${target.ccPairId}`;
  const profile = target.profile === "" ? "" : `, profile ${escapeHtml(target.profile)}`;
  const shard = head.shard ? ` · shard ${head.shard.index} of ${head.shard.count}` : "";
  return `<header><span class="pill ${tones[head.status]}">${statusText(head)}</span>
<h1>${title} in ${formatTime(seconds * 1000)}</h1>
<p class="soft"><code>${escapeHtml(target.baseUrl)}</code>${pair}${profile} · <time datetime="${escapeHtml(head.startedAt)}">${escapeHtml(dateText(head.startedAt))}</time>${shard}${mergedText(head)}</p></header>`;
}

function notices(head: ReportHead): string {
  const missing = missingText(head.merged?.missing ?? [], head.merged?.shards ?? null);
  const error = head.error ?? (head.status === "interrupted" ? "The run was interrupted." : "");
  const advice =
    isUnfinished(head) && !head.merged
      ? "Run the same command again: it sends only the remaining documents."
      : "";
  const whole = [error, advice].filter((text) => text !== "").join("\n");
  return [missing === "" ? "" : `Incomplete: ${missing}.`, whole]
    .filter((text) => text !== "")
    .map((text) => `<p class="notice ${tones[head.status]}">${escapeHtml(text)}</p>`)
    .join("\n");
}

function chartSection(head: ReportHead): string {
  const chart = throughputChart(head.throughput);
  if (chart === "") return "";
  const failed = head.counts.failed > 0 ? '<span><i class="dot failed"></i>failed</span>' : "";
  return `<section><h2>Documents per second</h2>${chart}
<p class="key"><span><i class="dot accent"></i>accepted</span>${failed}</p></section>`;
}

function numbers(head: ReportHead): string {
  const { counts, seconds } = head;
  const rate = seconds > 0 ? (counts.created + counts.updated) / seconds : 0;
  const rows: [name: string, value: string][] = [
    ["Start", dateText(head.startedAt)],
    ["End", dateText(head.finishedAt)],
    ["Planned", countOf(head.planned, "document")],
    ["Sent", formatBytes(head.sentBytes)],
    ["Mean rate", `${formatRate(rate)} documents per second`],
    [
      "Requests",
      `${formatCount(head.requests)}, of these ${countOf(head.retries, "retry", "retries")}; ${formatCount(head.throttled)} throttled`,
    ],
    ["Paths", head.paths.length === 0 ? "as configured" : head.paths.slice(0, 20).join(", ")],
    ...(head.commit === undefined ? [] : [["Commit", head.commit] as [string, string]]),
  ];
  const lines = rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`);
  return `<section><h2>The run</h2><dl>${lines.join("")}</dl></section>`;
}

function runsSection({ merged }: ReportHead): string {
  if (!merged) return "";
  const rows = merged.runs.map((run) => {
    const name = run.shard ? `${run.shard.index} of ${run.shard.count}` : dateText(run.startedAt);
    const cells = names.map(
      (each) => `<td class="${cellClass(each)}">${formatCount(run.counts[each])}</td>`,
    );
    return `<tr><th class="row" scope="row">${escapeHtml(name)}</th><td><span class="pill ${tones[run.status]}">${run.status}</span></td>${cells.join("")}<td class="n">${formatTime(run.seconds * 1000)}</td></tr>`;
  });
  const header = names
    .map((name) => `<th class="${cellClass(name)}" scope="col">${name}</th>`)
    .join("");
  return `<section><h2>${merged.shards === null ? "Runs" : "Shards"}</h2><div class="scroll"><table><thead><tr><th scope="col">${merged.shards === null ? "start" : "shard"}</th><th scope="col">status</th>${header}<th class="n" scope="col">time</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></div></section>`;
}

/**
 * The run as one HTML page in pieces: no script, no external resources, every text
 * escaped. Lists the first 1,000 failures; the JSON report contains all.
 */
export function* htmlReport(
  head: ReportHead,
  failures: Iterable<ReportFailure>,
): Generator<string> {
  const grouped = groupFailures(failures);
  yield pageStart({
    title: `${statusText(head)}: ${formatCount(head.counts.created + head.counts.updated)} ${head.dryRun ? "to send" : "sent"}, ${formatCount(head.counts.failed)} failed`,
    command: "ingest",
  });
  yield [heading(head), notices(head), tiles(head), proportions(head)].join("\n");
  yield failuresSection(grouped);
  yield lostSection(head);
  yield chartSection(head);
  yield runsSection(head);
  yield numbers(head);
  yield sentSection(head);
  yield slowestSection(head);
  yield skippedSection(head);
  yield renamedSection(head);
  const retry =
    grouped.count === 0
      ? ""
      : " <code>knowctl retry</code> with the JSON report resends only the failed documents.";
  yield pageEnd(retry, head.tool);
}
