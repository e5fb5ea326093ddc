import { countOf, formatCount } from "../../terminal/progress.ts";
import { mapped, type Item, type Report } from "../report.ts";
import type { Traffic } from "../stored/collector.ts";

/** A document of a removal, as lists have it. */
export interface RemovalRow {
  /** `deleted`, `tombstoned`, `failed`, `kept`; any other: the run ended before. */
  status: string;
  path: string | null;
  id: string;
  class: string;
  reason: string;
}

export interface Removal {
  rows: () => Iterable<RemovalRow>;
  traffic: Traffic | undefined;
}

const removed: ReadonlySet<string> = new Set(["deleted", "tombstoned"]);

type Word = "removed" | "failed" | "kept" | "left";

function wordOf({ status }: RemovalRow): Word {
  if (removed.has(status)) return "removed";
  return status === "failed" || status === "kept" ? status : "left";
}

const levels = { removed: "fine", failed: "error", kept: "note", left: "warning" } as const;
const tests = { removed: "passed", failed: "failed", kept: "skipped", left: "error" } as const;

function itemOf(row: RemovalRow): Item {
  const word = wordOf(row);
  const { path, id, class: name, reason } = row;
  return {
    level: levels[word],
    test: tests[word],
    word,
    group: name,
    title: word === "failed" ? "Not removed" : `Document ${word}`,
    message: reason || name,
    path,
    id,
  };
}

/** The report of a removal. Its items are the documents that were to be removed. Texts are redacted. */
export function removalReport({ rows, traffic }: Removal): Report {
  const summary = { removed: 0, failed: 0, kept: 0, left: 0 };
  for (const row of rows()) summary[wordOf(row)]++;
  const isSuccess = summary.failed + summary.kept + summary.left === 0;
  const status = isSuccess ? "ok" : "partial";
  const failed = summary.failed > 0 ? `, ${formatCount(summary.failed)} failed` : "";
  return {
    command: "prune",
    verdict: { word: isSuccess ? "Removed" : "Incomplete", tone: isSuccess ? "ok" : "warn" },
    title: `${countOf(summary.removed, "document")} removed${failed}`,
    facts: [],
    notes: [],
    counts: [
      { name: "removed", count: summary.removed, tone: "soft", part: "changed" },
      { name: "failed", count: summary.failed, tone: "bad", part: "bad" },
      { name: "kept", count: summary.kept, tone: "soft", part: "left" },
      { name: "left", count: summary.left, tone: "warn", part: "open" },
    ],
    items: mapped(rows, itemOf),
    blocks: ["items"],
    rules: [],
    tallies: [],
    properties: { ...summary },
    measures: { isSuccess, ...(traffic && { traffic }) },
    data: {
      head: { version: 1, command: "prune", status, summary },
      list: "documents",
      type: "document",
      items: mapped(rows, (row) => row),
    },
  };
}
