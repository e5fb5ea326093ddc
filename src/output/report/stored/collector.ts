import type { Throughput, ReportCounts, ReportFailure, ReportHead, RunReport } from "./record.ts";
import type { VerifiedDocument } from "../../../checks/verify/decide.ts";
import { tool } from "../tool.ts";

/** Maximum buckets of a chart; a run that needs more doubles their width. */
const maxBuckets = 600;

/** Counts of documents over time, in bounded memory for any duration. */
export interface ThroughputCounter {
  /** `second`: time since the start of the run; negative values count as 0. */
  add(second: number, documents: number, failed: number): void;
  result(): Throughput;
}

/** Starts with buckets of `bucketSeconds`. */
export function createThroughput(bucketSeconds = 1): ThroughputCounter {
  let width = bucketSeconds;
  let buckets: { documents: number; failed: number }[] = [];
  const addTo = (index: number, documents: number, failed: number): void => {
    while (buckets.length <= index) buckets.push({ documents: 0, failed: 0 });
    const bucket = buckets[index]!;
    bucket.documents += documents;
    bucket.failed += failed;
  };
  return {
    add(second, documents, failed) {
      const time = Number.isFinite(second) ? Math.max(0, second) : 0;
      while (time / width >= maxBuckets) {
        width *= 2;
        const narrow = buckets;
        buckets = [];
        for (const [at, each] of narrow.entries()) addTo(at >> 1, each.documents, each.failed);
      }
      addTo(Math.floor(time / width), documents, failed);
    },
    result: () => ({
      bucketSeconds: width,
      buckets: buckets.map((each, index) => ({ second: index * width, ...each })),
    }),
  };
}

const maxSlowest = 20;
const maxRenamed = 1000;
export const maxSent = 1000;
const maxReasons = 1000;
export const maxLost = 1000;
const otherReasons = "other reasons";

/** Result of one document or file. */
interface ReportEvent {
  status: "created" | "updated" | "unchanged" | "skipped" | "failed";
  /** "" for a document from stdin; `row` is then its line number. */
  path: string;
  /** Row number in a file of rows. */
  row?: number | undefined;
  /** First line of that row, if the reason does not name it. */
  line?: number | undefined;
  id?: string | undefined;
  /** Time from reading the file to the response. */
  ms?: number | undefined;
  /** Why the document failed or was skipped. */
  reason?: string | undefined;
  retryable?: boolean | undefined;
  /** HTTP status of the last response. */
  httpStatus?: number | undefined;
}

/** The requests of a run. */
export type Traffic = Pick<
  RunReport,
  "requests" | "retries" | "throttled" | "statuses" | "waitedSeconds"
>;

/** The sum of the requests of several runs; of none, zeros. */
export function sumTraffic(all: readonly Traffic[]): Traffic {
  const sum = { requests: 0, retries: 0, throttled: 0, waitedSeconds: 0 };
  const statuses = new Map<string, number>();
  for (const each of all) {
    for (const name of ["requests", "retries", "throttled", "waitedSeconds"] as const) {
      sum[name] += each[name];
    }
    for (const [status, count] of Object.entries(each.statuses)) {
      statuses.set(status, (statuses.get(status) ?? 0) + count);
    }
  }
  return { ...sum, statuses: Object.fromEntries(statuses) };
}

/** Facts that the caller adds when the run ends. */
export interface RunEnd extends Pick<
  RunReport,
  "status" | "options" | "planned" | "sentBytes" | keyof Traffic | "run" | "host" | "commit"
> {
  /** The report omits user name, password, query and fragment of `baseUrl`. */
  target: { baseUrl: string; profile: string; ccPairId: number | undefined };
  paths: readonly string[];
  shard?: RunReport["shard"] | undefined;
  /** Why the run stopped. */
  error?: string | undefined;
}

/** Collects a run in bounded memory; passes on each failure, as there may be many. */
interface ReportCollector {
  /** Current counts. */
  readonly counts: Readonly<ReportCounts>;
  add(event: ReportEvent): void;
  /** Counts documents without an event each, e.g. 90,000 unchanged ones. */
  count(name: Exclude<keyof ReportCounts, "verified">, count: number): void;
  rename(from: string, to: string): void;
  /** A check of `--verify`: counts current documents, keeps the first ones that are not. */
  verify(document: VerifiedDocument): void;
  finish(end: RunEnd): ReportHead;
}

/** Line and column from a reason of the form `path:line:column: …`. */
function placeIn(path: string, reason: string): { line?: number; column?: number } {
  if (!reason.startsWith(`${path}:`)) return {};
  const [, line, column] = /^:(\d{1,9})(?::(\d{1,9}))?:/.exec(reason.slice(path.length)) ?? [];
  return {
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(column === undefined ? {} : { column: Number(column) }),
  };
}

