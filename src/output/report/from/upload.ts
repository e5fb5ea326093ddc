import { formatCount, countOf } from "../../terminal/progress.ts";
import {
  mapped,
  type Count,
  type Item,
  type Report,
  type Table,
  type Tally,
  type Tone,
  asPath,
  asNumber,
  asDrawing,
} from "../report.ts";
import type { ReportCounts, ReportFailure, ReportHead, RunStatus } from "../stored/record.ts";
import {
  bareReason,
  countWord,
  dateText,
  formatBytes,
  formatRate,
  formatTime,
  missingText,
  refusedRow,
  statusText,
} from "../text.ts";
import { verifiedItem } from "./verified.ts";

const tones: Readonly<Record<RunStatus, Tone>> = {
  ok: "ok",
  partial: "warn",
  error: "bad",
  interrupted: "warn",
};

/** The id, unless it is only a prefix and the path. */
function ownId(path: string, id: string | undefined): string | undefined {
  return id === undefined || id.endsWith(path) ? undefined : id;
}

/** Folder of a document as a package of tests. */
function suiteOf(path: string): string | undefined {
  const end = path.lastIndexOf("/");
  return end < 0 ? undefined : path.slice(0, end).replaceAll("/", ".");
}

/** The reason without the path and id of the failure, to group by. */
function causeOf(failure: ReportFailure): string {
  let reason = bareReason(failure);
  for (const own of [failure.path, failure.id ?? ""]) {
    // A short name may be a part of a word.
    if (own.length > 3) reason = reason.replaceAll(own, "…");
  }
  return reason;
}

function failureItem(failure: ReportFailure): Item {
  const { path, line, column, id, status, retryable } = failure;
  return {
    level: "error",
    test: "failed",
    word: "failed",
    group: causeOf(failure),
    title: "Not uploaded",
    message: refusedRow(failure) + bareReason(failure),
    path,
    line,
    column,
    id: ownId(path, id),
    suite: suiteOf(path),
    tags: [
      ...(status === undefined ? [] : [`HTTP ${status}`]),
      ...(retryable ? ["may succeed later"] : []),
    ],
    isPassing: retryable,
  };
}

function* itemsOf({ lost = [] }: ReportHead, failures: Iterable<Item>): Generator<Item> {
  yield* failures;
  for (const each of lost) {
    const path = each.path ?? "stdin";
    yield { ...verifiedItem({ ...each, path }, false), suite: suiteOf(path) };
  }
}

const parts = [
  ["created", "new"],
  ["updated", "changed"],
  ["unchanged", "same"],
  ["skipped", "left"],
  ["failed", "bad"],
] as const;

function countsOf(head: ReportHead): Count[] {
  const { counts } = head;
  const tone = (name: keyof ReportCounts): Tone => (name === "failed" ? "bad" : "soft");
  return [
    ...parts.map(([name, part]) => ({
      name: countWord(head, name),
      count: counts[name],
      tone: counts[name] > 0 && name === "created" ? ("ok" as const) : tone(name),
      part,
    })),
    { name: "renamed", count: counts.renamed, tone: "soft" },
    ...(counts.verified === undefined
      ? []
      : [{ name: "verified", count: counts.verified, tone: "ok" as const }]),
  ];
}

function isUnfinished({ status, planned }: ReportHead): boolean {
  return planned > 0 && (status === "error" || status === "interrupted");
}

function titleOf(head: ReportHead): string {
  const { counts, planned, dryRun } = head;
  const sent = counts.created + counts.updated;
  const part = isUnfinished(head) ? `${formatCount(sent)} of ` : "";
  const documents = countOf(part === "" ? sent : planned, "document");
  const failed = counts.failed > 0 ? `, ${formatCount(counts.failed)} failed` : "";
  return `${part}${documents} ${dryRun ? "to send" : "sent"}${failed}`;
}

function factsOf(head: ReportHead): string[] {
  const { target, sentBytes, requests, retries, shard, merged } = head;
  const runs = merged?.runs.length ?? 0;
  return [
    target.baseUrl,
    ...(target.ccPairId === null ? [] : [`pair ${target.ccPairId}`]),
    ...(target.profile === "" ? [] : [`profile ${target.profile}`]),
    `${formatBytes(sentBytes)} in ${countOf(requests, "request")}`,
    ...(retries > 0 ? [countOf(retries, "retry", "retries")] : []),
    ...(shard ? [`shard ${shard.index} of ${shard.count}`] : []),
    ...(!merged
      ? []
      : merged.shards === null
        ? [`${countOf(runs, "run")} merged`]
        : [`${formatCount(runs)} of ${countOf(merged.shards, "shard")} merged`]),
    ...(["run", "host", "commit"] as const)
      .filter((name) => head[name] !== undefined)
      .map((name) => `${name} ${head[name]}`),
  ];
}

/** Why the run did not finish; undefined if it finished. */
function stopReason(head: ReportHead): string | undefined {
  if (head.error !== undefined) return head.error;
  if (head.status === "interrupted") return "the run was interrupted";
  const missing = missingText(head.merged?.missing ?? [], head.merged?.shards ?? null);
  if (missing !== "") return missing;
  return head.status === "error" ? "the run stopped" : undefined;
}

function notesOf(head: ReportHead): Report["notes"] {
  const { status, merged, error, counts, dryRun } = head;
  const missing = missingText(merged?.missing ?? [], merged?.shards ?? null);
  const tone = tones[status];
  const texts = [
    missing === "" ? "" : `Incomplete: ${missing}.`,
    error ?? (status === "interrupted" ? "The run was interrupted." : ""),
    isUnfinished(head) && !merged
      ? "Run the same command again: it sends only the remaining documents."
      : "",
  ];
  const notes = texts.filter((text) => text !== "").map((text) => ({ tone, text }));
  if (head.failuresLeftOut !== undefined) {
    const text = `${countOf(head.failuresLeftOut, "failed document")} left out: see the reports that were merged.`;
    notes.push({ tone, text });
  }
  if (counts.failed === 0 || dryRun) return notes;
  const again = "`knowctl retry` with the JSON report sends only the failed documents again.";
  return [...notes, { tone: "soft", text: again }];
}

