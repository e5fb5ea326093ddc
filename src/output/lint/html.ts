import type { Finding, RuleText } from "../../checks/lint/rule.ts";
import { pageEnd, pageStart } from "../report/html/page.ts";
import { escapeHtml } from "../report/text.ts";
import { countOf, formatCount } from "../terminal/progress.ts";
import { groupClass, lintStyle } from "./html-style.ts";
import {
  countSeverities,
  placeOf,
  severities,
  severityText,
  worstFirst,
  type LintRun,
  type SeverityCounts,
} from "./lint-run.ts";

/** More findings make a page slow, and nobody reads them. */
const maxListed = 5000;

/** Few groups are shown open. */
const maxOpen = 20;

type Group = [name: string, findings: Finding[]];

function groupBy(findings: readonly Finding[], nameOf: (finding: Finding) => string): Group[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const name = nameOf(finding);
    const group = groups.get(name);
    if (group) group.push(finding);
    else groups.set(name, [finding]);
  }
  return [...groups];
}

const byCount = (groups: readonly Group[]): Group[] =>
  groups.toSorted(([, a], [, b]) => b.length - a.length);

const level = (severity: string): string => `<span class="level ${severity}">${severity}</span>`;

function details(
  name: string,
  findings: readonly Finding[],
  isOpen: boolean,
  lines: readonly string[],
): string {
  const counts = countSeverities(findings);
  const found = severities.filter((severity) => counts[severity] > 0);
  const tallies = found.map(
    (severity) => `<b class="${severity}">${countOf(counts[severity], severity)}</b>`,
  );
  return `<details class="${groupClass(found)}"${isOpen ? " open" : ""}><summary>${tallies.join("")}${name}</summary>${lines.join("\n")}</details>\n`;
}

function* ruleGroups(run: LintRun, shown: readonly Finding[]): Generator<string> {
  const rules = new Map<string, RuleText>(run.rules.map((rule) => [rule.name, rule]));
  const isOpen = shown.length <= maxOpen;
  // The worst rules first; stable, so that of equally bad ones the most frequent come first.
  const groups = byCount(groupBy(shown, ({ rule }) => rule));
  const rank = ([, [first]]: Group): number => severities.indexOf(first?.severity ?? "note");
  for (const [name, findings] of groups.toSorted((a, b) => rank(a) - rank(b))) {
    const rule = rules.get(name);
    const what = rule ? ` <span class="soft">${escapeHtml(rule.summary)}</span>` : "";
    const advice = rule ? `<p class="advice">${escapeHtml(rule.advice)}</p>` : "";
    const lines = findings.map(
      (each) =>
        `<li class="${each.severity}"><span class="path">${escapeHtml(placeOf(each))}</span>${level(each.severity)}${escapeHtml(each.message)}</li>`,
    );
    const list = [`${advice}<ul>`, ...lines, "</ul>"];
    yield details(`<code>${escapeHtml(name)}</code>${what}`, findings, isOpen, list);
  }
}

function* fileGroups(shown: readonly Finding[]): Generator<string> {
  const isOpen = shown.length <= maxOpen;
  for (const [path, findings] of byCount(groupBy(shown, ({ path }) => path))) {
    const lines = findings.map((each) => {
      const place = placeOf({ ...each, path: "" }).slice(1);
      const start = place === "" ? "" : `<span class="path">${place}</span>`;
      return `<li class="${each.severity}">${start}${level(each.severity)}${escapeHtml(each.message)}<span class="tag">${escapeHtml(each.rule)}</span></li>`;
    });
    const list = ["<ul>", ...lines, "</ul>"];
    yield details(`<span class="path">${escapeHtml(path)}</span>`, findings, isOpen, list);
  }
}

function heading(run: LintRun, counts: SeverityCounts): string {
  const isFailed = counts.error > 0 || run.failsOnWarnings === true;
  const unread = [...(run.unread?.values() ?? [])];
  const [tone, word] = isFailed
    ? ["bad", "Failed"]
    : unread.length > 0
      ? ["bad", "Incomplete"]
      : counts.warning > 0
        ? ["warn", "Passed, with warnings"]
        : ["ok", "Passed"];
  const lacks = unread.length === 0 ? "" : ` · ${countOf(unread.length, "file")} not read`;
  const known = run.known === 0 ? "" : ` · ${countOf(run.known, "known finding")} left out`;
  const files = new Set(Array.from(run.findings, ({ path }) => path)).size;
  const places = files === 0 ? "" : ` in ${countOf(files, "file")}`;
  return `<header><span class="pill ${tone}">${word}</span>
<h1>${severityText(counts)}${places}</h1>
<p class="soft">${countOf(run.documents, "document")} checked with ${countOf(run.rules.length, "rule")}${lacks}${known}</p>
${unread.map((reason) => `<p>${escapeHtml(reason)}</p>`).join("\n")}</header>\n`;
}

function filters(counts: SeverityCounts): string {
  const shows = severities.map((name) => [`show-${name.charAt(0)}`, name] as const);
  const ticks = shows.map(([id]) => `<input class="filter" type="checkbox" id="${id}" checked>`);
  const labels = shows.map(
    ([id, name]) => `<label for="${id}">${countOf(counts[name], name)}</label>`,
  );
  return `${ticks.join("")}<input class="filter" type="radio" name="by" id="by-rule" checked><input class="filter" type="radio" name="by" id="by-file">
<div class="filters">${labels.join("")}<span class="gap"></span><label for="by-rule">by rule</label><label for="by-file">by file</label></div>\n`;
}

/**
 * The findings as one HTML page, in pieces: by rule and by file, with a filter by severity; no
 * script, no external resources, every text escaped. Lists the 5,000 worst findings. Expects a
 * safeRun().
 */
export function* lintHtml(run: LintRun): Generator<string> {
  const counts = countSeverities(run.findings);
  const shown = worstFirst(run.findings, maxListed);
  const title = `knowctl lint: ${severityText(counts)}`;
  yield pageStart({ title, command: "lint", style: lintStyle });
  yield heading(run, counts);
  if (shown.length > 0) {
    yield filters(counts);
    const hidden = run.findings.length - shown.length;
    if (hidden > 0) {
      yield `<p class="notice warn">Only the ${formatCount(maxListed)} worst findings are listed; the JSON report contains ${formatCount(hidden)} more.</p>`;
    }
    yield '<section class="rules"><h2>By rule</h2>\n';
    yield* ruleGroups(run, shown);
    yield '</section>\n<section class="files"><h2>By file</h2>\n';
    yield* fileGroups(shown);
    yield "</section>\n";
  }
  yield pageEnd();
}
