import type { Finding, RuleText } from "../../checks/lint/rule.ts";
import { tool } from "../report/tool.ts";
import { neutraliseJson } from "../terminal/neutralise.ts";
import { countOf, formatCount } from "../terminal/progress.ts";
import { worstFirst, type LintRun } from "./lint-run.ts";

/**
 * GitHub stores at most this many results of a run; of more it does not always keep the worst. It
 * refuses more than 25,000 and files above 10 MB (gzip), which this many results never reach.
 * https://docs.github.com/en/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit
 */
const maxResults = 5000;

/** GitHub cuts longer texts. */
const maxText = 1000;

const schema =
  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/** A path as a relative URI: every character that is not plain is percent-encoded. */
function uriOf(path: string): string {
  return path.toWellFormed().split("/").map(encodeURIComponent).join("/");
}

/** The example of a rule about long texts is long too. */
const maxExample = 1000;

function exampleOf(text: string): string {
  const short = text.length > maxExample ? `${text.slice(0, maxExample).toWellFormed()}…` : text;
  return short.trimEnd().replace(/^/gm, "    ");
}

function descriptorOf({ name, group, severity, summary, advice, bad, good }: RuleText): object {
  const examples = `Bad:\n\n${exampleOf(bad)}\n\nGood:\n\n${exampleOf(good)}\n`;
  return {
    id: name,
    shortDescription: { text: summary },
    fullDescription: { text: `${summary}. ${advice}` },
    help: { text: `${advice}\n\n${examples}`, markdown: `${advice}\n\n${examples}` },
    defaultConfiguration: { level: severity },
    properties: { tags: [group] },
  };
}

/** GitHub requires a region, also in a PDF, where a finding has no line. */
function regionOf({ line, column, endLine, endColumn }: Finding): object {
  const [startLine, startColumn] = [line ?? 1, column ?? 1];
  return {
    startLine,
    startColumn,
    endLine: endLine ?? startLine,
    endColumn: endColumn ?? startColumn,
  };
}

function resultOf(finding: Finding, ruleIndex: number | undefined, prefix: string): object {
  const { rule, severity, path, message, fingerprint } = finding;
  const artifactLocation = { uri: uriOf(`${prefix}${path}`), uriBaseId: "SRCROOT" };
  return {
    ruleId: rule,
    ...(ruleIndex === undefined ? {} : { ruleIndex }),
    level: severity,
    message: { text: message.slice(0, maxText).toWellFormed() },
    locations: [{ physicalLocation: { artifactLocation, region: regionOf(finding) } }],
    partialFingerprints: { "knowctlFingerprint/v1": fingerprint },
  };
}

/** More unread files are counted. */
const maxUnread = 100;

function unreadNotes(unread: ReadonlyMap<string, string>, prefix: string): object[] {
  const shown = [...unread].slice(0, maxUnread).map(([path, reason]) => {
    const artifactLocation = { uri: uriOf(`${prefix}${path}`), uriBaseId: "SRCROOT" };
    const locations = [{ physicalLocation: { artifactLocation } }];
    return {
      level: "error",
      message: { text: reason.slice(0, maxText).toWellFormed() },
      locations,
    };
  });
  const more = unread.size - shown.length;
  const text = `${countOf(more, "more file")} could not be read`;
  return more === 0 ? shown : [...shown, { level: "error", message: { text } }];
}

function invocationOf(hidden: number, unread: ReadonlyMap<string, string>, prefix: string): object {
  const notes = unreadNotes(unread, prefix);
  if (hidden > 0) {
    const kept = `only the ${formatCount(maxResults)} worst findings are in this file`;
    const text = `${countOf(hidden, "more finding")}: ${kept}; the JSON report contains all`;
    notes.push({ level: "warning", message: { text } });
  }
  return {
    executionSuccessful: unread.size === 0,
    ...(notes.length === 0 ? {} : { toolExecutionNotifications: notes }),
  };
}

/**
 * The findings as SARIF 2.1.0, worst first, at most 5,000. `prefix` is the path of the project in
 * the repository. Expects a safeRun().
 */
export function sarifLog({ findings, rules, unread }: LintRun, prefix = ""): object {
  const indexes = new Map(rules.map(({ name }, index) => [name, index]));
  const shown = worstFirst(findings, maxResults);
  const { name, version } = tool;
  const driver = { name, version, semanticVersion: version, rules: rules.map(descriptorOf) };
  const run = {
    tool: { driver },
    columnKind: "utf16CodeUnits",
    originalUriBaseIds: { SRCROOT: { description: { text: "the root of the repository" } } },
    invocations: [invocationOf(findings.length - shown.length, unread ?? new Map(), prefix)],
    results: shown.map((each) => resultOf(each, indexes.get(each.rule), prefix)),
  };
  return { $schema: schema, version: "2.1.0", runs: [run] };
}

/** The text of sarifLog(). */
export function* sarifReport(run: LintRun, prefix = ""): Generator<string> {
  yield `${neutraliseJson(JSON.stringify(sarifLog(run, prefix), undefined, 1))}\n`;
}
