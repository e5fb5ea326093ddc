import type { DocumentEvent } from "../../../sync/run/run-request.ts";
import type { VerifiedDocument } from "../../../checks/verify/evidence.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Context } from "../../../context.ts";
import { ClosedPipeError, CliError, messageOf } from "../../../errors.ts";
import {
  tellOthers,
  writeResult,
  writeSummary,
  type IngestFormat,
  type IngestResult,
} from "../../../output/ingest.ts";
import type { UploadCounts } from "../../../output/terminal/progress.ts";
import type { ReportFiles } from "../../../output/report/forms.ts";
import { verifiedItem } from "../../../output/report/from/verify.ts";
import { lineOf } from "../../../output/report/json.ts";
import { itemLine } from "../../../output/report/people.ts";
import { createReportCollector, type RunEnd } from "../../../output/report/stored/collector.ts";
import type {
  ReportFailure,
  ReportHead,
  RunReport,
  RunStatus,
} from "../../../output/report/stored/record.ts";
import { createLog } from "../../../sync/state/log.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { RecordedOptions } from "../../../sync/state/options.ts";
import type { FileWarning, PlanAction, PlanTable } from "../../../sync/plan/plan-table.ts";
import type { Shard } from "../../../sync/plan/shard.ts";
import { pairsText, pairText, placeText } from "../target/names.ts";
import { writeUploadReports } from "./report-files.ts";
import type { Session } from "../session.ts";
import { printNotices, printWarnings } from "./tell.ts";

/** Format of stdout; cli/ has already refused other formats. */
export function ingestFormat({ json, output }: GlobalFlags): IngestFormat {
  if (json) return "json";
  return output === "json" || output === "ndjson" ? output : "text";
}

/** The numbers that only the gate counts. */
export type Traffic = Pick<RunEnd, "requests" | "retries" | "throttled">;

/** Collects the results of a run; prints them line by line and as a summary at the end. */
export interface Report {
  readonly counts: UploadCounts;
  /**
   * Adds the files that the plan skipped, found unchanged or could not read. All following
   * events belong to this plan and its options.
   */
  begin(plan: Plan, options: RecordedOptions): Promise<void>;
  add(events: readonly DocumentEvent[]): Promise<void>;
  /** The result of a check of `--verify`. */
  verified(document: VerifiedDocument): Promise<void>;
  /** A warning of the run itself, printed at the end. */
  warn(message: string): void;
  /** Prints result and summary and writes the report files; `error` is the error that stopped the run. */
  finish(status: RunStatus, traffic: Traffic, error?: unknown): Promise<void>;
  /** Writes the report files after an unexpected end, unless finish() was called. */
  abandon(error: unknown): Promise<void>;
}

export interface ReportRequest {
  format: IngestFormat;
  startedAtMs: number;
  files: ReportFiles;
  shard: Shard | undefined;
}

type ReportedSession = Pick<
  Session,
  "output" | "source" | "state" | "targets" | "pairNames" | "progress"
>;

type OptionSets = NonNullable<RunReport["options"]>;

const warningsKept = 50;
/** Documents that are not in the index as sent, shown at the end. */
const lostShown = 50;

/** Commit of a CI job, from the variables of GitHub or GitLab. */
export function commitOf(env: Context["env"]): string | undefined {
  const commit = env["GITHUB_SHA"] ?? env["CI_COMMIT_SHA"];
  return commit === "" ? undefined : commit;
}

/** The connectors of a run: those that were looked up, else the pair of the run. */
function connectorsOf({ source, targets, pairNames }: ReportedSession): string {
  const { ccPairId } = targets.pair;
  const isKnown = pairNames.size > 0 || ccPairId === undefined;
  const pairs = isKnown ? pairsText(pairNames) : pairText(ccPairId, undefined);
  return `${pairs}${placeText(source.config, targets.baseUrl)}`.replace(/^(?: at|,) /, "");
}

/** Result of a document or file; one that was never sent has no `id` and no `ms`. */
type DocumentLine = Omit<DocumentEvent, "id" | "ms"> & Partial<Pick<DocumentEvent, "id" | "ms">>;

/** A line of `--output ndjson`, see schema/ingest-events.schema.json. */
function documentLine(document: DocumentLine): string {
  const { id, warnings = [], images = 0, notices: _, wasUnrecorded: _was, ...event } = document;
  return lineOf("document", {
    ...event,
    ...(id === undefined || id === "" ? {} : { id }),
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(images > 0 ? { images } : {}),
  });
}

/** Message of the error that stopped a run, followed by its details. */
function errorText(error: unknown): string {
  const details = error instanceof CliError ? error.details : [];
  return [messageOf(error), ...details].join("\n");
}

const reasonsShown = 20;

/** Converts the head of the report files to the printed result. */
function resultOf(head: ReportHead, target: IngestResult["target"]): IngestResult {
  const { status, planned, requests, retries, throttled, sentBytes, seconds, paths, shard } = head;
  const { renamed, ...counts } = head.counts;
  const traffic = { requests, retries, throttled, sentBytes };
  const skipped = head.skipped.slice(0, reasonsShown);
  return {
    version: 1,
    type: "result",
    status,
    counts,
    renamed,
    planned,
    ...traffic,
    seconds,
    target,
    paths,
    shard,
    skipped,
  };
}