/** The failure of an event with status `failed`, without unknown members. */
export function failureOf(event: ReportEvent): ReportFailure {
  const { row, id, reason = "", httpStatus } = event;
  const isStdin = event.path === "";
  const path = isStdin ? "stdin" : event.path;
  const { line = isStdin ? row : event.line, column } = placeIn(path, reason);
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

/** The member `sent` of a report; without one if nothing was accepted. */
export function sentMember(
  documents: NonNullable<RunReport["sent"]>["documents"],
  { created, updated }: ReportCounts,
): Pick<RunReport, "sent"> {
  const count = created + updated;
  return count === 0 ? {} : { sent: { documents, leftOut: count - documents.length } };
}

/** Counts by reason; after `maxReasons` different reasons, further ones share one count. */
export function createReasons(): {
  add(reason: string, count: number): void;
  list(): { reason: string; count: number }[];
} {
  const reasons = new Map<string, number>();
  return {
    add(reason, count) {
      const name = reasons.has(reason) || reasons.size < maxReasons ? reason : otherReasons;
      reasons.set(name, (reasons.get(name) ?? 0) + count);
    },
    list: () =>
      [...reasons]
        .map(([reason, count]) => ({ reason, count }))
        .toSorted((a, b) => b.count - a.count),
  };
}

/** Only origin and path of a URL, because people share reports. */
function cleanUrl(url: string): string {
  if (!URL.canParse(url)) return "";
  const { origin, protocol, host, pathname } = new URL(url);
  return `${origin === "null" ? `${protocol}//${host}` : origin}${pathname}`.replace(/\/$/, "");
}

/**
 * Starts the report of a run. Each failure goes to `onFailure` at once and is
 * not stored here. `now` returns milliseconds since the epoch.
 */
export function createReportCollector(
  now: () => number,
  onFailure: (failure: ReportFailure) => void,
  startedAtMs = now(),
): ReportCollector {
  const counts: ReportCounts = {
    created: 0,
    updated: 0,
    unchanged: 0,
    skipped: 0,
    failed: 0,
    renamed: 0,
  };
  const throughput = createThroughput();
  const slowest: RunReport["slowest"] = [];
  const reasons = createReasons();
  const renamed: RunReport["renamed"] = [];
  const lost: NonNullable<RunReport["lost"]> = [];
  const accepted: NonNullable<RunReport["sent"]>["documents"] = [];
  const addSent = (event: ReportEvent): void => {
    const isFailed = event.status === "failed";
    throughput.add((now() - startedAtMs) / 1000, isFailed ? 0 : 1, isFailed ? 1 : 0);
    // A document that failed before it had an id was never sent.
    const { status, path, id = "", ms } = event;
    if (ms !== undefined && event.id !== "") {
      slowest.push({ path, ...(event.id === undefined ? {} : { id }), ms: Math.max(0, ms) });
      slowest.sort((a, b) => b.ms - a.ms).splice(maxSlowest);
    }
    if ((status === "created" || status === "updated") && accepted.length < maxSent) {
      accepted.push({ path: path === "" ? "stdin" : path, id, status });
    }
  };
  return {
    counts,
    add(event) {
      counts[event.status]++;
      if (event.status === "skipped") reasons.add(event.reason ?? "", 1);
      else if (event.status !== "unchanged") addSent(event);
      if (event.status === "failed") onFailure(failureOf(event));
    },
    count(name, count) {
      counts[name] += count;
    },
    rename(from, to) {
      counts.renamed++;
      if (renamed.length < maxRenamed) renamed.push({ from, to });
    },
    verify({ path, id, result, reason }) {
      counts.verified = (counts.verified ?? 0) + (result === "current" ? 1 : 0);
      if (result !== "current" && lost.length < maxLost) lost.push({ path, id, result, reason });
    },
    finish({ target, paths, shard, error, status, options, ...end }) {
      const finishedAtMs = Math.max(startedAtMs, now());
      return {
        version: 2,
        type: "ingest-report",
        tool,
        status,
        startedAt: new Date(startedAtMs).toISOString(),
        finishedAt: new Date(finishedAtMs).toISOString(),
        seconds: (finishedAtMs - startedAtMs) / 1000,
        target: {
          baseUrl: cleanUrl(target.baseUrl),
          profile: target.profile,
          ccPairId: target.ccPairId ?? null,
        },
        options,
        paths: [...paths],
        shard: shard ?? null,
        counts: { ...counts },
        ...end,
        ...(error === undefined ? {} : { error }),
        throughput: throughput.result(),
        slowest,
        skipped: reasons.list(),
        renamed,
        ...sentMember(accepted, counts),
        ...(lost.length === 0 ? {} : { lost }),
      };
    },
  };
}
