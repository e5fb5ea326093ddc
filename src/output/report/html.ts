import { countOf, formatCount, formatDuration } from "../terminal/progress.ts";
import {
  gather,
  labelOf,
  placeOf,
  type Gathered,
  type Group,
  type Block,
  type Cell,
  type Column,
  type Detail,
  type Item,
  type Level,
  type Range,
  type Report,
  type Table,
  type Tone,
} from "./report.ts";
import style from "./style.css?raw";
import { dateText, escapeHtml, factsText, formatRate } from "./text.ts";
import { tool } from "./tool.ts";
import type { Throughput } from "./stored/record.ts";

/** The words of a run are few: more than these have no filter. */
const mostKinds = 12;

// The items of a word are hidden while its box is not ticked. A page has no script.
const hiding = Array.from(
  { length: mostKinds },
  (_, index) => `main:has(#k${index}:not(:checked)) .k${index}`,
);

/** Fewer bars show no trend. */
const minBars = 3;

/** More bars cannot be distinguished at the width of a page. */
const maxBars = 150;

interface Bar {
  documents: number;
  failed: number;
}

function barsOf({ bucketSeconds, buckets }: Throughput): { bars: Bar[]; seconds: number } {
  const each = Math.ceil(buckets.length / maxBars);
  const bars: Bar[] = [];
  for (const [index, { documents, failed }] of buckets.entries()) {
    const at = Math.floor(index / each);
    const bar = (bars[at] ??= { documents: 0, failed: 0 });
    bar.documents += documents;
    bar.failed += failed;
  }
  return { bars, seconds: bucketSeconds * each };
}

/** Rounds up to 1, 2, 2.5 or 5 times a power of ten, for a readable scale. */
function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value * 0.999) ?? 10) * power;
}

// Equal parts: a short last part would draw two ticks on top of each other.
function timeTicks(totalSeconds: number): number[] {
  const parts = totalSeconds < 4 ? 2 : 4;
  return Array.from({ length: parts + 1 }, (_, index) => (totalSeconds * index) / parts);
}

const height = 100;

function rectangle(kind: string, index: number, from: number, size: number): string {
  if (size <= 0) return "";
  // The gap between bars is relative, so that it shrinks with the page.
  return `<rect class="${kind}" x="${index + 0.08}" y="${(height - from - size).toFixed(2)}" width="0.84" height="${size.toFixed(2)}"/>`;
}

/**
 * Accepted and failed documents per second over time. The drawing stretches with
 * the page; the labels of the axes are HTML around it, so they keep their size.
 * Empty for a run of fewer than three bars. Contains only numbers, no untrusted text.
 */
export function throughputChart(throughput: Throughput): string {
  const { bars, seconds } = barsOf(throughput);
  if (bars.length < minBars) return "";
  const rates = bars.map(({ documents, failed }) => (documents + failed) / seconds);
  const peak = Math.max(...rates);
  const top = niceCeiling(peak);
  const scale = height / (top * seconds);
  const drawn = bars.map(
    ({ documents, failed }, index) =>
      rectangle("sent", index, 0, documents * scale) +
      rectangle("lost", index, documents * scale, failed * scale),
  );
  const total = bars.length * seconds;
  const label = `Documents per second over ${formatDuration(total * 1000)}; at most ${formatRate(peak)} per second.`;
  const grid = [0, 0.5, 1].map(
    (share) =>
      `<line class="grid" x1="0" x2="${bars.length}" y1="${height * share}" y2="${height * share}"/>`,
  );
  const vertical = [top, top / 2, 0].map((value) => `<span>${formatTick(value)}</span>`);
  const horizontal = timeTicks(total).map(
    (second) => `<span>${second === 0 ? "0" : formatDuration(second * 1000)}</span>`,
  );
  return `<div class="chart"><div class="y" aria-hidden="true">${vertical.join("")}</div>
<svg role="img" aria-label="${label}" viewBox="0 0 ${bars.length} ${height}" preserveAspectRatio="none">${grid.join("")}${drawn.join("")}</svg>
<div class="x" aria-hidden="true">${horizontal.join("")}</div></div>`;
}

function formatTick(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : formatRate(value);
}

