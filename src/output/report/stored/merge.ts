import { CliError } from "../../../errors.ts";
import { createReasons, maxLost, maxSent, sentMember } from "./collector.ts";
import {
  mostShards,
  type ReportCounts,
  type ReportFailure,
  type ReportHead,
  type RunReport,
  type RunSummary,
} from "./record.ts";
import { missingText, worstStatus } from "../text.ts";
import { createThroughput } from "./throughput.ts";
import { tool } from "../tool.ts";

/** A report and the name of its file. */
export interface NamedReport {
  name: string;
  report: RunReport;
}

function usage(message: string, hint: string): CliError {
  return new CliError("usage", message, { hints: [hint] });
}

/** The runs of a report; a merged report lists its runs. */
function runsOf({ shard, status, startedAt, seconds, counts, merged }: RunReport): RunSummary[] {
  return merged ? merged.runs : [{ shard, status, startedAt, seconds, counts }];
}

function checkTargets(reports: readonly NamedReport[]): void {
  const [first] = reports;
  const other = reports.find(
    ({ report }) => report.target.baseUrl !== first?.report.target.baseUrl,
  );
  if (!first || !other) return;
  throw usage(
    `${first.name} and ${other.name} are reports of different services: ${first.report.target.baseUrl} and ${other.report.target.baseUrl}`,
    "merge the reports of each service separately",
  );
}

/** Checks the shards; throws for a repeated shard and for different shard counts. */
function checkShards(reports: readonly NamedReport[]): {
  shards: number | null;
  missing: number[];
} {
  const all = reports.flatMap(({ name, report }) =>
    runsOf(report).map(({ shard }) => ({ name, shard })),
  );
  const [first] = all;
  const count = first?.shard?.count;
  const seen = new Map<number, string>();
  for (const { name, shard } of all) {
    if (shard?.count !== count) {
      throw usage(
        `${first?.name} and ${name} are reports of different runs: ${divisionText(count)} and ${divisionText(shard?.count)}`,
        "merge the shards of one run, or runs without shards",
      );
    }
    if (!shard) continue;
    if (shard.index > shard.count) {
      const problem = `there is no shard ${shard.index} of ${shard.count}`;
      throw usage(`${name}: ${problem}`, "check the member `shard` of the file");
    }
    const earlier = seen.get(shard.index);
    if (earlier !== undefined) {
      throw usage(
        `shard ${shard.index} of ${shard.count} is in two reports: ${earlier} and ${name}`,
        "name one report for each shard; if a shard was run again, only its last report",
      );
    }
    seen.set(shard.index, name);
  }
  if (count === undefined) return { shards: null, missing: [] };
  if (count > mostShards) throw usage(`${first?.name}: too many shards`, "use at most 100,000");
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return { shards: count, missing: numbers.filter((index) => !seen.has(index)) };
}

function divisionText(count: number | undefined): string {
  return count === undefined ? "without shards" : `of ${count} shards`;
}

function mergeThroughput(reports: readonly RunReport[], startMs: number): RunReport["throughput"] {
  const widest = Math.max(1, ...reports.map(({ throughput }) => throughput.bucketSeconds));
  const counter = createThroughput(widest);
  for (const { startedAt, throughput } of reports) {
    const offset = (Date.parse(startedAt) - startMs) / 1000;
    for (const { second, documents, failed } of throughput.buckets) {
      // Buckets rarely align with those of the merged report, so the middle of each one counts.
      counter.add(offset + second + throughput.bucketSeconds / 2, documents, failed);
    }
  }
  return counter.result();
}

function sumCounts(reports: readonly RunReport[]): ReportCounts {
  const sum = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0, renamed: 0 };
  for (const { counts } of reports) {
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += counts[name];
  }
  const verified = reports.flatMap(({ counts }) => counts.verified ?? []);
  if (verified.length === 0) return sum;
  return { ...sum, verified: verified.reduce((all, each) => all + each, 0) };
}

const summedMembers = ["planned", "sentBytes", "requests", "retries", "throttled"] as const;

function sumMembers(reports: readonly RunReport[]): Record<(typeof summedMembers)[number], number> {
  const sum = { planned: 0, sentBytes: 0, requests: 0, retries: 0, throttled: 0 };
  for (const report of reports) for (const name of summedMembers) sum[name] += report[name];
  return sum;
}

/** The common value, or undefined if the values differ. */
function common<Value>(values: readonly Value[]): Value | undefined {
  return values.every((value) => value === values[0]) ? values[0] : undefined;
}

