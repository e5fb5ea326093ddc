import type { Severity } from "../../checks/lint/rule.ts";
import { maxFindings } from "../report/ci/gitlab.ts";
import { neutraliseJson } from "../terminal/neutralise.ts";
import { worstFirst, type LintRun } from "./lint-run.ts";

const levels: Readonly<Record<Severity, string>> = {
  error: "major",
  warning: "minor",
  note: "info",
};

/** What a report shows of a finding, or of a file that could not be read. */
interface Issue {
  rule: string;
  path: string;
  line: number | null;
  message: string;
  severity: string;
  fingerprint: string;
}

function* issuesOf({ findings, unread }: LintRun): Generator<Issue> {
  for (const [path, message] of unread ?? []) {
    const rule = "unreadable";
    yield { rule, path, line: null, message, severity: "critical", fingerprint: `${rule} ${path}` };
  }
  for (const finding of worstFirst(findings, maxFindings)) {
    yield { ...finding, severity: levels[finding.severity] };
  }
}

/**
 * The findings as GitLab's code quality report, in pieces: files that could not be read, then the
 * worst first, the first 10,000. `prefix` is the path of the project in the repository. Expects a
 * safeRun().
 */
export function* lintCodeQuality(run: LintRun, prefix = ""): Generator<string> {
  yield "[";
  let count = 0;
  for (const { rule, path, line, message, severity, fingerprint } of issuesOf(run)) {
    if (count === maxFindings) break;
    const issue = {
      description: message.slice(0, 2000).toWellFormed(),
      check_name: `knowctl/${rule}`,
      fingerprint,
      severity,
      location: { path: `${prefix}${path}`, lines: { begin: line ?? 1 } },
    };
    yield `${count++ === 0 ? "\n" : ",\n"}  ${neutraliseJson(JSON.stringify(issue))}`;
  }
  yield count === 0 ? "]\n" : "\n]\n";
}
