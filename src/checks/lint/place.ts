import { disablesIn, isDisabled } from "./disables.ts";
import { createLines } from "../lines.ts";
import { coverSecrets, fingerprintOf, lineAt } from "./fingerprint.ts";
import { findSecrets, hideSecrets } from "./secrets/find-secrets.ts";
import type { Finding, Found, RowPlace, RuleText, Severity, Span } from "./rule.ts";

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
  /** As in LintPage. */
  source: string | undefined;
  row?: RowPlace | undefined;
}

// An exception for secrets counts only in a trusted configuration: command-line.md, 2.
const canDisable = ({ group }: RuleText): boolean => group !== "secrets";

interface Place extends Pick<Finding, "line" | "column" | "endLine" | "endColumn"> {
  /** What makes the place the same one in a later run; see fingerprintOf(). */
  text: string;
}

/** Returns a function that finds the place of a span; undefined stands for the whole file. */
function createPlaces(
  { source, row }: PlacedFile,
  raw: readonly Raw[],
): (span: Span | undefined) => Place {
  if (source === undefined) {
    const line = row?.line ?? null;
    const column = line === null ? null : 1;
    return () => ({ line, column, endLine: line, endColumn: column, text: row?.id ?? "" });
  }
  const lines = createLines(source);
  const secrets = raw.flatMap(({ rule, found }) =>
    rule.group === "secrets" && found.span ? [found.span] : [],
  );
  // Rules that compare documents run without those about secrets, and --rule may leave these out.
  const covered = coverSecrets(source, [...secrets, ...findSecrets(source)]);
  return (span) => {
    if (!span) return { line: 1, column: 1, endLine: 1, endColumn: 1, text: "" };
    const start = lines.at(span.start);
    const end = lines.at(span.end);
    return { ...start, endLine: end.line, endColumn: end.column, text: lineAt(covered, span) };
  };
}

/**
 * Turns what rules found in one file into findings with line and column, and leaves out those that
 * a comment in the file switches off.
 */
export function placeFindings(file: PlacedFile, raw: readonly Raw[]): LintFinding[] {
  if (raw.length === 0) return [];
  const { path, source } = file;
  const disables = source === undefined ? [] : disablesIn(source);
  const placeOf = createPlaces(file, raw);
  const findings: LintFinding[] = [];
  for (const { rule, severity, found } of raw) {
    const span = source === undefined ? undefined : found.span;
    if (canDisable(rule) && isDisabled(disables, rule.name, span?.start)) continue;
    const message = rule.group === "secrets" ? found.message : hideSecrets(found.message);
    const { fix } = found;
    const { text, ...place } = placeOf(span);
    const isFixable = span !== undefined && fix !== undefined;
    findings.push({
      rule: rule.name,
      severity,
      path,
      ...place,
      message,
      fingerprint: fingerprintOf({ rule: rule.name, path, text }),
      fixable: isFixable,
      ...(isFixable ? { span, fix } : {}),
    });
  }
  return findings;
}
