import type { RuleText } from "../../checks/lint/rule.ts";
import { neutraliseJson } from "../terminal/neutralise.ts";
import { countOf, formatCount } from "../terminal/progress.ts";
import { fingerprintOf } from "./gitlab.ts";
import { gather, type Item, type Level, type Report } from "./report.ts";
import { tool } from "./tool.ts";

/**
 * GitHub stores at most this many results of a run; of more it does not always keep the worst. It
 * refuses more than 25,000 and files above 10 MB (gzip), which this many results never reach.
 * https://docs.github.com/en/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit
 */
const maxResults = 5000;

/** More items that could not be judged are counted. */
const maxUnread = 100;

/** GitHub cuts longer texts. The example of a rule about long texts is long too. */
const maxText = 1000;

const schema =
  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

const cut = (text: string): string => text.slice(0, maxText).toWellFormed();

/** A path as a relative URI: every character that is not plain is percent-encoded. */
function uriOf(path: string): string {
  return path.toWellFormed().split("/").map(encodeURIComponent).join("/");
}

/** The member `locations`; empty for an item without a file. */
function locationsOf({ path }: Item, prefix: string, region?: object): { locations?: object[] } {
  if (path === null) return {};
  const artifactLocation = { uri: uriOf(`${prefix}${path}`), uriBaseId: "SRCROOT" };
  return { locations: [{ physicalLocation: { artifactLocation, ...(region && { region }) } }] };
}

function exampleOf(text: string): string {
  return (text.length > maxText ? `${cut(text)}…` : text).trimEnd().replace(/^/gm, "    ");
}

function descriptorOf({ name, group, severity, summary, advice, bad, good }: RuleText): object {
  const help = `${advice}\n\nBad:\n\n${exampleOf(bad)}\n\nGood:\n\n${exampleOf(good)}\n`;
  return {
    id: name,
    shortDescription: { text: summary },
    fullDescription: { text: `${summary}. ${advice}` },
    help: { text: help, markdown: help },
    defaultConfiguration: { level: severity },
    properties: { tags: [group] },
  };
}

/** GitHub requires a region, also in a PDF, where an item has no line. */
function regionOf({ line, column, endLine, endColumn }: Item): object {
  const [startLine, startColumn] = [line ?? 1, column ?? 1];
  return {
    startLine,
    startColumn,
    endLine: endLine ?? startLine,
    endColumn: endColumn ?? startColumn,
  };
}

const sarifLevels: Readonly<Record<Level, string>> = {
  error: "error",
  warning: "warning",
  note: "note",
  fine: "none",
};

function resultOf(item: Item, ruleIndex: number | undefined, prefix: string): object {
  const { rule, word, level, message } = item;
  return {
    ruleId: rule ?? word,
    ...(ruleIndex === undefined ? {} : { ruleIndex }),
    level: sarifLevels[level],
    message: { text: cut(message) },
    ...locationsOf(item, prefix, regionOf(item)),
    partialFingerprints: { "knowctlFingerprint/v1": fingerprintOf(item) },
  };
}

/** What was not judged is no result but a notification. */
function* judged(items: Iterable<Item>, isError: boolean): Generator<Item> {
  for (const each of items) {
    if (each.level !== "fine" && (each.test === "error") === isError) yield each;
  }
}

function invocationOf(report: Report, hidden: number, prefix: string): object {
  const { shown, total } = gather(judged(report.items, true), maxUnread);
  const notes: object[] = shown.map((item) => ({
    level: "error",
    message: { text: cut(item.message) },
    ...locationsOf(item, prefix),
  }));
  const note = (level: string, text: string): void => void notes.push({ level, message: { text } });
  const more = total - shown.length;
  if (more > 0) note("error", `${countOf(more, "more item")} could not be judged`);
  if (report.stopped !== undefined) note("error", cut(report.stopped));
  if (hidden > 0) {
    const kept = `only the ${formatCount(maxResults)} worst are in this file`;
    note("warning", `${countOf(hidden, "more result")}: ${kept}; the JSON report contains all`);
  }
  return {
    executionSuccessful: total === 0 && report.stopped === undefined,
    ...(notes.length === 0 ? {} : { toolExecutionNotifications: notes }),
  };
}

/**
 * The items that are not fine as SARIF 2.1.0, worst first, at most 5,000. `prefix` is the path of
 * the project in the repository.
 */
export function* sarifReport(report: Report, prefix = ""): Generator<string> {
  const { rules, items } = report;
  const indexes = new Map(rules.map(({ name }, index) => [name, index]));
  const { shown, total } = gather(judged(items, false), maxResults);
  const { name, version } = tool;
  const driver = { name, version, semanticVersion: version, rules: rules.map(descriptorOf) };
  const run = {
    tool: { driver },
    columnKind: "utf16CodeUnits",
    originalUriBaseIds: { SRCROOT: { description: { text: "the root of the repository" } } },
    invocations: [invocationOf(report, total - shown.length, prefix)],
    results: shown.map((each) => resultOf(each, indexes.get(each.rule ?? ""), prefix)),
  };
  const log = { $schema: schema, version: "2.1.0", runs: [run] };
  yield `${neutraliseJson(JSON.stringify(log, undefined, 1))}\n`;
}
