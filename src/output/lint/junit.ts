import type { Finding, RuleText } from "../../checks/lint/rule.ts";
import { attributes, xmlText } from "../report/junit.ts";
import { placeOf, type LintRun } from "./lint-run.ts";

/** The suite of the files that could not be read; empty without one. */
function* unreadSuite(unread: ReadonlyMap<string, string>): Generator<string> {
  const { size: tests } = unread;
  if (tests === 0) return;
  const name = "unreadable";
  const totals = { name, tests, failures: 0, errors: tests, skipped: 0, time: 0 };
  yield `  <testsuite${attributes(totals)}>\n`;
  for (const [path, reason] of unread) {
    const opening = attributes({ classname: `lint.${name}`, name: path, file: path, time: 0 });
    const error = attributes({ message: reason, type: name });
    yield `    <testcase${opening}><error${error}>${xmlText(reason)}</error></testcase>\n`;
  }
  yield "  </testsuite>\n";
}

type IsFailure = (finding: Finding) => boolean;

interface Suite {
  name: string;
  /** Undefined for a finding of no rule, e.g. about a comment that switches nothing off. */
  rule: RuleText | undefined;
  findings: Finding[];
}

function suitesOf({ findings, rules }: LintRun): Suite[] {
  const suites = new Map<string, Suite>();
  for (const rule of rules) suites.set(rule.name, { name: rule.name, rule, findings: [] });
  for (const finding of findings) {
    const name = finding.rule;
    let suite = suites.get(name);
    if (!suite) suites.set(name, (suite = { name, rule: undefined, findings: [] }));
    suite.findings.push(finding);
  }
  return [...suites.values()];
}

function* casesOf({ name, rule, findings }: Suite, isFailure: IsFailure): Generator<string> {
  const classname = `lint.${name}`;
  if (findings.length === 0) {
    yield `    <testcase${attributes({ classname, name: "no findings", time: 0 })}/>\n`;
  }
  // GitLab takes two tests with the same class and name for one.
  const counts = new Map<string, number>();
  for (const finding of findings) {
    const { path, line, message, severity } = finding;
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    const opening = attributes({
      classname,
      name: count === 1 ? path : `${path} (${count})`,
      file: path,
      line: line ?? undefined,
      time: 0,
    });
    const text = `${placeOf(finding)}: ${severity}: ${message}`;
    const advice = rule ? `\n\n${rule.advice}` : "";
    const result = isFailure(finding)
      ? `<failure${attributes({ message, type: severity })}>${xmlText(text + advice)}</failure>`
      : `<skipped${attributes({ message: text })}/>`;
    yield `    <testcase${opening}>${result}</testcase>\n`;
  }
}

function totalsOf(suites: readonly Suite[], isFailure: IsFailure) {
  const findings = suites.flatMap((suite) => suite.findings);
  const passed = suites.filter((suite) => suite.findings.length === 0).length;
  const failures = findings.filter(isFailure).length;
  const skipped = findings.length - failures;
  return { tests: findings.length + passed, failures, errors: 0, skipped };
}

/**
 * The findings as JUnit XML, in pieces: a suite for each rule, with a test for each finding, or one
 * passed test without any. An error is a failed test; a warning or a note is a skipped test, as it
 * fails no run, or a failed one with `failsOnWarnings`. A file that could not be read is a test with
 * an error. Expects a safeRun().
 */
export function* lintJunit(run: LintRun): Generator<string> {
  const isFailure: IsFailure = ({ severity }) =>
    severity === "error" || (severity === "warning" && run.failsOnWarnings === true);
  const suites = suitesOf(run);
  const unread = run.unread ?? new Map<string, string>();
  const totals = totalsOf(suites, isFailure);
  const tests = totals.tests + unread.size;
  const counts = { ...totals, tests, errors: unread.size };
  const all = attributes({ name: "knowctl lint", ...counts, time: 0 });
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${all}>\n`;
  for (const suite of suites) {
    const totals = attributes({ name: suite.name, ...totalsOf([suite], isFailure), time: 0 });
    yield `  <testsuite${totals}>\n`;
    yield* casesOf(suite, isFailure);
    yield "  </testsuite>\n";
  }
  yield* unreadSuite(unread);
  yield "</testsuites>\n";
}
