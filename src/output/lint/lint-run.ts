import type { Finding, Findings, RuleText, Severity } from "../../checks/lint/rule.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import { countOf } from "../terminal/progress.ts";

/** The result of `knowctl lint`, for reports. */
export interface LintRun {
  /** In the order of path and line, without those of the baseline. */
  findings: Findings;
  /** The rules that ran, with the severity of the configuration. */
  rules: readonly RuleText[];
  /** Number of documents checked. */
  documents: number;
  /** Number of findings that the baseline contains. */
  known: number;
  /** Whether --max-warnings is exceeded: then each warning counts as a failure. */
  failsOnWarnings?: boolean | undefined;
  /** Reasons by path of the files that could not be read: nothing is known of their findings. */
  unread?: ReadonlyMap<string, string> | undefined;
}

/** Worst first. */
export const severities = ["error", "warning", "note"] as const satisfies readonly Severity[];

export type SeverityCounts = Record<Severity, number>;

export function countSeverities(findings: Iterable<Finding>): SeverityCounts {
  const counts: SeverityCounts = { error: 0, warning: 0, note: 0 };
  for (const { severity } of findings) counts[severity]++;
  return counts;
}

/** `3 errors, 1 note`; `no findings` for none. */
export function severityText(counts: SeverityCounts): string {
  const parts = severities.filter((name) => counts[name] > 0);
  return parts.map((name) => countOf(counts[name], name)).join(", ") || "no findings";
}

/** The first findings of each severity, at most so many, in their order. */
export function firstOfEach(
  findings: Iterable<Finding>,
  most: number,
): Readonly<Record<Severity, Finding[]>> {
  const first: Record<Severity, Finding[]> = { error: [], warning: [], note: [] };
  for (const each of findings) {
    const list = first[each.severity];
    if (list.length < most) list.push(each);
  }
  return first;
}

/** At most so many findings, the worst first; equally bad ones stay in their order. */
export function worstFirst(findings: Iterable<Finding>, most: number): Finding[] {
  const first = firstOfEach(findings, most);
  return severities.flatMap((severity) => first[severity]).slice(0, most);
}

/** Redacts a message. A text that it quotes may be cut at a `…`, and a secret in it too. */
function safeMessage(message: string, redact: (text: string) => string): string {
  const line = redact(neutraliseLine(redact(message)));
  return line.split("…").map(redact).join("…").toWellFormed();
}

/**
 * A finding that may be shown and written: texts from files without secrets and, in the message,
 * without control characters. `redact` also replaces the start of a secret at the end of a text. Only
 * the members of a Finding remain.
 */
export function safeFinding(
  { rule, severity, line, column, endLine, endColumn, fingerprint, fixable, ...texts }: Finding,
  redact: (text: string) => string,
): Finding {
  return {
    rule,
    severity,
    path: redact(texts.path),
    line,
    column,
    endLine,
    endColumn,
    message: safeMessage(texts.message, redact),
    fingerprint,
    fixable,
  };
}

/** A run of which each finding is made safe when it is read, see safeFinding(). */
export function safeRun(run: LintRun, redact: (text: string) => string): LintRun {
  const { findings } = run;
  const safe: Findings = {
    length: findings.length,
    *[Symbol.iterator]() {
      for (const each of findings) yield safeFinding(each, redact);
    },
  };
  const unread = [...(run.unread ?? [])].map(
    ([path, reason]) => [redact(path), safeMessage(reason, redact)] as const,
  );
  return { ...run, findings: safe, unread: new Map(unread) };
}

/** `docs/a.md:3:5`, without unknown parts. */
export function placeOf({ path, line, column }: Finding): string {
  return [path, line, column].filter((part) => part !== null).join(":");
}
