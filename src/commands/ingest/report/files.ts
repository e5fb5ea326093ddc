import type { Context } from "../../../context.ts";
import { CliError, messageOf } from "../../../errors.ts";
import type { IngestFormat, PlannedDocument } from "../../../output/ingest.ts";
import { redactEach } from "../../../output/report/file.ts";
import { writeReports, type ReportFiles } from "../../../output/report/forms.ts";
import { uploadReport } from "../../../output/report/from/upload.ts";
import { ciPrefix } from "../../../output/report/github.ts";
import { mapped } from "../../../output/report/report.ts";
import {
  createReportCollector,
  sumTraffic,
  type RunEnd,
} from "../../../output/report/stored/collector.ts";
import type {
  ReportFailure,
  ReportHead,
  RunIdentity,
  RunStatus,
} from "../../../output/report/stored/record.ts";
import { redactAll } from "../../../output/terminal/redact.ts";
import type { Shard } from "../../../sync/plan/decide.ts";
import type { DocumentEvent } from "../../../sync/run/run-request.ts";
import type { RecordedOptions } from "../../../sync/state/options.ts";
import type { Outcome } from "../../outcome/follow.ts";
import { oldestChange } from "../../outcome/measures.ts";
import { findGitRoot } from "../../project-root.ts";
import type { DocumentSource } from "../options/settings.ts";
import { openSession, plannedBaseUrl, type Session, type SessionRequest } from "../session.ts";
import { chosenPair } from "../target/pair.ts";

export interface ReportRequest {
  outcome: Outcome;
  format: IngestFormat;
  startedAtMs: number;
  files: ReportFiles;
  shard: Shard | undefined;
  /**
   * Of a watch: called when the report is finished, with its failures. Those that may succeed later are
   * not printed: the watch reports them, once for an outage.
   */
  onEnd?: ((head: ReportHead, failures: Iterable<ReportFailure>) => void) | undefined;
}

/** What every report says of its run. */
export function aboutRun(
  { source, targets }: Pick<Session, "source" | "targets">,
  { shard, outcome }: ReportRequest,
  options: readonly RecordedOptions[],
): Pick<RunEnd, "target" | "paths" | "options" | "shard" | keyof RunIdentity> {
  const { inputs, settings, config } = source;
  return {
    target: {
      baseUrl: targets.baseUrl,
      profile: config.profile,
      ccPairId: targets.pair.ccPairId,
    },
    paths: inputs.length > 0 ? inputs : settings.include,
    // Removes members that JSON cannot represent (undefined).
    options: JSON.parse(JSON.stringify(options)) as RunEnd["options"],
    shard,
    ...outcome.identity(),
  };
}

/**
 * Writes the report files of an upload or dry run, and what a GitHub job shows. Each call of
 * `failures` starts at the first failure. Throws CliError `local` for a file that cannot be written,
 * after the others are.
 */
async function writeFiles(
  context: Context,
  { output, source }: Pick<Session, "output" | "source">,
  { files, outcome }: ReportRequest,
  head: ReportHead,
  failures: () => Iterable<ReportFailure>,
): Promise<void> {
  const { redact } = output.secrets;
  const { root } = source.settings;
  const report = uploadReport(redactAll(head, redact), () => redactEach(failures(), redact));
  const prefix = ciPrefix(root, findGitRoot(context, root), context.env);
  const paths = mapped(failures, ({ path }) => path);
  const oldestUnsentMs = files.reports.length > 0 ? oldestChange(root, paths) : undefined;
  const measures = { isSuccess: head.status === "ok", ...report.measures, oldestUnsentMs };
  const whole = outcome.complete({ ...report, measures });
  await writeReports(output, context.env, whole, files, prefix);
}

/** Writes the report files of an upload as writeFiles(), but a failed run ends with its own error. */
export async function writeEnd(
  context: Context,
  run: Pick<Session, "output" | "source">,
  request: ReportRequest,
  head: ReportHead,
  failures: () => Iterable<ReportFailure>,
): Promise<void> {
  try {
    await writeFiles(context, run, request, head, failures);
  } catch (error) {
    if (head.status === "ok") throw error;
    await run.output.warn(messageOf(error));
  }
}

/** The status of a run that an error or a signal stopped. */
export function stoppedStatus({ signal }: Pick<Context, "signal">): RunStatus {
  return signal.aborted ? "interrupted" : "error";
}

/** What the report of a run with this status says of `error`: its message, and its details. */
export function errorText(status: RunStatus, error: unknown): string | undefined {
  if (status !== "error") return undefined;
  const details = error instanceof CliError ? error.details : [];
  return [messageOf(error), ...details].join("\n");
}

/** openSession() of an upload. Where it throws, the report files name the error. */
export async function openReported(
  context: Context,
  source: DocumentSource,
  output: Session["output"],
  request: ReportRequest,
  options: SessionRequest,
): Promise<Session> {
  try {
    return await openSession(context, output, source, options);
  } catch (error) {
    if (options.dryRun === true) throw error;
    const { ccPairId } = chosenPair(options, source.config);
    const targets = {
      baseUrl: plannedBaseUrl(source.config),
      pair: { ccPairId, fromFlag: false },
    };
    const status = stoppedStatus(context);
    const collector = createReportCollector(context.now, () => {}, request.startedAtMs);
    const head = collector.finish({
      ...aboutRun({ source, targets }, request, []),
      status,
      error: errorText(status, error),
      planned: 0,
      sentBytes: 0,
      ...sumTraffic([]),
    });
    await writeEnd(context, { output, source }, request, head, () => []);
    throw error;
  }
}

const plannedStatuses: Readonly<Record<string, DocumentEvent["status"]>> = {
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
  session: Session,
  documents: Iterable<PlannedDocument>,
  request: ReportRequest,
): Promise<void> {
  const failures: ReportFailure[] = [];
  const add = (failure: ReportFailure): void => void failures.push(failure);
  const collector = createReportCollector(context.now, add, request.startedAtMs);
  for (const { path, row, action, detail } of documents) {
    const status = plannedStatuses[action] ?? "unchanged";
    if (status === "failed" || status === "skipped") {
      collector.add({ status, path, ...(row === undefined ? {} : { row }), reason: detail });
    } else collector.count(status, 1);
  }
  const { created, updated } = collector.counts;
  const head = collector.finish({
    ...aboutRun(session, request, [session.shaping.recorded]),
    status: failures.length > 0 ? "partial" : "ok",
    planned: created + updated,
    sentBytes: 0,
    ...sumTraffic([]),
  });
  await writeFiles(context, session, request, { ...head, dryRun: true }, () => failures);
}
