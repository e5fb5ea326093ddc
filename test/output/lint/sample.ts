import type { Finding, RuleText } from "../../../src/checks/lint/rule.ts";
import type { LintRun } from "../../../src/output/lint/lint-run.ts";
import { findingWith, printOf } from "../../checks/lint/finding.ts";

const missingLink: RuleText = {
  name: "missing-link",
  group: "links",
  severity: "warning",
  summary: "A relative link leads to no file",
  advice: "Readers end up nowhere. Mend the link or remove it.",
  bad: "See [the plan](plan.md).\n",
  good: "See [the plan](../plan.md).\n",
};

export const noTitle: RuleText = {
  name: "no-title",
  group: "identity",
  severity: "error",
  summary: "The document has no title",
  advice: "Answers cite the title. Begin with a heading.",
  bad: "Text.\n",
  good: "# Leave\n\nText.\n",
};

/** A run of two rules. */
export function runOf(findings: readonly Finding[], changes: Partial<LintRun> = {}): LintRun {
  return { findings, rules: [missingLink, noTitle], documents: 12, known: 0, ...changes };
}

/** An error, a warning, a note, and a finding in a binary file. */
export const some: Finding[] = [
  findingWith({ severity: "note", message: "plan.md exists, Plan.md does not" }),
  findingWith({ path: "docs/ä b.pdf", line: null, column: null, endLine: null, endColumn: null }),
  findingWith({ rule: "no-title", severity: "error", message: "no title", endColumn: 7 }),
].map((each, index) => ({ ...each, fingerprint: printOf(index) }));

/** As many findings of one severity. */
export function many(count: number, severity: Finding["severity"]): Finding[] {
  return Array.from({ length: count }, (_, index) =>
    findingWith({
      severity,
      path: `docs/${severity}-${index % 50}.md`,
      line: index + 1,
      message: `${severity} ${index}`,
      fingerprint: printOf(index),
    }),
  );
}
