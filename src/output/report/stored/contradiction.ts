import { formatCount } from "../../terminal/progress.ts";
import type { ReportCounts, RunReport, RunStatus } from "./record.ts";

/** Why the status of a run is not the one that its counts prove; undefined if it is. */
function wrongStatus(status: RunStatus, counts: ReportCounts, error?: string): string | undefined {
  if (status === "ok" && counts.failed > 0) {
    return `the status is ok, and ${formatCount(counts.failed)} failed`;
  }
  return status === "ok" && error !== undefined
    ? "the status is ok, and an error stopped the run"
    : undefined;
}

function wrongRuns({ merged, status, counts }: RunReport): string | undefined {
  if (merged === undefined) return undefined;
  for (const name of ["created", "updated", "unchanged", "skipped", "failed"] as const) {
    const sum = merged.runs.reduce((all, run) => all + run.counts[name], 0);
    if (sum === counts[name]) continue;
    return `${formatCount(counts[name])} ${name}, and ${formatCount(sum)} in its runs`;
  }
  if (status !== "ok") return undefined;
  const open = merged.runs.find((run) => run.status !== "ok");
  if (open) return `the status is ok, and that of a run is ${open.status}`;
  return merged.missing.length > 0 ? "the status is ok, and shards are missing" : undefined;
}

/** What in a report of an upload contradicts its counts or its list of failures. */
export function contradictionOf(report: RunReport): string | undefined {
  const { status, counts, error, failures, merged } = report;
  if (failures.length !== counts.failed) {
    return `${formatCount(counts.failed)} failed, and ${formatCount(failures.length)} in its list of failures`;
  }
  const accepted = counts.created + counts.updated;
  if (report.sent && report.sent.documents.length + report.sent.leftOut !== accepted) {
    return `${formatCount(accepted)} created or updated, and another number in its list`;
  }
  return (
    wrongStatus(status, counts, error) ??
    wrongRuns(report) ??
    merged?.runs
      .map((run) => wrongStatus(run.status, run.counts))
      .find((each) => each !== undefined)
  );
}
