import { usageError } from "../../../errors.ts";
import {
  createReasons,
  maxLost,
  maxSent,
  sentMember,
  createThroughput,
  sumTraffic,
} from "./collector.ts";
import {
  mostShards,
  type ReportCounts,
  type RunIdentity,
  type RunReport,
  type RunSummary,
} from "./record.ts";
import { worstStatus } from "../text.ts";
import { tool } from "../tool.ts";

/** A report and the name of its file. */
export interface NamedReport {
  name: string;
  report: RunReport;
}

/** What all reports say of their run. */
function identityOf(reports: readonly RunReport[]): RunIdentity {
  const names = ["run", "host", "commit"] as const;
  const values = names.map((name) => [name, common(reports.map((each) => each[name]))] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** The runs of a report; a merged report lists its runs. */
function runsOf(report: RunReport): RunSummary[] {
  const { shard, status, startedAt, seconds, counts, merged } = report;
  return merged
    ? merged.runs
    : [{ shard, ...identityOf([report]), status, startedAt, seconds, counts }];
}

function checkTargets(reports: readonly NamedReport[]): void {
  const [first] = reports;
  const other = reports.find(
    ({ report }) => report.target.baseUrl !== first?.report.target.baseUrl,
  );
  if (!first || !other) return;
  throw usageError(
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
  const division = (of?: number): string =>
    of === undefined ? "without shards" : `of ${of} shards`;
  const seen = new Map<number, string>();
  for (const { name, shard } of all) {
    if (shard?.count !== count) {
      throw usageError(
        `${first?.name} and ${name} are reports of different runs: ${division(count)} and ${division(shard?.count)}`,
        "merge the shards of one run, or runs without shards",
      );
    }
    if (!shard) continue;
    if (shard.index > shard.count) {
      const problem = `there is no shard ${shard.index} of ${shard.count}`;
      throw usageError(`${name}: ${problem}`, "check the member `shard` of the file");
    }
    const earlier = seen.get(shard.index);
    if (earlier !== undefined) {
      throw usageError(
        `shard ${shard.index} of ${shard.count} is in two reports: ${earlier} and ${name}`,
        "name one report for each shard; if a shard was run again, only its last report",
      );
    }
    seen.set(shard.index, name);
  }
  if (count === undefined) return { shards: null, missing: [] };
  if (count > mostShards)
    throw usageError(`${first?.name}: too many shards`, "use at most 100,000");
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return { shards: count, missing: numbers.filter((index) => !seen.has(index)) };
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
  const sum: ReportCounts = {
    created: 0,
    updated: 0,
    unchanged: 0,
    skipped: 0,
    failed: 0,
    renamed: 0,
  };
  for (const { counts } of reports) {
    for (const [name, count] of Object.entries(counts) as [keyof ReportCounts, number][]) {
      sum[name] = (sum[name] ?? 0) + count;
    }
  }
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
  for (const { reason, count } of reports.flatMap(({ skipped }) => skipped)) {
    reasons.add(reason, count);
  }
  return reasons.list();
}

/** The options of all reports, and the failures with their positions in these. */
function mergeOptions(reports: readonly RunReport[]): Pick<RunReport, "options" | "failures"> {
  const positions = new Map<string, number>();
  const options: RunReport["options"] = [];
  const failures = reports.flatMap((report) => {
    const own = report.options.map((each) => {
      const key = JSON.stringify(each);
      const position = positions.get(key) ?? options.length;
      if (position === options.length) options.push(each);
      positions.set(key, position);
      return position;
    });
    return report.failures.map(({ options: at = 0, ...rest }) => {
      // A position that the report does not have stays one that none has.
      const position = own[at] ?? Number.MAX_SAFE_INTEGER;
      return position === 0 ? rest : { ...rest, options: position };
    });
  });
  return { options, failures };
}

/** Failures that the reports of a merge hold together: two million took 736 MB. */
export const mostFailures = 100_000;

/** The report with its first `most` failures; the others are counted. */
export function withFirstFailures(report: RunReport, most: number): RunReport {
  const { failures, failuresLeftOut = 0, ...head } = report;
  const kept = failures.slice(0, most);
  const leftOut = failuresLeftOut + failures.length - kept.length;
  return { ...head, ...(leftOut > 0 && { failuresLeftOut: leftOut }), failures: kept };
}

/**
 * Merges the reports of all shards: adds the counts and the throughput, takes the
 * earliest start, the latest end and the worst status. If shards are missing, the
 * status is at least `partial`. Throws CliError `usage` for a repeated shard and for
 * reports of different services or with different shard counts.
 */
export function mergeReports(named: readonly NamedReport[]): RunReport {
  checkTargets(named);
  const division = checkShards(named);
  const reports = named.map(({ report }) => report);
  const startMs = Math.min(...reports.map(({ startedAt }) => Date.parse(startedAt)));
  const endMs = Math.max(...reports.map(({ finishedAt }) => Date.parse(finishedAt)));
  const whole = division.missing.length > 0 ? "partial" : "ok";
  const error = mergedError(named);
  const { options, failures } = mergeOptions(reports);
  const counts = sumCounts(reports);
  const sent = reports.flatMap((report) => report.sent?.documents ?? []).slice(0, maxSent);
  const lost = reports.flatMap((report) => report.lost ?? []).slice(0, maxLost);
  const sumOf = (name: "planned" | "sentBytes"): number =>
    reports.reduce((sum, report) => sum + report[name], 0);
  const leftOut = reports.reduce((sum, report) => sum + (report.failuresLeftOut ?? 0), 0);
  return {
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
    options,
    paths: [...new Set(reports.flatMap(({ paths }) => paths))],
    shard: null,
    ...identityOf(reports),
    counts,
    planned: sumOf("planned"),
    sentBytes: sumOf("sentBytes"),
    ...sumTraffic(reports),
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
      runs: reports
        .flatMap(runsOf)
        .toSorted((a, b) => (a.shard?.index ?? 0) - (b.shard?.index ?? 0)),
    },
    ...sentMember(sent, counts),
    ...(lost.length === 0 ? {} : { lost }),
    ...(leftOut === 0 ? {} : { failuresLeftOut: leftOut }),
    failures,
  };
}