/** More make a page slow, and nobody reads them. */
const maxItems = 5000;
const maxRows = 1000;
const maxGroups = 200;
/** More items are folded, except those of small groups. */
const maxOpen = 50;
const openCards = 10;

const tones: Readonly<Record<Level, Tone>> = {
  error: "bad",
  warning: "warn",
  note: "soft",
  fine: "ok",
};

const path = (text: string): string => `<span class="path">${escapeHtml(text)}</span>`;
const soft = (text: string): string => `<p class="soft">${escapeHtml(text)}</p>`;

/** A bar from 0 to 1 with the interval, the value and the value before. Contains only numbers. */
function rangeDrawing({ value, low, high, before }: Range): string {
  const x = (share: number): string => (share * 100).toFixed(2);
  const tick = (kind: string, share: number, margin: number): string =>
    `<line class="${kind}" x1="${x(share)}" x2="${x(share)}" y1="${margin}" y2="${18 - margin}"/>`;
  const label = `${x(value)} of 100; interval ${x(low)} to ${x(high)}`;
  return `<svg class="range" role="img" aria-label="${label}" viewBox="0 0 100 18" preserveAspectRatio="none"><line class="track" x1="0" x2="100" y1="9" y2="9"/><line class="spread" x1="${x(low)}" x2="${x(high)}" y1="9" y2="9"/>${before === undefined ? "" : tick("before", before, 0)}${tick("point", value, 3)}</svg>`;
}

const classes = { path: "", number: ' class="n"', drawing: ' class="draw"' } as const;
const classOf = ({ kind }: Column): string => (kind === undefined ? "" : classes[kind]);

function cellHtml(value: Cell | undefined, column: Column): string {
  if (value === null || value === undefined) return `<td${classOf(column)}></td>`;
  if (typeof value === "string") {
    const text = column.kind === "path" ? path(value) : escapeHtml(value);
    return `<td${classOf(column)}>${text}</td>`;
  }
  const drawing =
    "range" in value
      ? rangeDrawing(value.range)
      : `<i style="width:${(value.share * 100).toFixed(1)}%"></i>`;
  return `<td${classOf(column)}>${drawing}</td>`;
}

function tableHtml({ title, columns, rows, leftOut = 0, isFolded, key }: Table): string {
  const shown = rows.slice(0, maxRows);
  const hidden = rows.length - shown.length + leftOut;
  const header = columns.map(
    (column) => `<th${classOf(column)} scope="col">${escapeHtml(column.name)}</th>`,
  );
  const hasHeader = columns.some(({ name }) => name !== "");
  const head = hasHeader ? `<thead><tr>${header.join("")}</tr></thead>` : "";
  const lines = shown.map(
    (row) => `<tr>${columns.map((column, index) => cellHtml(row[index], column)).join("")}</tr>`,
  );
  const more = hidden > 0 ? soft(`and ${formatCount(hidden)} more`) : "";
  const note = key === undefined ? "" : `<p class="key">${escapeHtml(key)}</p>`;
  const body = `<div class="scroll"><table>${head}<tbody>${lines.join("\n")}</tbody></table></div>${more}${note}`;
  return isFolded
    ? `<details><summary>${escapeHtml(title)}</summary>${body}</details>`
    : `<h2>${escapeHtml(title)}</h2>${body}`;
}

function detailHtml({ name, lines }: Detail): string {
  const items = lines.map(({ text, mark, note, more }) => {
    const kind = mark === undefined ? "" : ` class="${mark}"`;
    const tag = note === undefined ? "" : `<span class="tag">${escapeHtml(note)}</span>`;
    const rest = more === undefined ? "" : `<span class="more">${escapeHtml(more)}</span>`;
    return `<li${kind}>${escapeHtml(text)}${tag}${rest}</li>`;
  });
  return `<div><h3>${escapeHtml(name)}</h3><ul>${items.join("")}</ul></div>`;
}

