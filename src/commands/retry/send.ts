import type { Context } from "../../context.ts";
import { addSize, noSize } from "../../documents/payload/payload.ts";
import { CliError } from "../../errors.ts";
import type { PlannedDocument } from "../../output/ingest.ts";
import { sumTraffic } from "../../output/report/stored/collector.ts";
import type { RunStatus } from "../../output/report/stored/record.ts";
import { worstStatus } from "../../output/report/text.ts";
import type { RecordedOptions } from "../../sync/state/options.ts";
import { endPlan, plannedDocuments, writePlan } from "../ingest/dry-run.ts";
import type { IngestOptions } from "../ingest/ingest-options.ts";
import { askOnce, planFound, uploadFound } from "../ingest/ingest.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { ReportRequest } from "../ingest/report/files.ts";
import { withReport, type Report } from "../ingest/report/report.ts";
import { printWarnings } from "../ingest/report/tell.ts";
import { isUpload, openSession, type Session, type UploadSession } from "../ingest/session.ts";

/** One report for several consecutive uploads; end() finishes it once. */
interface GatheredReport extends Report {
  /** Finishes the report, unless a stopped upload has finished it. */
  end(): Promise<void>;
}

/** Combines the ends of several uploads: the worst status, and the sum of their traffic. */
function gatherReport(report: Report): GatheredReport {
  let status: RunStatus = "ok";
  let isFinished = false;
  let sum = sumTraffic([]);
  return {
    ...report,
    async finish(ended, traffic, error) {
      sum = sumTraffic([sum, traffic]);
      status = worstStatus([status, ended]);
      if (ended !== "error" && ended !== "interrupted") return;
      isFinished = true;
      await report.finish(ended, sum, error);
    },
    async end() {
      if (!isFinished) await report.finish(status, sum);
    },
  };
}

/** Files to send with the same options. */
export interface SourceGroup {
  source: DocumentSource;
  recorded: RecordedOptions | undefined;
  /** Their pair; undefined for that of the base session. */
  ccPairId: number | undefined;
}

/** The session of each group, with its own target or that of the base session; closed before the next. */
async function* sessionsOf(
  context: Context,
  { output, targets, pairNames }: Session,
  groups: readonly SourceGroup[],
  options: IngestOptions,
): AsyncGenerator<Session> {
  for (const { source, recorded, ccPairId = targets.pair.ccPairId } of groups) {
    const fromFlag = recorded?.pairFromFlag ?? targets.pair.fromFlag;
    const pair = { ccPairId, connector: undefined, fromFlag };
    const session = await openSession(context, output, source, { ...options, pair: () => pair });
    try {
      // The base session's report names the connectors.
      yield { ...session, pairNames };
    } finally {
      await session.close();
    }
  }
}

async function dryRun(
  context: Context,
  base: Session,
  groups: readonly SourceGroup[],
  options: IngestOptions,
): Promise<void> {
  const size = noSize();
  const onPlanned = (body: Uint8Array): void => addSize(size, body);
  let lacksPair = false;
  const documents = async function* (): AsyncGenerator<PlannedDocument> {
    for await (const session of sessionsOf(context, base, groups, options)) {
      const plan = await planFound(context, session, options, { onPlanned });
      lacksPair ||= plan.pairs.has(undefined);
      await printWarnings(session, plan.table.warnings(), plan.images);
      // Only what failed: a retry looks for no orphans.
      yield* plannedDocuments(session, plan, options);
    }
  };
  const counts = await writePlan(base, options, documents(), size);
  await endPlan(base, options, counts, { size, others: 0, lacksPair });
}

async function upload(
  context: Context,
  base: UploadSession,
  groups: readonly SourceGroup[],
  request: ReportRequest,
  options: IngestOptions,
): Promise<void> {
  let failure: CliError | undefined;
  // What would get another id than when it failed was named before, and is not in the groups.
  const allowed = { ...options, allowIdChange: true };
  await withReport(context, base, request, async (report) => {
    const gathered = gatherReport(report);
    const asked = askOnce(context, base, options);
    for await (const session of sessionsOf(context, base, groups, options)) {
      if (!isUpload(session)) continue;
      try {
        await uploadFound(context, session, { report: gathered, request }, allowed, asked);
      } catch (error) {
        // Continue with the other groups when documents fail again.
        if (!(error instanceof CliError) || error.exit !== "partial") throw error;
        failure = error;
      }
    }
    await gathered.end();
    if (failure) throw failure;
  });
}

/**
 * Sends groups of files one after the other, each with its own options, and reports them as one
 * run. With `--dry-run` it only prints the plan. Throws like uploadFound().
 */
export async function sendGroups(
  context: Context,
  base: Session,
  groups: readonly SourceGroup[],
  request: ReportRequest,
  options: IngestOptions,
): Promise<void> {
  if (isUpload(base)) await upload(context, base, groups, request, options);
  else await dryRun(context, base, groups, options);
}
