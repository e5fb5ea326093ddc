import { countOf, formatCount, formatDuration } from "../progress.ts";
import { throughputChart } from "./chart.ts";
import { groupFailures } from "./groups.ts";
import { failuresSection, ownId } from "./html-failures.ts";
import { style } from "./html-style.ts";
import type { ReportCounts, ReportFailure, ReportHead, RunReport } from "./record.ts";
import { escapeHtml, formatBytes, formatRate, missingText, statusText } from "./text.ts";

const listed = 100;

const tones: Readonly<Record<RunReport["status"], string>> = {
  ok: "ok",
  partial: "warn",
  error: "bad",
  interrupted: "warn",
};

const names = ["created", "updated", "unchanged", "skipped", "failed"] as const;

function tile(name: keyof ReportCounts, count: number): string {
  const zero = count === 0 ? ' class="zero"' : "";
  return `<li${zero}><b>${formatCount(count)}</b><span><i class="dot ${name}"></i>${name}</span></li>`;
}

function tiles({ counts }: ReportHead): string {
  return `<ul class="tiles">${[...names, "renamed" as const].map((name) => tile(name, counts[name])).join("")}</ul>`;
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

function dateText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

function heading(head: ReportHead): string {
  const { counts, target, seconds } = head;
  const title = `${countOf(counts.created + counts.updated, "document")} sent`;
  const pair = target.ccPairId === null ? "" : `, cc-pair ${target.ccPairId}`;
  const shard = head.shard ? ` · shard ${head.shard.index} of ${head.shard.count}` : "";
  const runs = head.merged ? ` · ${countOf(head.merged.runs.length, "run")} merged` : "";
  return `<header><span class="pill ${tones[head.status]}">${statusText(head)}</span>
<h1>${title} in ${formatDuration(seconds * 1000)}</h1>
<p class="soft"><code>${escapeHtml(target.baseUrl)}</code>${pair} · <time datetime="${escapeHtml(head.startedAt)}">${escapeHtml(dateText(head.startedAt))}</time>${shard}${runs}</p></header>`;
}

function notices(head: ReportHead): string {
  const missing = missingText(head.merged?.missing ?? [], head.merged?.shards ?? null);
  const error = head.error ?? (head.status === "interrupted" ? "The run was interrupted." : "");
  return [missing === "" ? "" : `Not the whole: ${missing}.`, error]
    .filter((text) => text !== "")
    .map((text) => `<p class="notice ${tones[head.status]}">${escapeHtml(text)}</p>`)
    .join("\n");
}

function chartSection(head: ReportHead): string {
  const chart = throughputChart(head.throughput, head.seconds);
  if (chart === "") return "";
  const failed = head.counts.failed > 0 ? '<span><i class="dot failed"></i>failed</span>' : "";
  return `<section><h2>Documents per second</h2>${chart}
<p class="key"><span><i class="dot accent"></i>accepted</span>${failed}</p></section>`;
}

function numbers(head: ReportHead): string {
  const { counts, seconds } = head;
  const rate = seconds > 0 ? (counts.created + counts.updated) / seconds : 0;
  const rows: [name: string, value: string][] = [
    ["Begin", dateText(head.startedAt)],
    ["End", dateText(head.finishedAt)],
    ["Planned", countOf(head.planned, "document")],
    ["Sent", formatBytes(head.sentBytes)],
    ["Mean rate", `${formatRate(rate)} documents per second`],
    [
      "Requests",
      `${formatCount(head.requests)}, of these ${countOf(head.retries, "retry", "retries")}; ${formatCount(head.throttled)} throttled`,
    ],
    ["Paths", head.paths.length === 0 ? "as configured" : head.paths.slice(0, 20).join("  ")],
    ...(head.commit === undefined ? [] : [["Commit", head.commit] as [string, string]]),
  ];
  const lines = rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`);
  return `<section><h2>The run</h2><dl>${lines.join("")}</dl></section>`;
}

function runsSection({ merged }: ReportHead): string {
  if (!merged) return "";
  const rows = merged.runs.map((run) => {
    const name = run.shard ? `${run.shard.index} of ${run.shard.count}` : dateText(run.startedAt);
    const cells = names.map((each) => `<td class="n">${formatCount(run.counts[each])}</td>`);
    return `<tr><th scope="row">${escapeHtml(name)}</th><td><span class="pill ${tones[run.status]}">${run.status}</span></td>${cells.join("")}<td class="n">${formatDuration(run.seconds * 1000)}</td></tr>`;
  });
  const header = names.map((name) => `<th class="n" scope="col">${name}</th>`).join("");
  return `<section><h2>${merged.shards === null ? "Runs" : "Shards"}</h2><div class="scroll"><table><thead><tr><th scope="col">${merged.shards === null ? "begin" : "shard"}</th><th scope="col">status</th>${header}<th class="n" scope="col">time</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></div></section>`;
}

function slowestSection({ slowest }: ReportHead): string {
  const longest = slowest[0]?.ms ?? 0;
  if (slowest.length === 0) return "";
  const rows = slowest.map(({ path, id, ms }) => {
    const share = longest > 0 ? ((ms / longest) * 100).toFixed(1) : "0";
    const own = ownId(path, id);
    const second = own === undefined ? "" : `<br><code class="soft">${escapeHtml(own)}</code>`;
    return `<tr><td><span class="path">${escapeHtml(path)}</span>${second}</td><td class="meter"><i style="width:${share}%"></i></td><td class="n">${formatDuration(ms)}</td></tr>`;
  });
  return `<section><h2>Slowest documents</h2><table><thead><tr><th scope="col">document</th><th class="meter" scope="col"><span hidden>share</span></th><th class="n" scope="col">time</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></section>`;
}

function skippedSection({ skipped }: ReportHead): string {
  if (skipped.length === 0) return "";
  const rows = skipped
    .slice(0, listed)
    .map(
      ({ reason, count }) =>
        `<tr><td class="n">${formatCount(count)}</td><td>${escapeHtml(reason)}</td></tr>`,
    );
  const hidden = skipped.length - rows.length;
  if (hidden > 0) rows.push(`<tr><td></td><td>and ${countOf(hidden, "more reason")}</td></tr>`);
  return `<section><h2>Skipped files</h2><table class="narrow"><thead><tr><th class="n" scope="col">files</th><th scope="col">reason</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></section>`;
}

function renamedSection({ renamed, counts }: ReportHead): string {
  if (renamed.length === 0) return "";
  const lines = renamed
    .slice(0, listed)
    .map(
      ({ from, to }) =>
        `<li><span class="path">${escapeHtml(from)} → ${escapeHtml(to)}</span></li>`,
    );
  const hidden = counts.renamed - lines.length;
  if (hidden > 0) lines.push(`<li class="soft">and ${formatCount(hidden)} more</li>`);
  return `<section><details><summary>${countOf(counts.renamed, "renamed file")}</summary><ul>${lines.join("\n")}</ul></details></section>`;
}

/**
 * The run as one HTML page in pieces: no script, nothing loaded from anywhere,
 * every text escaped. Lists the first 1,000 failures; the JSON report has all.
 */
export function* htmlReport(
  head: ReportHead,
  failures: Iterable<ReportFailure>,
): Generator<string> {
  const grouped = groupFailures(failures);
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${statusText(head)}: ${formatCount(head.counts.created + head.counts.updated)} sent, ${formatCount(head.counts.failed)} failed</title>
<style>${style}</style></head><body><main>
`;
  yield [heading(head), notices(head), tiles(head), proportions(head)].join("\n");
  yield failuresSection(grouped);
  yield chartSection(head);
  yield runsSection(head);
  yield numbers(head);
  yield slowestSection(head);
  yield skippedSection(head);
  yield renamedSection(head);
  yield `<footer>Written by ${escapeHtml(`${head.tool.name} ${head.tool.version}`)}. \`knowctl ingest retry\` with the JSON report sends again only what failed.</footer>
</main></body></html>
`;
}
