import { countOf, formatCount } from "../../terminal/progress.ts";
import { ownId } from "./html-failures.ts";
import type { ReportHead } from "../record.ts";
import { escapeHtml, formatTime } from "../text.ts";

/** Maximum rows of a list; the JSON report contains all. */
const maxListed = 100;
const maxSentListed = 1000;

/** The slowest documents, with a bar for each time. */
export function slowestSection({ slowest }: ReportHead): string {
  const longest = slowest[0]?.ms ?? 0;
  if (slowest.length === 0) return "";
  const rows = slowest.map(({ path, id, ms }) => {
    const share = longest > 0 ? ((ms / longest) * 100).toFixed(1) : "0";
    const own = ownId(path, id);
    const second = own === undefined ? "" : `<br><code class="soft">${escapeHtml(own)}</code>`;
    return `<tr><td><span class="path">${escapeHtml(path)}</span>${second}</td><td class="meter"><i style="width:${share}%"></i></td><td class="n">${formatTime(ms)}</td></tr>`;
  });
  return `<section><h2>Slowest documents</h2><table><thead><tr><th scope="col">document</th><th class="meter" scope="col"><span hidden>share</span></th><th class="n" scope="col">time</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></section>`;
}

/** The documents that `--verify` did not find in the index as sent. */
export function lostSection({ lost = [] }: ReportHead): string {
  if (lost.length === 0) return "";
  const rows = lost.slice(0, maxListed).map(({ path, id, result, reason }) => {
    const name = `<span class="path">${escapeHtml(path ?? id)}</span>`;
    return `<tr><td>${name}</td><td>${result.replace("-", " ")}: ${escapeHtml(reason)}</td></tr>`;
  });
  const hidden = lost.length - rows.length;
  if (hidden > 0) rows.push(`<tr><td>and ${formatCount(hidden)} more</td><td></td></tr>`);
  return `<section><h2>Not in the index as sent</h2><table><thead><tr><th scope="col">document</th><th scope="col">result</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></section>`;
}

/** The accepted documents, folded: new ones first. */
export function sentSection({ sent, counts }: ReportHead): string {
  if (sent === undefined) return "";
  const count = counts.created + counts.updated;
  const sorted = sent.documents.toSorted((a, b) => a.status.localeCompare(b.status));
  const lines = sorted.slice(0, maxSentListed).map(({ path, id, status }) => {
    const own = ownId(path, id);
    const second = own === undefined ? "" : ` <code class="soft">${escapeHtml(own)}</code>`;
    return `<li>${status}: <span class="path">${escapeHtml(path)}</span>${second}</li>`;
  });
  const hidden = count - lines.length;
  if (hidden > 0) lines.push(`<li class="soft">and ${formatCount(hidden)} more</li>`);
  return `<section><details><summary>${countOf(count, "document")} created or updated</summary><ul>${lines.join("\n")}</ul></details></section>`;
}

/** Number of skipped files by reason. */
export function skippedSection({ skipped }: ReportHead): string {
  if (skipped.length === 0) return "";
  const rows = skipped
    .slice(0, maxListed)
    .map(
      ({ reason, count }) =>
        `<tr><td class="n">${formatCount(count)}</td><td>${escapeHtml(reason)}</td></tr>`,
    );
  const hidden = skipped.length - rows.length;
  if (hidden > 0) rows.push(`<tr><td></td><td>and ${countOf(hidden, "more reason")}</td></tr>`);
  return `<section><h2>Skipped files</h2><table class="narrow"><thead><tr><th class="n" scope="col">files</th><th scope="col">reason</th></tr></thead><tbody>${rows.join("\n")}</tbody></table></section>`;
}

/** Renamed files, folded. */
export function renamedSection({ renamed, counts }: ReportHead): string {
  if (renamed.length === 0) return "";
  const lines = renamed
    .slice(0, maxListed)
    .map(
      ({ from, to }) =>
        `<li><span class="path">${escapeHtml(from)} → ${escapeHtml(to)}</span></li>`,
    );
  const hidden = counts.renamed - lines.length;
  if (hidden > 0) lines.push(`<li class="soft">and ${formatCount(hidden)} more</li>`);
  return `<section><details><summary>${countOf(counts.renamed, "renamed file")}</summary><ul>${lines.join("\n")}</ul></details></section>`;
}
