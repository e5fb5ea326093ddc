import type { ReportCounts, ReportFailure, ReportHead, RunReport } from "./record.ts";
import { createThroughput } from "./throughput.ts";
import { tool } from "./tool.ts";

const slowestKept = 20;
const renamedKept = 1000;
const reasonsKept = 1000;
const otherReasons = "other reasons";

/** What became of one document or file. */
export interface ReportEvent {
  status: "created" | "updated" | "unchanged" | "skipped" | "failed";
  /** "" for what came from stdin; its row is the number of the line. */
  path: string;
  /** Number of the row in a file of rows. */
  row?: number | undefined;
  /** Line where that row begins, where the reason does not name it. */
  line?: number | undefined;
  id?: string | undefined;
  /** Time from reading to the answer. */
  ms?: number | undefined;
  /** Why it failed or was skipped. */
  reason?: string | undefined;
  retryable?: boolean | undefined;
  /** Status of the last answer. */
  httpStatus?: number | undefined;
}

/** What only the caller knows when the run ends. */
export interface RunEnd {
  status: RunReport["status"];
  /** User name, password, query and fragment are taken out of `baseUrl`. */
  target: { baseUrl: string; ccPairId: number | undefined };
  paths: readonly string[];
  /** The sets of options that shaped the documents; failures name them by position. */
  options: NonNullable<RunReport["options"]>;
  shard?: { index: number; count: number } | undefined;
  commit?: string | undefined;
  planned: number;
  sentBytes: number;
  requests: number;
  retries: number;
  throttled: number;
  /** Why the run stopped. */
  error?: string | undefined;
}

/** Collects a run in bounded memory; failures are handed on, since they may be many. */
export interface ReportCollector {
  /** So far. */
  readonly counts: Readonly<ReportCounts>;
  add(event: ReportEvent): void;
  /** Counts what has no event of its own, e.g. 90,000 unchanged documents. */
  count(name: keyof ReportCounts, count: number): void;
  rename(from: string, to: string): void;
  finish(end: RunEnd): ReportHead;
}

/** Place that a reason of the form `path:line:column: …` names. */
function placeIn(path: string, reason: string): { line?: number; column?: number } {
  if (!reason.startsWith(`${path}:`)) return {};
  const [, line, column] = /^:(\d{1,9})(?::(\d{1,9}))?:/.exec(reason.slice(path.length)) ?? [];
  return {
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(column === undefined ? {} : { column: Number(column) }),
  };
}

/** The failure of an event of status `failed`; members that are not known are left out. */
export function failureOf(event: ReportEvent): ReportFailure {
  const { row, id, reason = "", httpStatus } = event;
  const isGiven = event.path === "";
  const path = isGiven ? "stdin" : event.path;
  const { line = isGiven ? row : event.line, column } = placeIn(path, reason);
  return {
    path,
    ...(row === undefined ? {} : { row }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(id === undefined || id === "" ? {} : { id }),
    reason,
    retryable: event.retryable === true,
    ...(httpStatus === undefined ? {} : { status: httpStatus }),
  };
}

/** Keeps the `slowestKept` longest of all that is offered, longest first. */
function createSlowest() {
  const kept: RunReport["slowest"] = [];
  return {
    kept,
    offer({ path, id, ms = 0 }: ReportEvent): void {
      const last = kept.at(-1);
      if (kept.length === slowestKept && last && ms <= last.ms) return;
      if (kept.length === slowestKept) kept.pop();
      const place = kept.findIndex((each) => each.ms < ms);
      const record = { path, ...(id === undefined ? {} : { id }), ms: Math.max(0, ms) };
      kept.splice(place < 0 ? kept.length : place, 0, record);
    },
  };
}

/** Counts by reason; past `reasonsKept` different ones the rest count as one. */
export function createReasons(): {
  add(reason: string, count: number): void;
  list(): { reason: string; count: number }[];
} {
  const reasons = new Map<string, number>();
  return {
    add(reason, count) {
      const name = reasons.has(reason) || reasons.size < reasonsKept ? reason : otherReasons;
      reasons.set(name, (reasons.get(name) ?? 0) + count);
    },
    list: () =>
      [...reasons]
        .map(([reason, count]) => ({ reason, count }))
        .toSorted((a, b) => b.count - a.count),
  };
}

/** Origin and path alone: a report is passed around. */
function cleanUrl(url: string): string {
  if (!URL.canParse(url)) return "";
  const { origin, protocol, host, pathname } = new URL(url);
  return `${origin === "null" ? `${protocol}//${host}` : origin}${pathname}`.replace(/\/$/, "");
}

/**
 * Starts the record of a run. Each failure goes to `onFailure` at once and is
 * not kept here. `now` is milliseconds since the epoch.
 */
export function createReportCollector(
  now: () => number,
  onFailure: (failure: ReportFailure) => void,
  startedAtMs = now(),
): ReportCollector {
  const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, renamed: 0 };
  const throughput = createThroughput();
  const slowest = createSlowest();
  const reasons = createReasons();
  const renamed: RunReport["renamed"] = [];
  const takeSent = (event: ReportEvent): void => {
    const isFailed = event.status === "failed";
    throughput.add((now() - startedAtMs) / 1000, isFailed ? 0 : 1, isFailed ? 1 : 0);
    // What failed before it had an id was never sent.
    if (event.ms !== undefined && event.id !== "") slowest.offer(event);
  };
  return {
    counts,
    add(event) {
      counts[event.status]++;
      if (event.status === "skipped") reasons.add(event.reason ?? "", 1);
      else if (event.status !== "unchanged") takeSent(event);
      if (event.status === "failed") onFailure(failureOf(event));
    },
    count(name, count) {
      counts[name] += count;
    },
    rename(from, to) {
      counts.renamed++;
      if (renamed.length < renamedKept) renamed.push({ from, to });
    },
    finish({ target, paths, options, shard, commit, error, ...end }) {
      const finishedAtMs = Math.max(startedAtMs, now());
      return {
        version: 2,
        type: "ingest-report",
        tool,
        status: end.status,
        startedAt: new Date(startedAtMs).toISOString(),
        finishedAt: new Date(finishedAtMs).toISOString(),
        seconds: (finishedAtMs - startedAtMs) / 1000,
        target: { baseUrl: cleanUrl(target.baseUrl), ccPairId: target.ccPairId ?? null },
        options,
        paths: [...paths],
        shard: shard ?? null,
        ...(commit === undefined ? {} : { commit }),
        counts: { ...counts },
        planned: end.planned,
        sentBytes: end.sentBytes,
        requests: end.requests,
        retries: end.retries,
        throttled: end.throttled,
        ...(error === undefined ? {} : { error }),
        throughput: throughput.result(),
        slowest: [...slowest.kept],
        skipped: reasons.list(),
        renamed,
      };
    },
  };
}
