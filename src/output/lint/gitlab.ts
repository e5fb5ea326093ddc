import type { Severity } from "../../checks/lint/rule.ts";
import { maxFindings } from "../report/gitlab.ts";
import { neutraliseJson } from "../terminal/neutralise.ts";
import { worstFirst, type LintRun } from "./lint-run.ts";

const levels: Readonly<Record<Severity, string>> = {
  error: "major",
  warning: "minor",
  note: "info",
};

/**
 * The findings as GitLab's code quality report, in pieces: worst first, the first 10,000. `prefix` is
 * the path of the project in the repository. Expects a safeRun().
 */
export function* lintCodeQuality({ findings }: LintRun, prefix = ""): Generator<string> {
  const shown = worstFirst(findings, maxFindings);
  yield "[";
  for (const [index, { rule, path, line, message, severity, fingerprint }] of shown.entries()) {
    const finding = {
      description: message.slice(0, 2000).toWellFormed(),
      check_name: `knowctl/${rule}`,
      fingerprint,
      severity: levels[severity],
      location: { path: `${prefix}${path}`, lines: { begin: line ?? 1 } },
    };
    yield `${index === 0 ? "\n" : ",\n"}  ${neutraliseJson(JSON.stringify(finding))}`;
  }
  yield shown.length === 0 ? "]\n" : "\n]\n";
}
