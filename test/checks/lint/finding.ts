import type { LintFinding } from "../../../src/checks/lint/place.ts";

/** A finding in line 3 of docs/a.md, or as `changes` say. */
export function findingWith(changes: Partial<LintFinding> = {}): LintFinding {
  return {
    rule: "missing-link",
    severity: "warning",
    path: "docs/a.md",
    line: 3,
    column: 5,
    endLine: 3,
    endColumn: 12,
    message: "plan.md does not exist",
    fingerprint: "0123456789abcdef",
    fixable: false,
    ...changes,
  };
}

/** A fingerprint with a number in it. */
export function printOf(number: number): string {
  return number.toString(16).padStart(16, "0");
}
