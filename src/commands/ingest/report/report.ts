import type { VerifiedDocument } from "../../../checks/verify/decide.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Context } from "../../../context.ts";
import { type Listed, absoluteOf } from "../../../documents/files/source-file.ts";
import { ClosedPipeError, CliError } from "../../../errors.ts";
import {
  tellOthers,
  writeResult,
  writeSummary,
  type IngestFormat,
} from "../../../output/ingest.ts";
import type { ReportFiles } from "../../../output/report/forms.ts";
import { verifiedItem } from "../../../output/report/from/verified.ts";
import { lineOf } from "../../../output/report/json.ts";
import { itemLine } from "../../../output/report/people.ts";
import {
  createReportCollector,
  sumTraffic,
  type RunEnd,
  type Traffic,
} from "../../../output/report/stored/collector.ts";
import type { ReportFailure, ReportHead, RunStatus } from "../../../output/report/stored/record.ts";
import type { UploadCounts } from "../../../output/terminal/progress.ts";
import type { FileWarning, PlanAction, PlanTable } from "../../../sync/plan/plan-table.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { DocumentEvent } from "../../../sync/run/run-request.ts";
import { createLog } from "../../../sync/state/tables.ts";
import type { RecordedOptions } from "../../../sync/state/options.ts";
import type { Session } from "../session.ts";
import { pairsText, pairText, placeText } from "../target/pair.ts";
import { aboutRun, errorText, stoppedStatus, writeEnd, type ReportRequest } from "./files.ts";
import { printNotices, printWarnings } from "./tell.ts";

/** Format of stdout; cli/ has already refused other formats. */
export function ingestFormat({ json, output }: GlobalFlags): IngestFormat {
  if (json) return "json";
  return output === "json" || output === "ndjson" ? output : "text";
}

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
  /** The report as JSON, with its first failures; undefined before finish(). */
  stored(): string | undefined;
  /** Writes the report files after an unexpected end, unless finish() was called. */
  abandon(error: unknown): Promise<void>;
}

type ReportedSession = Pick<
  Session,
  "output" | "source" | "state" | "targets" | "pairNames" | "progress"
>;

const warningsKept = 50;
/** Failures of a worker that the shared record keeps. */
const failuresStored = 1000;
/** Documents that are not in the index as sent, shown at the end. */
const lostShown = 50;

/** Marks report files among the listed files as skipped: a report of an earlier run is no document. */
export function withoutReports(
  listed: Iterable<Listed>,
  root: string,
  { reports, gitlab }: ReportFiles = { reports: [], gitlab: undefined },
): Iterable<Listed> {
  const own = new Set([...reports, ...(gitlab === undefined ? [] : [gitlab])]);
  if (own.size === 0) return listed;
  return (function* () {
    for (const each of listed) {
      const place = each.kind === "file" ? (each.absolutePath ?? absoluteOf(root, each.path)) : "";
      if (!own.has(place)) yield each;
      else yield { kind: "skipped", path: each.path, reason: "a report of this command" } as const;
    }
  })();
}

/** The connectors of a run: those that were looked up, else the pair of the run. */
function connectorsOf({ source, targets, pairNames }: ReportedSession): string {
  const { ccPairId } = targets.pair;
  const isKnown = pairNames.size > 0 || ccPairId === undefined;
  const pairs = isKnown ? pairsText(pairNames) : pairText(ccPairId);
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

function* lasting(failures: Iterable<ReportFailure>): Generator<ReportFailure> {
  for (const each of failures) if (!each.retryable) yield each;
}

/** Creates the report of a run. Stores failures in the temporary database of the state. */
function createReport(context: Context, session: ReportedSession, request: ReportRequest): Report {
  const { output, source, state } = session;
  const { format, shard, startedAtMs } = request;
  const log = createLog<ReportFailure>(state.database, "failed");
  const optionSets: RecordedOptions[] = [];
  const addFailure = (failure: ReportFailure): void => {
    const position = optionSets.length - 1;
    log.add(position > 0 ? { ...failure, options: position } : failure);
  };
  // A monotonic clock: setting the system clock during the run must not change durations.
  const startOffsetMs = context.now() - context.elapsed();
  const now = (): number => startOffsetMs + context.elapsed();
  const collector = createReportCollector(now, addFailure, startedAtMs);
  const warnings: FileWarning[] = [];
  let warningCount = 0;
  let images = 0;
  const planTables: PlanTable[] = [];
  let sentBytes = 0;
  let finished: ReportHead | undefined;

  const countPlanned = (...actions: PlanAction[]): number => {
    const counts = planTables.flatMap((table) => actions.map((each) => table.count(each)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const warn = (message: string, path = ""): void => {
    if (++warningCount <= warningsKept) warnings.push({ path, message });
  };
  const addLines = async (events: readonly DocumentLine[]): Promise<void> => {
    for (const event of events) collector.add(event);
    if (format !== "ndjson" || events.length === 0) return;
    // The upload continues when stdout is closed.
    await ignoreClosedPipe(output.json(events.map(documentLine).join("")));
  };
  const end = (status: RunStatus, traffic: Traffic, error: unknown): [ReportHead, RunEnd] => {
    const run: RunEnd = {
      ...aboutRun(session, request, optionSets),
      status,
      // Counted at the end: documents from stdin are counted during the run.
      planned: countPlanned("new", "changed"),
      sentBytes,
      ...traffic,
      error: errorText(status, error),
    };
    finished = collector.finish(run);
    return [finished, run];
  };
  const write = (head: ReportHead): Promise<void> =>
    writeEnd(context, session, request, head, log.list);
  const print = async (head: ReportHead, run: RunEnd, error: unknown): Promise<void> => {
    const { shown } = source;
    const stoppedBy = error instanceof CliError ? error : undefined;
    const texts = { shown, connectors: connectorsOf(session), stoppedBy };
    const lost = (head.lost ?? []).slice(0, lostShown);
    const parts: (() => Promise<void>)[] = [
      async () => {
        if (format !== "text") await writeResult(output, format, head, run.target, log.list());
      },
      ...planTables.map((table) => () => printNotices(session, table.notices)),
      () => printWarnings(session, { shown: warnings, count: warningCount }, images),
      () => tellOthers(output, shard, countPlanned("other")),
      ...lost.map((each) => () => output.problem(...itemLine(verifiedItem(each, false), shown))),
      () => writeSummary(output, head, request.onEnd ? lasting(log.list()) : log.list(), texts),
    ];
    for (const part of parts) await ignoreClosedPipe(part());
  };

  return {
    counts: collector.counts,
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
      const [head, run] = end(status, traffic, error);
      await print(head, run, error);
      request.onEnd?.(head, log.list());
      await write(head);
    },
    stored() {
      if (!finished) return undefined;
      const failures: ReportFailure[] = [];
      for (const each of log.list()) if (failures.push(each) >= failuresStored) break;
      const leftOut = finished.counts.failed - failures.length;
      const more = leftOut > 0 ? { failuresLeftOut: leftOut } : {};
      return JSON.stringify(output.secrets.redactAll({ ...finished, ...more, failures }));
    },
    async abandon(error) {
      if (finished) return;
      const [head] = end(stoppedStatus(context), sumTraffic([]), error);
      await write(head);
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
