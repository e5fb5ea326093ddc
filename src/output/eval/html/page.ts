import type { EvalReport } from "../../../checks/eval/report.ts";
import { pageEnd, pageStart } from "../../report/html/page.ts";
import { dateText, escapeHtml, formatTime } from "../../report/text.ts";
import { sandboxCaveat } from "../../sandbox-caveat.ts";
import { formatCount } from "../../terminal/progress.ts";
import { problemsOf, type Problems } from "../problems.ts";
import {
  basisParts,
  countsText,
  isMissing,
  betterText,
  leftOutText,
  namedText,
  verdictText,
} from "../words.ts";
import { casesSection } from "./cases.ts";
import { groupsSection, metricsSection } from "./metrics.ts";
import { evalStyle } from "./style.ts";

const verdictTones = { better: "ok", worse: "bad", same: "ok", "cannot-tell": "warn" } as const;

function heading(report: EvalReport): string {
  const { summary, startedAt, elapsedMs, command, basis } = report;
  const isGood = summary.failed + summary.flaky + summary.error === 0;
  const judged =
    basis.judge === null
      ? ""
      : ` <span class="pill warn">judged by ${escapeHtml(basis.judge)}</span>`;
  return `<header><span class="pill ${isGood ? "ok" : "bad"}">${command}</span>${judged}
<h1>${countsText(summary)}</h1>
<p class="soft">${escapeHtml(basisParts(report).join(" · "))} · <time datetime="${escapeHtml(startedAt)}">${escapeHtml(dateText(startedAt))}</time> · ${formatTime(elapsedMs)}</p></header>`;
}

function notices({ comparison, stopped, sandbox }: EvalReport): string {
  const parts: [tone: string, text: string][] = [];
  if (sandbox) parts.push(["warn", sandboxCaveat]);
  if (comparison) {
    const texts = [verdictText, betterText, leftOutText].map((textOf) => textOf(comparison));
    const text = texts.filter((each) => each !== "").join("\n");
    parts.push([verdictTones[comparison.verdict], text]);
  }
  if (stopped !== null) parts.push(["warn", `stopped early: ${stopped}`]);
  return parts
    .map(([tone, text]) => `<p class="notice ${tone}">${escapeHtml(text)}</p>`)
    .join("\n");
}

type Tile = [name: string, count: number, label: string];

function tiles({ summary, comparison }: EvalReport): string {
  const { passed, failed, flaky, error, skipped } = summary;
  const changes: Tile[] = comparison
    ? [
        ["worse", comparison.worse.length, "worse than before"],
        ["better", comparison.better.length, "better than before"],
      ]
    : [];
  const all: Tile[] = [
    ["passed", passed, "passed"],
    ...changes,
    ["failed", failed, "failed"],
    ["flaky", flaky, "flaky"],
    ["error", error, "errors"],
    ["skipped", skipped, "skipped"],
  ];
  const items = all.map(
    ([name, count, label]) =>
      `<li class="${name}${count === 0 ? " zero" : ""}"><b>${formatCount(count)}</b><span>${label}</span></li>`,
  );
  return `<ul class="tiles">${items.join("")}</ul>`;
}

const maxDocuments = 20;

/** The documents that should have been retrieved and were not, with the number of cases. */
function missingSection(problems: readonly Problems[]): string {
  const counts = new Map<string, number>();
  for (const of of problems.filter(({ kind }) => kind !== "error").flatMap(({ cases }) => cases)) {
    for (const each of of.expected) {
      if (isMissing(each, of)) counts.set(namedText(each), (counts.get(namedText(each)) ?? 0) + 1);
    }
  }
  if (counts.size === 0) return "";
  const rows = [...counts]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, maxDocuments)
    .map(
      ([document, count]) =>
        `<tr><td class="n">${formatCount(count)}</td><td><span class="path">${escapeHtml(document)}</span></td></tr>`,
    );
  const hidden = counts.size - rows.length;
  const more = hidden > 0 ? `<p class="soft">and ${formatCount(hidden)} more</p>` : "";
  return `<section><h2>Documents that should have been retrieved</h2><table class="narrow"><thead><tr><th class="n" scope="col">cases</th><th scope="col">document</th></tr></thead><tbody>${rows.join("\n")}</tbody></table>${more}</section>`;
}

/** Radio buttons that show one list; without a script, by style alone. */
function filter(lists: readonly (readonly [kind: string, label: string])[]): string {
  const all = [["all", "All cases"] as const, ...lists];
  const labels = all.map(
    ([kind, label]) =>
      `<label><input type="radio" name="show" id="show-${kind}"${kind === "all" ? " checked" : ""}>${label}</label>`,
  );
  return lists.length < 2
    ? ""
    : `<fieldset class="filter" aria-label="Show">${labels.join("")}</fieldset>`;
}

const filterLabels = {
  worse: "Worse",
  failed: "Failed",
  flaky: "Flaky",
  error: "Errors",
} as const;

/**
 * The run as one HTML page in pieces: what got worse first, then what else did not pass, then the
 * rest. No script, no external resources, every text escaped. The report must be redacted.
 */
export function* evalHtml(report: EvalReport): Generator<string> {
  const problems = problemsOf(report);
  const known = new Set(problems.flatMap(({ cases }) => cases));
  const rest = report.cases.filter((each) => !known.has(each));
  const passed = rest.filter(({ outcome }) => outcome === "passed");
  const skipped = rest.filter(({ outcome }) => outcome === "skipped");
  const labels = problems.map(({ kind }) => [kind, filterLabels[kind]] as const);
  const title = `knowctl ${report.command}: ${countsText(report.summary)}`;
  yield pageStart({ title, command: "eval", style: evalStyle });
  yield [heading(report), notices(report), tiles(report), metricsSection(report)].join("\n");
  yield filter([...labels, ...(passed.length > 0 ? [["passed", "Passed"] as const] : [])]);
  for (const { kind, title, cases } of problems) yield* casesSection(kind, title, cases);
  yield missingSection(problems);
  yield groupsSection(report);
  yield* casesSection("passed", "Passed", passed);
  yield* casesSection("skipped", "Skipped", skipped);
  yield pageEnd();
}
