import type { VerifiedDocument, VerifyResult } from "../../../checks/verify/decide.ts";
import { checkMembers, sampleOf, type FormatOptions } from "../../formats/formats.ts";
import { VerifyReport } from "../stored/checks.ts";
import type { Traffic } from "../stored/collector.ts";
import { countOf, formatCount } from "../../terminal/progress.ts";
import type { Count, Item, Report } from "../report.ts";
import { verifiedItem, verifyResults, wordOf, type VerifyCounts } from "./verified.ts";

/** The counts for people: `40 current, 2 missing`. */
export function countsText(counts: VerifyCounts): string {
  const parts = verifyResults
    .filter((name) => counts[name] > 0)
    .map((name) => `${formatCount(counts[name])} ${wordOf(name)}`);
  return parts.join(", ") || "nothing checked";
}

/** A finished check. */
export interface VerifyRun {
  status: VerifyReport["status"];
  /** With `--expect hidden`: the status and exit code count `hidden` as right. */
  expected?: "hidden" | undefined;
  summary: VerifyCounts & { documents: number };
  documents: readonly VerifiedDocument[];
  /** Files that could not be read, with the reason: their documents were not checked. */
  unread: readonly string[];
  /** Number of documents that a stopped check did not reach. */
  unchecked: number;
  traffic?: Traffic | undefined;
  /** Whether a document is as expected. */
  isFine: (document: VerifiedDocument) => boolean;
}

const unreadItem = (reason: string): Item => ({
  level: "error",
  test: "error",
  word: "not read",
  group: "not read",
  title: "Not checked",
  message: reason,
  path: null,
  name: reason,
});

const wanted: ReadonlySet<VerifyResult> = new Set(["current", "present"]);

function countsOf(counts: VerifyCounts, expected: VerifyRun["expected"]): Count[] {
  return verifyResults.map((name) => {
    const isFine = expected === "hidden" ? name === "hidden" : wanted.has(name);
    const [tone, part] = isFine
      ? (["ok", "new"] as const)
      : name === "unknown"
        ? (["warn", "open"] as const)
        : (["bad", "bad"] as const);
    return { name: wordOf(name), count: counts[name], tone, part };
  });
}

const verdicts: Readonly<Record<VerifyReport["status"], Report["verdict"]>> = {
  passed: { word: "Passed", tone: "ok" },
  failed: { word: "Failed", tone: "bad" },
  partial: { word: "Incomplete", tone: "warn" },
};

/** The report of a check. Its items are the documents that are not as expected, or all of them. */
export function verifyReport(run: VerifyRun, hasAll = false): Report {
  const { status, expected, summary, documents, unread, unchecked, isFine } = run;
  const left = unchecked > 0 ? `${countOf(unchecked, "document")} not checked` : "";
  const bad = documents.filter((each) => !isFine(each));
  const fine = summary.documents - bad.length;
  return {
    command: "verify",
    verdict: verdicts[status],
    title: [countsText(summary), left].filter(Boolean).join(", "),
    facts: [
      countOf(summary.documents, "document"),
      ...(unread.length > 0 ? [`${countOf(unread.length, "file")} not read`] : []),
    ],
    stopped: left === "" ? undefined : left,
    notes: [],
    counts: countsOf(summary, expected),
    items: [
      ...(hasAll ? documents : bad).map((each) => verifiedItem(each, isFine(each))),
      ...unread.map(unreadItem),
    ],
    blocks: ["items"],
    rules: [],
    tallies: fine > 0 ? [{ name: `${formatCount(fine)} as expected` }] : [],
    properties: summary,
    measures: { isSuccess: status === "passed", ...(run.traffic && { traffic: run.traffic }) },
    data: {
      head: { version: 1, command: "verify", status, ...(expected && { expected }), summary },
      list: "documents",
      type: "verified",
      items: documents,
    },
  };
}

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any request. */
export function checkVerifyFormat(options: FormatOptions & { expect?: "hidden" }): void {
  const { expected, ...sample } = sampleOf(VerifyReport) as Record<string, unknown>;
  checkMembers(options, options.expect ? { ...sample, expected } : sample);
}
