import type { IngestOptions } from "../ingest/ingest-options.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { RecordedOptions } from "../../sync/state/options.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { addSize, noSize } from "../../documents/payload/payload.ts";
import { plannedDocuments, writePlan } from "../ingest/dry-run.ts";
import type { RunStatus } from "../../output/report/stored/record.ts";
import { worstStatus } from "../../output/report/text.ts";
import { askOnce, planFound, uploadFound } from "../ingest/ingest.ts";
import {
  withReport,
  type Report,
  type ReportRequest,
  type Traffic,
} from "../ingest/report/report.ts";
import { isUpload, openSession, type Session, type UploadSession } from "../ingest/session.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import { printWarnings } from "../ingest/report/tell.ts";

/** One report for several consecutive uploads; end() finishes it once. */
interface GatheredReport extends Report {
  /** Finishes the report, unless a stopped upload has finished it. */
  end(): Promise<void>;
}

/** Combines the ends of several uploads: the worst status, and the sum of their traffic. */
function gatherReport(report: Report): GatheredReport {
  let status: RunStatus = "ok";
  let isFinished = false;
  const sum: Traffic = { requests: 0, retries: 0, throttled: 0 };
  return {
    ...report,
    async finish(ended, traffic, error) {
      for (const name of ["requests", "retries", "throttled"] as const) sum[name] += traffic[name];
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

/** Opens the session of a group, with its own target or that of the base session. */
async function openGroupSession(
  context: Context,
  { output, targets, pairNames }: Session,
  { source, recorded, ccPairId = targets.pair.ccPairId }: SourceGroup,
  options: IngestOptions,
): Promise<Session> {
  const { fromFlag } = targets.pair;
  const pair = { ccPairId, connector: undefined, fromFlag: recorded?.pairFromFlag ?? fromFlag };
  // The base session's report names the connectors.
  return { ...(await openSession(context, output, source, { ...options, pair })), pairNames };
}

async function dryRun(
  context: Context,
  base: Session,
  groups: readonly SourceGroup[],
  format: ReportRequest["format"],
  options: IngestOptions,
): Promise<void> {
  const plans: Plan[] = [];
  const size = noSize();
  const onPlanned = (body: Uint8Array): void => addSize(size, body);
  const documents = async function* () {
    for (const group of groups) {
      const session = await openGroupSession(context, base, group, options);
      try {
        const plan = await planFound(context, session, options, { onPlanned });
        plans.push(plan);
        await printWarnings(session, plan.table.warnings(), plan.images);
        const shown = format === "text" ? session.source.shown : (path: string) => path;
        // Only what failed: a retry looks for no orphans.
        yield* plannedDocuments({ ...session, plan, shown });
      } finally {
        await session.close();
      }
    }
  };
  await writePlan(base, format, {
    documents: documents(),
    size,
    noPair: () => plans.some(({ pairs }) => pairs.has(undefined)),
    others: () => 0,
    shard: undefined,
    exitCode: options.exitCode === true,
  });
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
    for (const group of groups) {
      const session = await openGroupSession(context, base, group, options);
      try {
        if (isUpload(session))
          await uploadFound(context, { ...session, asked }, gathered, request, allowed);
      } catch (error) {
        // Continue with the other groups when documents fail again.
        if (!(error instanceof CliError) || error.exit !== "partial") throw error;
        failure = error;
      } finally {
        await session.close();
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
export async function runGroups(
  context: Context,
  base: Session,
  groups: readonly SourceGroup[],
  begun: Omit<ReportRequest, "shard">,
  options: IngestOptions,
): Promise<void> {
  if (isUpload(base)) await upload(context, base, groups, { ...begun, shard: undefined }, options);
  else await dryRun(context, base, groups, begun.format, options);
}