/** Creates the report of a run. Stores failures in the temporary database of the state. */
function createReport(context: Context, session: ReportedSession, request: ReportRequest): Report {
  const { output, source, state, targets } = session;
  const { format, files, shard, startedAtMs } = request;
  const log = createLog<ReportFailure>(state.database, "failed");
  const optionSets: RecordedOptions[] = [];
  const addFailure = (failure: ReportFailure): void => {
    const position = optionSets.length - 1;
    log.add(position > 0 ? { ...failure, options: position } : failure);
  };
  // A monotonic clock: setting the system clock during the run must not change durations.
  const startOffsetMs = context.now() - context.elapsed();
  const collector = createReportCollector(
    () => startOffsetMs + context.elapsed(),
    addFailure,
    startedAtMs,
  );
  const { counts } = collector;
  const target = {
    baseUrl: targets.baseUrl,
    profile: source.config.profile,
    ccPairId: targets.pair.ccPairId,
  };
  const paths = source.inputs.length > 0 ? source.inputs : source.settings.include;
  const warnings: FileWarning[] = [];
  let warningCount = 0;
  let images = 0;
  const planTables: PlanTable[] = [];
  let sentBytes = 0;
  let isFinished = false;

  const countPlanned = (...actions: PlanAction[]): number =>
    planTables.reduce(
      (sum, table) => sum + actions.reduce((count, each) => count + table.count(each), 0),
      0,
    );
  const warn = (message: string, path = ""): void => {
    if (++warningCount <= warningsKept) warnings.push({ path, message });
  };
  const addLines = async (events: readonly DocumentLine[]): Promise<void> => {
    for (const event of events) collector.add(event);
    if (format !== "ndjson" || events.length === 0) return;
    // The upload continues when stdout is closed.
    await ignoreClosedPipe(output.json(events.map(documentLine).join("")));
  };
  const headOf = (status: RunStatus, traffic: Traffic, error: unknown) =>
    collector.finish({
      status,
      target,
      paths,
      // Removes members that JSON cannot represent (undefined).
      options: JSON.parse(JSON.stringify(optionSets)) as OptionSets,
      shard,
      commit: commitOf(context.env),
      // Counted at the end: documents from stdin are counted during the run.
      planned: countPlanned("new", "changed"),
      sentBytes,
      ...traffic,
      error: status === "error" ? errorText(error) : undefined,
    });
  const writeFiles = async (head: ReturnType<typeof headOf>): Promise<void> => {
    const { root } = source.settings;
    try {
      await writeUploadReports(context, output, files, root, { head, failures: log.list });
    } catch (error) {
      // A failed run ends with its own error, not with this one.
      if (head.status === "ok") throw error;
      await output.warn(messageOf(error));
    }
  };

  return {
    counts,
    async begin({ table, images: inPlan }, options) {
      planTables.push(table);
      optionSets.push(options);
      images += inPlan;
      collector.count("unchanged", table.count("unchanged"));
      const planWarnings = table.warnings();
      warnings.push(...planWarnings.shown);
      warningCount += planWarnings.count;
      for (const { path, part, action, detail } of table.entries(["failed", "skipped"])) {
        const status = action === "failed" ? "failed" : "skipped";
        await addLines([{ status, path, ...(part > 0 ? { row: part } : {}), reason: detail }]);
      }
    },
    async verified(document) {
      collector.verify(document);
      if (format !== "ndjson") return;
      await ignoreClosedPipe(output.json(lineOf("verified", document)));
    },
    warn,
    async add(events) {
      for (const event of events) {
        for (const warning of event.warnings ?? []) warn(warning, event.path);
        if (event.notices)
          planTables.at(-1)?.notices.add(event.notices, { path: event.path, part: event.row ?? 0 });
        images += event.images ?? 0;
        sentBytes += event.sentBytes ?? 0;
        if (event.renamedFrom !== undefined) collector.rename(event.renamedFrom, event.path);
      }
      await addLines(events);
    },
    async finish(status, traffic, error) {
      isFinished = true;
      const head = headOf(status, traffic, error);
      const result = resultOf(head, target);
      if (format !== "text")
        await ignoreClosedPipe(writeResult(output, format, result, log.list()));
      for (const { notices } of planTables) await ignoreClosedPipe(printNotices(session, notices));
      await ignoreClosedPipe(
        printWarnings(session, { shown: warnings, count: warningCount }, images),
      );
      await ignoreClosedPipe(tellOthers(output, shard, countPlanned("other")));
      const stoppedBy = error instanceof CliError ? error : undefined;
      const texts = { shown: source.shown, connectors: connectorsOf(session), stoppedBy };
      for (const each of (head.lost ?? []).slice(0, lostShown)) {
        const line = itemLine(verifiedItem(each, false), source.shown);
        await ignoreClosedPipe(output.problem(...line));
      }
      await ignoreClosedPipe(writeSummary(output, result, log.list(), texts));
      await writeFiles(head);
    },
    async abandon(error) {
      if (isFinished) return;
      isFinished = true;
      const status = context.signal.aborted ? "interrupted" : "error";
      await writeFiles(headOf(status, { requests: 0, retries: 0, throttled: 0 }, error));
    },
  };
}

/**
 * Runs `work` with a report. Writes the report files if `work` throws before uploadPlan() has
 * finished the report.
 */
export async function withReport(
  context: Context,
  session: ReportedSession,
  request: ReportRequest,
  work: (report: Report) => Promise<void>,
): Promise<void> {
  const report = createReport(context, session, request);
  try {
    await work(report);
  } catch (error) {
    await session.progress.stop();
    await report.abandon(error);
    throw error;
  }
}

async function ignoreClosedPipe(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}
