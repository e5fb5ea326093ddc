import type { Finding, RuleText, Severity } from "../../checks/lint/rule.ts";
import { neutraliseLine } from "../terminal/neutralise.ts";
import { countOf } from "../terminal/progress.ts";

/** The result of `knowctl lint`, for reports. */
export interface LintRun {
  /** In the order of path and line, without those of the baseline. */
  findings: readonly Finding[];
  /** The rules that ran, with the severity of the configuration. */
  rules: readonly RuleText[];
  /** Number of documents checked. */
  documents: number;
  /** Number of findings that the baseline contains. */
  known: number;
  /** Whether --max-warnings is exceeded: then each warning counts as a failure. */
  failsOnWarnings?: boolean | undefined;
}

/** Worst first. */
export const severities = ["error", "warning", "note"] as const satisfies readonly Severity[];

export type SeverityCounts = Record<Severity, number>;

export function countSeverities(findings: readonly Finding[]): SeverityCounts {
  const counts: SeverityCounts = { error: 0, warning: 0, note: 0 };
  for (const { severity } of findings) counts[severity]++;
  return counts;
}

/** `3 errors, 1 note`; `no findings` for none. */
export function severityText(counts: SeverityCounts): string {
  const parts = severities.filter((name) => counts[name] > 0);
  return parts.map((name) => countOf(counts[name], name)).join(", ") || "no findings";
}

/** The findings ordered by severity, worst first; equally bad ones stay in their order. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  const rank = ({ severity }: Finding): number => severities.indexOf(severity);
  return findings.toSorted((a, b) => rank(a) - rank(b));
}

/** Redacts a message. A text that it quotes may be cut at a `…`, and a secret in it too. */
function safeMessage(message: string, redact: (text: string) => string): string {
  const line = redact(neutraliseLine(redact(message)));
  return line.split("…").map(redact).join("…").toWellFormed();
}

/**
 * A run that may be shown and written: texts from files without secrets and, in messages, without
 * control characters. `redact` also replaces the start of a secret at the end of a text. Only the
 * members of a Finding remain.
 */
export function safeRun(run: LintRun, redact: (text: string) => string): LintRun {
  const findings = run.findings.map(
    ({ rule, severity, line, column, endLine, endColumn, fingerprint, fixable, ...texts }) => ({
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
    }),
  );
  return { ...run, findings };
}

/** `docs/a.md:3:5`, without unknown parts. */
export function placeOf({ path, line, column }: Finding): string {
  return [path, line, column].filter((part) => part !== null).join(":");
}
