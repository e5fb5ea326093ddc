import { disablesIn, isDisabled } from "./disables.ts";
import { createLines } from "./lines.ts";
import type { Finding, Found, RuleText, Severity, Span } from "./rule.ts";

/** A finding with what `--fix` needs. */
export interface LintFinding extends Finding {
  span?: Span | undefined;
  fix?: string | undefined;
}

/** A finding of a rule, before its place is known. */
export interface Raw {
  rule: RuleText;
  severity: Severity;
  found: Found;
}

/** The file that findings are about. */
export interface PlacedFile {
  path: string;
  part: number;
  /** As in LintPage. */
  source: string | undefined;
  line?: number | undefined;
}

// An exception for secrets counts only in a trusted configuration: command-line.md, 2.
const canDisable = ({ group }: RuleText): boolean => group !== "secrets";

/**
 * Turns what rules found in one file into findings with line and column, and leaves out those that
 * a comment in the file switches off.
 */
export function placeFindings(file: PlacedFile, raw: readonly Raw[]): LintFinding[] {
  if (raw.length === 0) return [];
  const { path, source, line } = file;
  const disables = source === undefined ? [] : disablesIn(source);
  const lines = source === undefined ? undefined : createLines(source);
  const findings: LintFinding[] = [];
  for (const { rule, severity, found } of raw) {
    const span = source === undefined ? undefined : found.span;
    if (canDisable(rule) && isDisabled(disables, rule.name, span?.start)) continue;
    const whole = lines ? 1 : (line ?? null);
    const start = span && lines ? lines.at(span.start) : { line: whole, column: whole && 1 };
    const end = span && lines ? lines.at(span.end) : start;
    const { message, fix } = found;
    findings.push({
      rule: rule.name,
      severity,
      path,
      line: start.line,
      column: start.column,
      endLine: end.line,
      endColumn: end.column,
      message,
      fingerprint: "",
      fixable: span !== undefined && fix !== undefined,
      ...(span && fix !== undefined ? { span, fix } : {}),
    });
  }
  return findings;
}
