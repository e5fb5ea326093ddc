import type { Finding, RuleText, Severity } from "../../../checks/lint/rule.ts";
import { checkMembers, sampleOf, type FormatOptions } from "../../formats/formats.ts";
import { neutraliseLine } from "../../terminal/neutralise.ts";
import { countOf } from "../../terminal/progress.ts";
import { mapped, type Item, type Report, type Tally, type Tone } from "../report.ts";
import { LintReport } from "../stored/checks.ts";
import { bareReason } from "../text.ts";

const severities = ["error", "warning", "note"] as const satisfies readonly Severity[];

type SeverityCounts = Record<Severity, number>;

export type LintSummary = LintReport["summary"];

/** The result of `knowctl lint`. */
export interface LintRun {
  status: LintReport["status"];
  summary: LintSummary;
  /** In the order of path and line, made safe, without those of the baseline. */
  findings: readonly Finding[];
  /** The rules that ran, with the severity of the configuration. */
  rules: readonly RuleText[];
  /** Whether --max-warnings is exceeded: then each warning counts as a failure. */
  failsOnWarnings: boolean;
  /** Reasons by path of the files that could not be read: nothing is known of their findings. */
  unread: ReadonlyMap<string, string>;
}

export function countSeverities(findings: Iterable<Finding>): SeverityCounts {
  const counts: SeverityCounts = { error: 0, warning: 0, note: 0 };
  for (const { severity } of findings) counts[severity]++;
  return counts;
}

/** The rules with findings and how many, by severity, the worst severity and the largest count first. */
export function countRules(findings: Iterable<Finding>): [Severity, [string, number][]][] {
  const counts = new Map(severities.map((severity) => [severity, new Map<string, number>()]));
  for (const { severity, rule } of findings) {
    const rules = counts.get(severity)!;
    rules.set(rule, (rules.get(rule) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, rules]) => rules.size > 0)
    .map(([severity, rules]) => [severity, [...rules].toSorted(([, a], [, b]) => b - a)]);
}

/** `3 errors, 1 note`; `no findings` for none. */
export function severityText(counts: SeverityCounts): string {
  const parts = severities.filter((name) => counts[name] > 0);
  return parts.map((name) => countOf(counts[name], name)).join(", ") || "no findings";
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
  const path = redact(texts.path);
  const message = safeMessage(texts.message, redact);
  return { rule, severity, path, line, column, endLine, endColumn, message, fingerprint, fixable };
}

function itemOf(finding: Finding, failsOnWarnings: boolean): Item {
  const { rule, severity, fixable: _, ...rest } = finding;
  const fails = severity === "error" || (severity === "warning" && failsOnWarnings);
  const test = fails ? "failed" : "skipped";
  return {
    ...rest,
    level: severity,
    test,
    word: severity,
    group: rule,
    rule,
    suite: rule,
    title: rule,
  };
}

const unreadable = "unreadable";

function* unreadItems({ unread }: LintRun, redact: (text: string) => string): Generator<Item> {
  for (const [path, reason] of unread) {
    yield {
      level: "error",
      test: "error",
      word: unreadable,
      group: unreadable,
      suite: unreadable,
      title: "Not read",
      path: redact(path),
      message: safeMessage(bareReason({ path, reason }), redact),
    };
  }
}

function talliesOf({ findings, rules }: LintRun): Tally[] {
  const found = new Set<string>();
  for (const { rule } of findings) found.add(rule);
  const fine = rules.filter(({ name }) => !found.has(name));
  return fine.map(({ name }) => ({ name: "no findings", suite: name }));
}

function verdictOf({ summary, failsOnWarnings }: LintRun): { tone: Tone; word: string } {
  if (summary.error > 0 || failsOnWarnings) return { tone: "bad", word: "Failed" };
  if (summary.failed > 0) return { tone: "bad", word: "Incomplete" };
  return summary.warning > 0
    ? { tone: "warn", word: "Passed, with warnings" }
    : { tone: "ok", word: "Passed" };
}

function filesIn(findings: readonly Finding[]): string {
  const files = new Set(mapped(findings, ({ path }) => path)).size;
  return files === 0 ? "" : ` in ${countOf(files, "file")}`;
}

/** The report of a run. `redact` also replaces the start of a secret at the end of a text. */
export function lintReport(run: LintRun, redact: (text: string) => string): Report {
  const { summary, findings, rules, status, failsOnWarnings } = run;
  const { documents, failed, known } = summary;
  const facts = [
    `${countOf(documents, "document")} checked with ${countOf(rules.length, "rule")}`,
    ...(failed > 0 ? [`${countOf(failed, "file")} not read`] : []),
    ...(known > 0 ? [`${countOf(known, "known finding")} left out`] : []),
  ];
  return {
    command: "lint",
    verdict: verdictOf(run),
    title: severityText(summary) + filesIn(findings),
    facts,
    notes: [],
    counts: [
      { name: "errors", count: summary.error, tone: "bad" },
      { name: "warnings", count: summary.warning, tone: "warn" },
      { name: "notes", count: summary.note, tone: "soft" },
      { name: "not read", count: failed, tone: "bad" },
    ],
    items: {
      *[Symbol.iterator]() {
        for (const each of findings) yield itemOf(each, failsOnWarnings);
        yield* unreadItems(run, redact);
      },
    },
    isByFile: true,
    blocks: ["items"],
    rules,
    tallies: talliesOf(run),
    properties: {},
    measures: { isSuccess: status === "passed" },
    data: {
      head: { version: 1, command: "lint", status, summary },
      list: "findings",
      type: "finding",
      items: findings,
    },
  };
}

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any work. */
export const checkLintFormat = (options: FormatOptions): void =>
  checkMembers(options, sampleOf(LintReport) as object, ["text", "sarif", "junit"]);
