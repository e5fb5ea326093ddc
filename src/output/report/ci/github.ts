import { isAbsolute, relative, sep } from "node:path";
import { countOf, formatCount, formatDuration } from "../../terminal/progress.ts";
import type { Annotation } from "../../workflow-commands.ts";
import { cell, table } from "../markdown-table.ts";
import { groupFailures, type GroupedFailures } from "./groups.ts";
import type { ReportFailure, ReportHead } from "../record.ts";
import type { Step } from "../steps.ts";
import {
  bareReason,
  countWord,
  formatBytes,
  missingText,
  placeOf,
  refusedRow,
  statusText,
} from "../text.ts";

/** GitHub shows 10 annotations of each level for a step and drops the rest (community #26680). */
export const maxAnnotations = 10;

/** Path of the project in the repository: `""`, `docs/`; undefined outside the repository. */
export function repositoryPrefix(
  projectRoot: string,
  repositoryRoot: string | undefined,
): string | undefined {
  if (!repositoryRoot) return undefined;
  const path = relative(repositoryRoot, projectRoot);
  if (path === "") return "";
  if (isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`)) return undefined;
  return `${path.replaceAll(sep, "/")}/`;
}

/**
 * An error beside the file for each of the first 10 failures, then a notice with the
 * number of failures. Without `prefix` (see repositoryPrefix) the message contains
 * the file and line. Write them with output.annotate(), which escapes them.
 */
export function githubAnnotations(
  failures: Iterable<ReportFailure>,
  total: number,
  prefix: string | undefined,
): Annotation[] {
  const annotations: Annotation[] = [];
  for (const failure of failures) {
    if (annotations.length === maxAnnotations) break;
    const { path, line, column } = failure;
    const isPlaced = prefix !== undefined && path !== "";
    const reason = refusedRow(failure) + bareReason(failure);
    annotations.push({
      level: "error",
      ...(isPlaced ? { file: `${prefix}${path}`, line, column } : {}),
      title: "Not uploaded",
      message: isPlaced ? reason : `${placeOf(failure)}: ${reason}`,
    });
  }
  const hidden = total - annotations.length;
  if (hidden > 0) {
    annotations.push({
      level: "notice",
      title: "knowctl ingest",
      message: `${countOf(total, "document")} failed, ${formatCount(hidden)} of them not shown here; the job summary has more`,
    });
  }
  return annotations;
}

const names = ["created", "updated", "unchanged", "skipped", "failed", "renamed"] as const;
const maxListed = 100;

function facts(head: ReportHead): string {
  const { target, seconds, sentBytes, requests, retries, commit, shard } = head;
  const pair = target.ccPairId === null ? "" : `, pair ${target.ccPairId}`;
  const profile = target.profile === "" ? "" : `, profile ${cell(target.profile)}`;
  const parts = [
    `${cell(target.baseUrl)}${pair}${profile}`,
    formatDuration(seconds * 1000),
    `${formatBytes(sentBytes)} in ${countOf(requests, "request")}`,
    ...(retries > 0 ? [countOf(retries, "retry", "retries")] : []),
    ...(shard ? [`shard ${shard.index} of ${shard.count}`] : []),
    ...(commit === undefined ? [] : [`commit ${cell(commit)}`]),
  ];
  return `${parts.join(" · ")}\n`;
}

function failureTables({ groups, count }: GroupedFailures): string {
  if (count === 0) return "";
  const reasons = groups
    .slice(0, 20)
    .map((group) => [formatCount(group.count), cell(group.reason)]);
  const files = groups
    .flatMap((group) => group.failures)
    .slice(0, maxListed)
    .map((failure) => [cell(placeOf(failure)), cell(bareReason(failure))]);
  const hidden = count - files.length;
  const more = hidden > 0 ? `\nand ${formatCount(hidden)} more in the report\n` : "";
  return `\n### ${countOf(count, "failure")}\n\n${table(["count", "reason"], reasons)}
<details><summary>Failed documents</summary>\n\n${table(["document", "reason"], files)}${more}\n</details>\n`;
}

function lostTable({ lost = [] }: ReportHead): string {
  if (lost.length === 0) return "";
  const rows = lost
    .slice(0, maxListed)
    .map(({ path, id, result, reason }) => [cell(path ?? id), cell(`${result}: ${reason}`)]);
  const hidden = lost.length - rows.length;
  const more = hidden > 0 ? `\nand ${formatCount(hidden)} more in the report\n` : "";
  return `\n### Not in the index as sent\n\n${table(["document", "result"], rows)}${more}`;
}

/**
 * The run as Markdown for GitHub's job summary: status, counts, failures by reason
 * and the first 100 failures. Texts are cut to stay below GitHub's limit of 1 MiB.
 */
export function githubSummary(head: ReportHead, failures: Iterable<ReportFailure>): string {
  const missing = missingText(head.merged?.missing ?? [], head.merged?.shards ?? null);
  const notes = [missing, head.error ?? ""].filter((text) => text !== "");
  const counts = table(
    names.map((name) => countWord(head, name)),
    [names.map((name) => formatCount(head.counts[name]))],
  );
  const skipped = head.skipped
    .slice(0, 20)
    .map(({ reason, count }) => [formatCount(count), cell(reason)]);
  return [
    `## knowctl ingest: ${statusText(head)}\n\n`,
    ...notes.map((text) => `> ${cell(text)}\n\n`),
    `${counts}\n${facts(head)}`,
    failureTables(groupFailures(failures)),
    lostTable(head),
    skipped.length === 0
      ? ""
      : `\n<details><summary>Skipped files</summary>\n\n${table(["files", "reason"], skipped)}\n</details>\n`,
    "\n",
  ].join("");
}

/** The steps of a pipeline as Markdown for the job summary. */
export function stepsSummary(steps: readonly Step[]): string {
  const rows = steps.map(({ step, result, details, first }) =>
    [step, result, details, first.join("; ")].map(cell),
  );
  return `## knowctl\n\n${table(["step", "result", "details", "first"], rows)}\n`;
}