function runsTable({ merged }: ReportHead): Table {
  const isSharded = merged?.shards !== null;
  const rows = (merged?.runs ?? []).map(({ shard, status, startedAt, counts, seconds }) => [
    shard ? `${shard.index} of ${shard.count}` : dateText(startedAt),
    status,
    ...parts.map(([name]) => formatCount(counts[name])),
    formatTime(seconds * 1000),
  ]);
  return {
    title: isSharded ? "Shards" : "Runs",
    columns: [
      { name: isSharded ? "shard" : "start" },
      { name: "status" },
      ...parts.map(([name]) => asNumber(name)),
      asNumber("time"),
    ],
    rows,
  };
}

function numbersTable(head: ReportHead): Table {
  const { counts, seconds, startedAt, finishedAt, planned, sentBytes, requests } = head;
  const rate = seconds > 0 ? (counts.created + counts.updated) / seconds : 0;
  const retried = `${formatCount(requests)}, of these ${countOf(head.retries, "retry", "retries")}; ${formatCount(head.throttled)} throttled`;
  const paths = head.paths.slice(0, 20).join(", ") || "as configured";
  return {
    title: "The run",
    columns: [{ name: "" }, { name: "" }],
    rows: [
      ["Start", dateText(startedAt)],
      ["End", dateText(finishedAt)],
      ["Planned", countOf(planned, "document")],
      ["Sent", formatBytes(sentBytes)],
      ["Mean rate", `${formatRate(rate)} documents per second`],
      ["Requests", retried],
      ["Paths", paths],
    ],
    isFolded: true,
  };
}

/** The accepted documents, new ones first. */
function sentTable({ sent, counts }: ReportHead): Table {
  const documents = sent?.documents ?? [];
  return {
    title: `${countOf(counts.created + counts.updated, "document")} created or updated`,
    columns: [{ name: "" }, asPath("document"), asPath("id")],
    rows: documents
      .toSorted((a, b) => (a.status < b.status ? -1 : a.status > b.status ? 1 : 0))
      .map(({ path, id, status }) => [status, path, ownId(path, id) ?? null]),
    leftOut: sent?.leftOut ?? 0,
    isFolded: true,
  };
}

function slowestTable({ slowest }: ReportHead): Table {
  const longest = slowest[0]?.ms ?? 0;
  return {
    title: "Slowest documents",
    columns: [asPath("document"), asDrawing(""), asNumber("time")],
    rows: slowest.map(({ path, id, ms }) => {
      const own = ownId(path, id);
      const share = longest > 0 ? ms / longest : 0;
      return [own === undefined ? path : `${path} (${own})`, { share }, formatTime(ms)];
    }),
    isFolded: true,
  };
}

function skippedTable({ skipped }: ReportHead): Table {
  return {
    title: "Skipped files",
    columns: [asNumber("files"), { name: "reason" }],
    rows: skipped.map(({ reason, count }) => [formatCount(count), reason]),
    isFolded: true,
  };
}

function renamedTable({ renamed, counts }: ReportHead): Table {
  return {
    title: countOf(counts.renamed, "renamed file"),
    columns: [asPath("from"), asPath("to")],
    rows: renamed.map(({ from, to }) => [from, to]),
    leftOut: counts.renamed - renamed.length,
    isFolded: true,
  };
}

function talliesOf(head: ReportHead): Tally[] {
  const { counts, skipped } = head;
  const passed = (["created", "updated", "unchanged"] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => ({ name: `${countOf(counts[name], "document")} ${countWord(head, name)}` }));
  const left = skipped.map(({ reason, count }) => ({
    name: `${countOf(count, "file")} skipped: ${reason}`,
    skipped: reason,
  }));
  return [...passed, ...left];
}

function propertiesOf(head: ReportHead): Report["properties"] {
  const { counts, target, shard, run, host, commit, tool } = head;
  return {
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
    run,
    host,
    commit,
    tool: `${tool.name} ${tool.version}`,
  };
}

/**
 * The report of an upload, also of a dry run and of merged runs. Each failed document is an item, and
 * so is each document that `--verify` did not find as sent. Each call of `failures` starts at the
 * first failure.
 */
export function uploadReport(head: ReportHead, failures: () => Iterable<ReportFailure>): Report {
  const failed = mapped(failures, failureItem);
  return {
    command: "ingest",
    verdict: { word: statusText(head), tone: tones[head.status] },
    title: titleOf(head),
    facts: factsOf(head),
    startedAt: head.startedAt,
    seconds: head.seconds,
    stopped: stopReason(head),
    notes: notesOf(head),
    counts: countsOf(head),
    items: { [Symbol.iterator]: () => itemsOf(head, failed) },
    blocks: [
      "items",
      { chart: head.throughput },
      runsTable(head),
      skippedTable(head),
      numbersTable(head),
      sentTable(head),
      slowestTable(head),
      renamedTable(head),
    ],
    rules: [],
    tallies: talliesOf(head),
    properties: propertiesOf(head),
    measures: {
      isSuccess: head.status === "ok",
      sentBytes: head.sentBytes,
      traffic: head,
      endedAtMs: Date.parse(head.finishedAt),
      seconds: head.seconds,
    },
    data: {
      head,
      list: "failures",
      type: "failure",
      items: mapped(failures, (failure) => failure),
    },
  };
}
