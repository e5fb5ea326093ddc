import type { Context } from "../../../context.ts";
import type { ReportFiles } from "../../../output/report/forms.ts";
import { createReportCollector } from "../../../output/report/stored/collector.ts";
import type { ReportFailure, ReportHead } from "../../../output/report/stored/record.ts";
import { plannedDocuments, type FolderPlan } from "../dry-run.ts";
import type { Session } from "../session.ts";
import { commitOf } from "./report.ts";
import { writeUploadReports } from "./report-files.ts";

const statuses: Readonly<Record<string, "created" | "updated" | "skipped" | "failed">> = {
  new: "created",
  changed: "updated",
  skipped: "skipped",
  failed: "failed",
};

/**
 * Writes the report files of a dry run, and the annotations and summary of a GitHub job, as an upload
 * does: created and updated are what an upload would send.
 */
export async function reportPlan(
  context: Context,
  { output, source, targets, shaping }: Pick<Session, "output" | "source" | "targets" | "shaping">,
  folder: FolderPlan,
  { files, startedAtMs }: PlanReport,
): Promise<void> {
  const failures: ReportFailure[] = [];
  const collector = createReportCollector(
    context.now,
    (failure) => failures.push(failure),
    startedAtMs,
  );
  for (const { path, row, action, detail } of plannedDocuments(folder)) {
    const status = statuses[action] ?? "unchanged";
    if (status !== "failed" && status !== "skipped") collector.count(status, 1);
    else collector.add({ status, path, ...(row === undefined ? {} : { row }), reason: detail });
  }
  const { root, include } = source.settings;
  const head: ReportHead = {
    ...collector.finish({
      status: failures.length > 0 ? "partial" : "ok",
      target: {
        baseUrl: targets.baseUrl,
        profile: source.config.profile,
        ccPairId: targets.pair.ccPairId,
      },
      paths: source.inputs.length > 0 ? source.inputs : include,
      // Removes members that JSON cannot represent (undefined).
      options: JSON.parse(JSON.stringify([shaping.recorded])) as NonNullable<ReportHead["options"]>,
      shard: folder.shard,
      commit: commitOf(context.env),
      planned: collector.counts.created + collector.counts.updated,
      sentBytes: 0,
      requests: 0,
      retries: 0,
      throttled: 0,
    }),
    dryRun: true,
  };
  await writeUploadReports(context, output, files, root, { head, failures: () => failures });
}

interface PlanReport {
  files: ReportFiles;
  startedAtMs: number;
}