/** An item in a list. `about`: its rule, where the list does not say it. */
function itemHtml(item: Item, about: string, place: string, isOpen: boolean): string {
  const { subject, message, details = [] } = item;
  const tags = [about, item.id ?? "", ...(item.tags ?? [])]
    .filter((text) => text !== "" && text !== place)
    .map((text) => `<span class="tag">${escapeHtml(text)}</span>`);
  const lead = place === "" ? "" : path(place);
  const named = subject === undefined ? "" : `<b>${escapeHtml(subject)}</b> `;
  // Below its own heading the reason says nothing new.
  const said = message === item.group && about === "" ? "" : escapeHtml(message);
  const line = `${lead}${named}${said}${tags.join("")}`;
  if (details.length === 0) return `<li>${line}</li>`;
  const where = item.name === undefined ? "" : `<p class="soft">${path(placeOf(item))}</p>`;
  return `<li class="case"><details${isOpen ? " open" : ""}><summary>${line}</summary>${where}<div class="sides">${details.map(detailHtml).join("")}</div></details></li>`;
}

/** Class of the items of a word, for the filter. */
type KindOf = (word: string) => string;

function groupHtml(group: Group, kindOf: KindOf, isOpen: boolean, head: string, list: string) {
  const { word, level, count, items } = group;
  const hidden = count - items.length;
  const more = hidden > 0 ? `<li class="soft">and ${formatCount(hidden)} more</li>` : "";
  const tone = tones[level];
  const isSaid = group.name.toLowerCase() === word;
  const lead = `<b class="${tone}">${formatCount(count)}</b>`;
  const kind = isSaid ? "" : `<i class="word ${tone}">${escapeHtml(word)}</i>`;
  return `<details class="${kindOf(word)}"${isOpen ? " open" : ""}><summary>${lead}${kind}${head}</summary><ul class="items">${list}${more}</ul></details>\n`;
}

function* causeGroups(report: Report, found: Gathered, kindOf: KindOf): Generator<string> {
  const rules = new Map(report.rules.map((rule) => [rule.name, rule]));
  let cards = 0;
  for (const group of found.groups.slice(0, maxGroups)) {
    const rule = rules.get(group.name);
    const isSmall = found.total - found.counts.fine <= maxOpen || group.count <= 5;
    const isOpen = group.level !== "fine" && isSmall;
    const name = rule ? `<code>${escapeHtml(group.name)}</code>` : escapeHtml(group.name);
    const about = rule ? ` <span class="soft">${escapeHtml(rule.summary)}</span>` : "";
    const advice = rule ? `<li class="advice">${escapeHtml(rule.advice)}</li>` : "";
    const lines = group.items.map((item) =>
      itemHtml(item, "", labelOf(item), isOpen && cards++ < openCards),
    );
    yield groupHtml(group, kindOf, isOpen, name + about, advice + lines.join("\n"));
  }
  const hidden = found.groups.length - maxGroups;
  if (hidden > 0) yield soft(`and ${countOf(hidden, "more cause")}`);
}

function* fileGroups(found: Gathered, kindOf: KindOf): Generator<string> {
  const files = gather(
    found.shown.map((item) => ({ ...item, group: item.path ?? "" })),
    maxItems,
  );
  for (const group of files.groups) {
    const lines = group.items.map((item) => {
      const place = placeOf(item).slice(group.name.length + 1);
      return itemHtml(item, item.rule ?? "", place, false);
    });
    const isOpen = found.total <= maxOpen;
    yield groupHtml(group, kindOf, isOpen, path(group.name), lines.join("\n"));
  }
}

/** A box for each word of the items: without its tick they are hidden. */
function filters(found: Gathered, isByFile: boolean): { html: string; kindOf: KindOf } {
  const counts = new Map<string, number>();
  for (const { word, count } of found.groups) counts.set(word, (counts.get(word) ?? 0) + count);
  const words = [...counts.keys()];
  const kindOf: KindOf = (word) => `k${words.indexOf(word)}`;
  const ticks = words
    .slice(0, mostKinds)
    .map(
      (word) =>
        `<label><input type="checkbox" id="${kindOf(word)}" checked>${escapeHtml(word)}: ${formatCount(counts.get(word) ?? 0)}</label>`,
    );
  const views = isByFile
    ? `<span class="gap"></span><label><input type="radio" name="by" id="by-cause" checked>by cause</label><label><input type="radio" name="by" id="by-file">by file</label>`
    : "";
  if (words.length < 2 && views === "") return { html: "", kindOf };
  const html = `<fieldset class="filters" aria-label="Show">${ticks.join("")}${views}</fieldset>\n`;
  return { html, kindOf };
}

