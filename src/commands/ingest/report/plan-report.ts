import type { Context } from "../../../context.ts";
import { createReportCollector } from "../../../output/report/collector.ts";
import type { ReportFailure, ReportHead } from "../../../output/report/record.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import { findGitRoot } from "../../project-root.ts";
import type { Session } from "../session.ts";
import { writeReportFiles, type ReportFiles } from "./report-files.ts";

/**
 * Writes the report files of a dry run, and the annotations and summary of a GitHub job, as an upload
 * does: created and updated are what an upload would send.
 */
export async function reportPlan(
  context: Context,
  { output, source, targets }: Pick<Session, "output" | "source" | "targets">,
  { table }: Plan,
  { files, startedAtMs, shard }: PlanReport,
): Promise<void> {
  const failures: ReportFailure[] = [];
  const collector = createReportCollector(
    context.now,
    (failure) => failures.push(failure),
    startedAtMs,
  );
  collector.count("created", table.count("new"));
  collector.count("updated", table.count("changed"));
  collector.count("unchanged", table.count("unchanged"));
  for (const { path, part, action, detail } of table.entries(["failed", "skipped"])) {
    const status = action === "failed" ? "failed" : "skipped";
    collector.add({ status, path, ...(part > 0 ? { row: part } : {}), reason: detail });
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
      options: [],
      shard,
      planned: table.count("new") + table.count("changed"),
      sentBytes: 0,
      requests: 0,
      retries: 0,
      throttled: 0,
    }),
    dryRun: true,
  };
  const run = { head, failures: () => failures, root, gitRoot: findGitRoot(context, root) };
  await writeReportFiles(context, output, files, run);
}

interface PlanReport {
  files: ReportFiles;
  startedAtMs: number;
  shard: { index: number; count: number } | undefined;
}
