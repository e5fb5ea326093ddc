import { posix } from "node:path";
import { neutralise } from "../terminal/neutralise.ts";
import { countOf } from "../terminal/progress.ts";
import type { ReportFailure, ReportHead, ReportLost } from "./record.ts";
import { countWord } from "./text.ts";

// XML 1.0 allows no control characters, surrogates, U+FFFE, U+FFFF: https://www.w3.org/TR/xml/#charsets
export function xmlText(text: string): string {
  return neutralise(text)
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

// XML parsers turn a raw newline or tab in an attribute into a space.
function attribute(name: string, value: string | number | undefined): string {
  if (value === undefined) return "";
  const text = xmlText(String(value))
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;")
    .replaceAll("\t", "&#9;");
  return ` ${name}="${text}"`;
}

type Values = Readonly<Record<string, string | number | undefined>>;

export function attributes(values: Values): string {
  return Object.entries(values)
    .map(([name, value]) => attribute(name, value))
    .join("");
}

/** The properties of a suite, without the undefined ones. */
export function properties(values: Values): string {
  const lines = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `      <property${attributes({ name, value })}/>\n`);
  return `    <properties>\n${lines.join("")}    </properties>\n`;
}

/** The test with an error of a run that did not finish. */
export function stopCase(classname: string, reason: string): string {
  const opening = attributes({ classname, name: "the run finished", time: 0 });
  const message = attributes({ message: reason, type: "stopped" });
  return `    <testcase${opening}><error${message}>${xmlText(reason)}</error></testcase>\n`;
}

/** A time in ISO 8601 as JUnit has it: without fractions and zone. */
export const timestampOf = (iso: string): string => iso.replace(/(?:\.\d+)?Z$/, "");

/** Folder of a document as a package name of a test report. */
function classOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === "." ? "ingest" : `ingest.${folder.replaceAll("/", ".")}`;
}

const passedGroups = ["created", "updated", "unchanged"] as const;

function groupCases(head: ReportHead): string[] {
  const { counts, skipped } = head;
  const passed = passedGroups
    .filter((name) => counts[name] > 0)
    .map((name) => {
      const title = `${countOf(counts[name], "document")} ${countWord(head, name)}`;
      return `    <testcase${attributes({ classname: "ingest", name: title, time: 0 })}/>\n`;
    });
  const skippedCases = skipped.map(({ reason, count }) => {
    const title = `${countOf(count, "file")} skipped: ${reason}`;
    const opening = attributes({ classname: "ingest", name: title, time: 0 });
    return `    <testcase${opening}><skipped${attribute("message", reason)}/></testcase>\n`;
  });
  return [...passed, ...skippedCases];
}

/** Why the run did not finish; undefined if it finished. */
function stopReason(head: ReportHead): string | undefined {
  if (head.error !== undefined) return head.error;
  if (head.status === "interrupted") return "the run was interrupted";
  const missing = head.merged?.missing ?? [];
  if (missing.length > 0) return `missing reports of shards: ${missing.join(", ")}`;
  return head.status === "error" ? "the run stopped" : undefined;
}

function failureCase({ path, id, line, reason, retryable, status }: ReportFailure): string {
  const opening = attributes({
    classname: classOf(path),
    name: id === undefined || id === path ? path : `${path} (${id})`,
    file: path,
    line,
    time: 0,
  });
  const type = status === undefined ? (retryable ? "retryable" : "document") : `HTTP ${status}`;
  const failure = attributes({ message: reason, type });
  return `    <testcase${opening}><failure${failure}>${xmlText(reason)}</failure></testcase>\n`;
}

/** A document that was sent, and that the index does not hold as sent. */
function lostCase({ path, id, result, reason }: ReportLost): string {
  const place = path ?? "stdin";
  const name = id === path ? id : `${place} (${id})`;
  const opening = attributes({ classname: classOf(place), name, file: place, time: 0 });
  const failure = attributes({ message: `${result}: ${reason}`, type: result });
  return `    <testcase${opening}><failure${failure}>${xmlText(reason)}</failure></testcase>\n`;
}

function headProperties(head: ReportHead): string {
  const { counts, target, shard, commit, tool } = head;
  return properties({
    ...counts,
    planned: head.planned,
    requests: head.requests,
    retries: head.retries,
    throttled: head.throttled,
    sentBytes: head.sentBytes,
    status: head.status,
    baseUrl: target.baseUrl,
    profile: target.profile,
    ccPairId: target.ccPairId ?? undefined,
    shard: shard ? `${shard.index}/${shard.count}` : undefined,
    commit,
    tool: `${tool.name} ${tool.version}`,
  });
}

/**
 * The run as JUnit XML in pieces. Each failed document is a failed test with file and
 * line, and so is each document that `--verify` did not find as sent. A million passed tests would hide it, so each non-zero count is one passed
 * test ("20,000 documents created") and each skip reason one skipped test. A run that
 * stopped has one test with an error. `tests` counts test cases; the properties count
 * documents.
 */
export function* junitReport(
  head: ReportHead,
  failures: Iterable<ReportFailure>,
): Generator<string> {
  const groups = groupCases(head);
  const stop = stopReason(head);
  const { lost = [] } = head;
  const failed = head.counts.failed + lost.length;
  const totals = {
    tests: groups.length + failed + (stop === undefined ? 0 : 1),
    failures: failed,
    errors: stop === undefined ? 0 : 1,
    skipped: head.skipped.length,
    time: head.seconds.toFixed(3),
  };
  const name = "knowctl ingest";
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes({ name, ...totals })}>\n`;
  const timestamp = timestampOf(head.startedAt);
  yield `  <testsuite${attributes({ name, ...totals, timestamp })}>\n${headProperties(head)}`;
  yield* groups;
  if (stop !== undefined) yield stopCase("ingest", stop);
  for (const failure of failures) yield failureCase(failure);
  for (const each of lost) yield lostCase(each);
  yield "  </testsuite>\n</testsuites>\n";
}