function* itemsHtml(report: Report): Generator<string> {
  const { isOrdered, isByFile = false } = report;
  const found = gather(report.items, maxItems, isOrdered);
  if (found.total === 0) return;
  const { html, kindOf } = filters(found, isByFile);
  yield html;
  const hidden = found.total - found.shown.length;
  if (hidden > 0) {
    yield `<p class="notice warn">Only the ${formatCount(maxItems)} worst are listed; the JSON report contains ${formatCount(hidden)} more.</p>`;
  }
  yield `<section${isByFile ? ' class="by-cause"' : ""}>\n`;
  yield* causeGroups(report, found, kindOf);
  yield "</section>\n";
  if (!isByFile) return;
  yield '<section class="by-file">\n';
  yield* fileGroups(found, kindOf);
  yield "</section>\n";
}

function* blockHtml(block: Block, report: Report): Generator<string> {
  if (block === "items") return yield* itemsHtml(report);
  if ("chart" in block) {
    const chart = throughputChart(block.chart);
    if (chart === "") return;
    return yield `<section><h2>Documents per second</h2>${chart}
<p class="key"><span><i class="dot p-sent"></i>accepted</span><span><i class="dot p-bad"></i>failed</span></p></section>\n`;
  }
  if (block.rows.length > 0) yield `<section>${tableHtml(block)}</section>\n`;
}

function heading(report: Report): string {
  const { verdict, title, startedAt } = report;
  const time =
    startedAt === undefined
      ? ""
      : ` · <time datetime="${escapeHtml(startedAt)}">${escapeHtml(dateText(startedAt))}</time>`;
  return `<header><span class="pill ${verdict.tone}">${escapeHtml(verdict.word)}</span>
<h1>${escapeHtml(title)}</h1>
<p class="soft">${escapeHtml(factsText(report))}${time}</p></header>\n`;
}

function numbers({ counts }: Report): string {
  const tiles = counts.map(({ name, count, tone, part }) => {
    const dot = part === undefined ? "" : `<i class="dot p-${part}"></i>`;
    const shown = `<b class="${tone}">${formatCount(count)}</b><span>${dot}${escapeHtml(name)}</span>`;
    return `<li${count === 0 ? ' class="zero"' : ""}>${shown}</li>`;
  });
  const parts = counts.filter(({ part, count }) => part !== undefined && count > 0);
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  const share = (count: number): string => ((count / total) * 100).toFixed(1);
  const label = parts.map(({ name, count }) => `${share(count)} % ${name}`).join(", ");
  const pieces = parts.map(
    ({ name, count, part }) =>
      `<i class="p-${part}" style="flex:${count} 0 0" title="${formatCount(count)} ${escapeHtml(name)}"></i>`,
  );
  const bar = `<div class="bar" role="img" aria-label="${escapeHtml(label)}">${pieces.join("")}</div>\n`;
  return `<ul class="tiles">${tiles.join("")}</ul>\n${total === 0 ? "" : bar}`;
}

/**
 * The run as one HTML page in pieces: no script, no external resources, every text escaped. Lists
 * the 5,000 worst items. A later upload knows a report by its generator.
 */
export function* htmlReport(report: Report): Generator<string> {
  const [name = ""] = report.command.split(" ");
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="generator" content="knowctl ${name} report">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(`knowctl ${report.command}: ${report.verdict.word}: ${report.title}`)}</title>
<style>${style}${hiding.join(",")}{display:none}</style></head><body><main>\n`;
  yield heading(report);
  for (const { tone, text } of report.notes) {
    yield `<p class="notice ${tone}">${escapeHtml(text)}</p>\n`;
  }
  if (report.counts.length > 0) yield numbers(report);
  for (const block of report.blocks) yield* blockHtml(block, report);
  yield `<footer>Written by ${escapeHtml(`${tool.name} ${tool.version}`)}.</footer>\n</main></body></html>\n`;
}