function mergedError(reports: readonly NamedReport[]): string | undefined {
  const errors = reports.flatMap(({ name, report: { error, shard } }) =>
    error === undefined ? [] : [`${shard ? `shard ${shard.index}` : name}: ${error}`],
  );
  if (errors.length <= 5) return errors.length === 0 ? undefined : errors.join("\n");
  return [...errors.slice(0, 5), `and ${errors.length - 5} more`].join("\n");
}

function mergeReasons(reports: readonly RunReport[]): RunReport["skipped"] {
  const reasons = createReasons();
  for (const { skipped } of reports)
    for (const { reason, count } of skipped) reasons.add(reason, count);
  return reasons.list();
}

/**
 * Merges the reports of all shards: adds the counts and the throughput, takes the
 * earliest start, the latest end and the worst status. If shards are missing, the
 * status is at least `partial`. Throws CliError `usage` for a repeated shard and for
 * reports of different services or with different shard counts.
 */
export function mergeReports(named: readonly NamedReport[]): {
  head: ReportHead;
  failures: Iterable<ReportFailure>;
} {
  checkTargets(named);
  const division = checkShards(named);
  const reports = named.map(({ report }) => report);
  const startMs = Math.min(...reports.map(({ startedAt }) => Date.parse(startedAt)));
  const endMs = Math.max(...reports.map(({ finishedAt }) => Date.parse(finishedAt)));
  const whole = division.missing.length > 0 ? "partial" : "ok";
  const error = mergedError(named);
  const commit = common(reports.map((report) => report.commit));
  const runs = reports.flatMap(runsOf);
  const options = mergeOptions(reports);
  const counts = sumCounts(reports);
  const sent = reports.flatMap((report) => report.sent?.documents ?? []).slice(0, maxSent);
  const lost = reports.flatMap((report) => report.lost ?? []).slice(0, maxLost);
  const head: ReportHead = {
    version: 2,
    type: "ingest-report",
    tool,
    status: worstStatus([whole, ...reports.map(({ status }) => status)]),
    startedAt: new Date(startMs).toISOString(),
    finishedAt: new Date(endMs).toISOString(),
    seconds: Math.max(0, endMs - startMs) / 1000,
    target: {
      baseUrl: reports[0]?.target.baseUrl ?? "",
      profile: common(reports.map(({ target }) => target.profile)) ?? "",
      ccPairId: common(reports.map(({ target }) => target.ccPairId)) ?? null,
    },
    options: options.all,
    paths: [...new Set(reports.flatMap(({ paths }) => paths))],
    shard: null,
    ...(commit === undefined ? {} : { commit }),
    counts,
    ...sumMembers(reports),
    ...(error === undefined ? {} : { error }),
    throughput: mergeThroughput(reports, startMs),
    slowest: reports
      .flatMap(({ slowest }) => slowest)
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, 20),
    skipped: mergeReasons(reports),
    renamed: reports.flatMap(({ renamed }) => renamed).slice(0, 1000),
    merged: {
      ...division,
      runs: runs.toSorted((a, b) => (a.shard?.index ?? 0) - (b.shard?.index ?? 0)),
    },
    ...sentMember(sent, counts),
    ...(lost.length === 0 ? {} : { lost }),
  };
  return { head, failures: eachFailure(reports, options) };
}

interface MergedOptions {
  all: NonNullable<RunReport["options"]>;
  /** Maps a position in the options of a report to one in `all`; undefined if unknown. */
  positionOf: (report: RunReport, position: number) => number | undefined;
}

function mergeOptions(reports: readonly RunReport[]): MergedOptions {
  const positions = new Map<string, number>();
  const all: MergedOptions["all"] = [];
  const keyOf = (options: MergedOptions["all"][number]): string => JSON.stringify(options);
  for (const each of reports.flatMap(({ options = [] }) => options)) {
    if (positions.has(keyOf(each))) continue;
    positions.set(keyOf(each), all.length);
    all.push(each);
  }
  return {
    all,
    positionOf({ options = [] }, position) {
      const own = options[position];
      return own && positions.get(keyOf(own));
    },
  };
}

function* eachFailure(
  reports: readonly RunReport[],
  { positionOf, all }: MergedOptions,
): Generator<ReportFailure> {
  for (const report of reports) {
    for (const failure of report.failures) {
      // A position after the last means unknown options: a report of version 1.
      const position = positionOf(report, failure.options ?? 0) ?? all.length;
      const { options: _, ...rest } = failure;
      yield position === 0 ? rest : { ...rest, options: position };
    }
  }
}

/** Text about the missing shards of a merged report; empty if complete. */
export function missingShards({ merged }: ReportHead): string {
  return missingText(merged?.missing ?? [], merged?.shards ?? null);
}
