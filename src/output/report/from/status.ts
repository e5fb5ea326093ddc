import type { OrphanClass } from "../../../sync/orphans/orphan-classes.ts";
import type { Difference, DifferenceTable } from "../../../sync/status/differences.ts";
import { countOf, formatCount } from "../../terminal/progress.ts";
import { mapped, type Count, type Data, type Item, type Report } from "../report.ts";

type Result = Difference["result"];

/** Each result in words, in the order of lists. */
export const statusWords: Readonly<Record<Result, string>> = {
  new: "new",
  changed: "changed",
  failed: "failed last time",
  gone: "gone",
  "not-sent": "not sent",
  "gone-there": "gone there",
  extra: "extra",
  elsewhere: "elsewhere",
};
export const statusResults = Object.keys(statusWords) as Result[];

/** Counts by result, with --remote also of the service's list. */
export interface StatusSummary {
  unchanged: number;
  new: number;
  changed: number;
  failed: number;
  gone: number;
  /** The gone documents by class. */
  classes: Readonly<Record<OrphanClass, number>>;
  /** Files and folders that cannot be read. */
  unreadable: number;
  remote?: RemoteSummary;
}

/** `extra` is null if extra documents were not determined. */
export interface RemoteSummary {
  listed: number;
  "not-sent": number;
  "gone-there": number;
  extra: number | null;
  elsewhere: number;
}

/** What a comparison found. */
export interface StatusResult {
  summary: StatusSummary;
  list: DifferenceTable["list"];
}

/** The number of documents with a result; 0 where it was not determined. */
export function countIn({ summary }: StatusResult, result: Result): number {
  const { remote, ...local } = summary;
  const all: Partial<Record<Result, number | null>> = { ...local, ...remote };
  return all[result] ?? 0;
}

interface StatusDocument {
  id: string | null;
  path: string | null;
  result: Result;
  class: string | null;
  ccPairId: number | null;
}

function* documentsOf({ list }: StatusResult): Generator<StatusDocument> {
  for (const each of statusResults) {
    for (const { id, path = null, result, class: name = null, ccPairId = null } of list(each)) {
      yield { id: id === "" ? null : id, path, result, class: name, ccPairId };
    }
  }
}

/** The JSON that schema/status.schema.json describes. */
function dataOf(result: StatusResult): Data {
  const { remote, ...local } = result.summary;
  const head = { version: 1, command: "status", summary: { ...local, ...remote } };
  const items = mapped(
    () => documentsOf(result),
    (document) => document,
  );
  return { head, list: "documents", type: "document", items };
}

function itemOf({ id, path, result, class: name }: StatusDocument): Item {
  const word = statusWords[result];
  return {
    level: result === "failed" ? "error" : "note",
    test: result === "failed" ? "failed" : "skipped",
    word,
    group: name ?? word,
    title: `Differs: ${word}`,
    message: name === null ? word : `${word} (${name})`,
    path,
    id: id ?? undefined,
  };
}

const parts = {
  new: "new",
  changed: "changed",
  failed: "bad",
  gone: "left",
  "not-sent": "open",
  "gone-there": "open",
  extra: "open",
  elsewhere: "open",
} as const;

function countsOf(result: StatusResult): Count[] {
  const { unchanged, unreadable, remote } = result.summary;
  const shown = statusResults.slice(0, remote ? undefined : 4);
  return [
    { name: "unchanged", count: unchanged, tone: "soft", part: "same" },
    ...shown.map((name): Count => ({
      name: statusWords[name],
      count: countIn(result, name),
      tone: name === "failed" ? "bad" : "warn",
      part: parts[name],
    })),
    { name: "unreadable", count: unreadable, tone: "bad", part: "bad" },
  ];
}

function titleOf(result: StatusResult): string {
  const found = statusResults
    .map((name) => [countIn(result, name), statusWords[name]] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${formatCount(count)} ${word}`);
  const { unchanged } = result.summary;
  return found.length > 0 ? found.join(", ") : `${countOf(unchanged, "document")} unchanged`;
}

const isWhole = ({ unreadable }: StatusSummary): boolean => unreadable === 0;

/** The report of what differs. Its items are the documents that differ. */
export function statusReport(result: StatusResult): Report {
  const differ = statusResults.some((name) => countIn(result, name) > 0);
  const isSuccess = isWhole(result.summary);
  const word = !isSuccess ? "Incomplete" : differ ? "Differences" : "No difference";
  return {
    command: "status",
    verdict: { word, tone: !isSuccess ? "bad" : differ ? "warn" : "ok" },
    title: titleOf(result),
    facts: [],
    notes: [],
    counts: countsOf(result),
    items: mapped(() => documentsOf(result), itemOf),
    isOrdered: true,
    blocks: ["items"],
    rules: [],
    tallies: [],
    properties: {},
    measures: { isSuccess },
    data: dataOf(result),
  };
}
