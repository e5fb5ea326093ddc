import type { Finding } from "../../checks/lint/rule.ts";
import { maxAnnotations } from "../report/ci/github.ts";
import { cell, table } from "../report/markdown-table.ts";
import { countOf, formatCount } from "../terminal/progress.ts";
import type { Annotation } from "../workflow-commands.ts";
import {
  countSeverities,
  firstOfEach,
  placeOf,
  severities,
  severityText,
  worstFirst,
  type LintRun,
} from "./lint-run.ts";

const levels = { error: "error", warning: "warning", note: "notice" } as const;

/**
 * The annotations that GitHub shows, 10 of each level, worst first. If there are more findings, the
 * last one is a notice with their number. Without `prefix` (see ciPrefix) the message names the
 * place. Expects a safeRun(). Write them with output.annotate().
 */
export function lintAnnotations({ findings }: LintRun, prefix: string | undefined): Annotation[] {
  const counts = countSeverities(findings);
  const isCut = severities.some((name) => counts[name] > maxAnnotations);
  const first = firstOfEach(findings, maxAnnotations);
  // The line that counts the others is a notice too.
  if (isCut) first.note.splice(maxAnnotations - 1);
  const shown = severities.flatMap((severity) => first[severity]);
  const annotations = shown.map((finding) => annotationOf(finding, prefix));
  const hidden = findings.length - shown.length;
  if (hidden === 0) return annotations;
  const message = `${severityText(counts)}, ${formatCount(hidden)} of them not shown here; the job summary has more`;
  return [...annotations, { level: "notice", title: "knowctl lint", message }];
}

function annotationOf(finding: Finding, prefix: string | undefined): Annotation {
  const { path, line, column, rule, message, severity } = finding;
  const isPlaced = prefix !== undefined && path !== "";
  return {
    level: levels[severity],
    ...(isPlaced
      ? { file: `${prefix}${path}`, line: line ?? undefined, column: column ?? undefined }
      : {}),
    title: rule,
    message: isPlaced ? message : `${placeOf(finding)}: ${message}`,
  };
}

const maxListed = 100;

function ruleTable({ findings, rules }: LintRun): string {
  const counts = new Map<string, number>();
  for (const { rule } of findings) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const summaries = new Map(rules.map(({ name, summary }) => [name, summary]));
  const rows = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => [formatCount(count), cell(name), cell(summaries.get(name) ?? "")]);
  return table(["findings", "rule", "what is wrong"], rows);
}

/**
 * The run as Markdown for GitHub's job summary: counts, findings by rule, and the 100 worst
 * findings. Expects a safeRun().
 */
export function lintSummary(run: LintRun): string {
  const { findings, documents, known, unread } = run;
  const lacks = unread?.size ? `, ${countOf(unread.size, "file")} not read` : "";
  const baseline = known === 0 ? "" : `, ${countOf(known, "known finding")} left out`;
  const title = `## knowctl lint: ${severityText(countSeverities(findings))}\n\n`;
  const checked = `${countOf(documents, "document")} checked${lacks}${baseline}\n\n`;
  if (findings.length === 0) return title + checked;
  const rows = worstFirst(findings, maxListed).map((each) => [
    each.severity,
    cell(placeOf(each)),
    cell(each.rule),
    cell(each.message),
  ]);
  const hidden = findings.length - rows.length;
  const more = hidden > 0 ? `\nand ${formatCount(hidden)} more in the report\n` : "";
  const list = table(["level", "place", "rule", "finding"], rows);
  return `${title}${checked}${ruleTable(run)}
<details><summary>Findings</summary>\n\n${list}${more}\n</details>\n\n`;
}
