import type { IngestOptions } from "./ingest-options.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { targetFor } from "../../sync/state/target.ts";
import type { BegunRun } from "../../sync/state/unfinished.ts";
import type { IngestFormat } from "../../output/ingest.ts";
import type { Plan } from "../../sync/plan/plan.ts";
import { openOutput } from "../connect.ts";
import { accessRules, type AccessRules } from "./target/access.ts";
import { everyDocument, writePlan } from "./dry-run.ts";
import { noOverwriteNote, refuseOverwrites, refuseUnlistable } from "./target/overwrites.ts";
import { planFolder } from "./plan.ts";
import { checkPlannedPairs } from "./target/planned-access.ts";
import { ingestFormat, withReport, type Report, type ReportRequest } from "./report/report.ts";
import { checkReportFiles, type ReportFiles } from "./report/report-files.ts";
import { givenFlags, selectionFlags, shapingFlags } from "./options/shaping-flags.ts";
import { checkSavable, unsavableFlag } from "./options/saved-options.ts";
import { isUpload, openSession, type Session, type UploadSession } from "./session.ts";
import { warnOfStateAbove } from "./state-above.ts";
import { openSource, type DocumentSource } from "./options/settings.ts";
import { createPairCheck, missingPair } from "./target/target.ts";
import { tellNotices, tellReasons, tellSince, tellWarnings } from "./report/tell.ts";
import { tellUnfound } from "./report/tell-unfound.ts";
import { begunRun } from "./upload/failures.ts";
import { uploadPlan } from "./upload/upload.ts";

/** Throws CliError `usage` for flags that do not go together. */
export function checkOptions(paths: readonly string[], options: IngestOptions): void {
  if (paths.includes("-") && paths.length > 1) {
    throw new CliError("usage", "`-` (stdin) goes with no other path", {
      hints: ["run the command once for each"],
    });
  }
  if (options.id !== undefined && !paths.includes("-")) {
    throw new CliError("usage", "--id names the one document that comes from stdin", {
      hints: ["for example `knowctl ingest - --format markdown --id handbook < handbook.md`"],
    });
  }
  checkSavable(paths, options);
  if (options.exitCode && !options.dryRun) {
    throw new CliError("usage", "--exit-code goes with --dry-run", {
      hints: ["add --dry-run, or leave --exit-code out: an upload has exit codes of its own"],
    });
  }
  if (options.dryRun && (options.report ?? options.gitlabReport) !== undefined) {
    throw new CliError(
      "usage",
      "--report and --gitlab-report tell of an upload, not of --dry-run",
      {
        hints: ["`--dry-run --output json` prints the plan"],
      },
    );
  }
}

/** The error of a command that found no file. */
export function nothingFound({ inputs, settings }: DocumentSource): CliError {
  const places = inputs.length > 0 ? inputs : settings.include;
  return new CliError("usage", `0 documents found in ${places.join(", ")}`, {
    hints: [
      "check the path; `knowctl ingest explain FILE` says why a file is left out",
      "use --allow-empty where that is expected",
    ],
  });
}

// What small folders hold is told, warnings and all, before anything is sent; of large
// ones the rest is read while the first documents are on their way.
const mostReadFirst = 32;

/** Plans over the files of the session. Throws CliError `usage` when there are none. */
export async function planFound(
  context: Context,
  session: Session,
  options: IngestOptions,
  also: { files?: ReportFiles; onManyPending?: () => void } = {},
): Promise<Plan> {
  const plan = await planFolder(context, session, { ...options, ...also, mostReadFirst });
  if (plan.fileCount === 0 && !options.allowEmpty) throw nothingFound(session.source);
  await session.progress.stop();
  return plan;
}

/** The pairs of what is to be sent. Where an access type is required, the run's own pair is checked even if nothing is sent. */
function pairsToCheck({ pairs }: Plan, { targets }: Session, { required }: AccessRules): number[] {
  const { ccPairId } = targets.pair;
  if (pairs.size > 0) return [...pairs].filter((each) => each !== undefined);
  return required.length > 0 && ccPairId !== undefined ? [ccPairId] : [];
}

async function dryRun(
  context: Context,
  session: Session,
  format: IngestFormat,
  options: IngestOptions,
): Promise<void> {
  const { output, source, state, shaping, targets } = session;
  const plan = await planFound(context, session, options);
  const rules = accessRules(options, source.config);
  await checkPlannedPairs(context, session, pairsToCheck(plan, session, rules), rules);
  await tellNotices(session, plan.table.notices);
  await tellWarnings(session, plan.table.warnings(), plan.images);
  await tellReasons(output, plan.table);
  if (options.overwrite === false) await output.note(noOverwriteNote);
  const target = targetFor(targets, undefined);
  const exitCode = options.exitCode === true;
  const { shard } = options;
  const shown = format === "text" ? source.shown : (path: string) => path;
  await writePlan(session, format, {
    documents: everyDocument(context, { plan, source, state, shaping, target, shard, shown }),
    noPair: () => plan.pairs.has(undefined),
    others: () => plan.table.count("other"),
    shard,
    exitCode,
  });
}

async function upload(
  context: Context,
  session: UploadSession,
  request: ReportRequest,
  options: IngestOptions,
): Promise<void> {
  await withReport(context, session, request, async (report) => {
    const begun = begunRun(session, options, request.startedAtMs);
    await uploadFound(context, session, report, request, options, begun);
  });
}

/** Plans over the files of the session, checks the target and sends them; for `begun` see uploadPlan(). */
export async function uploadFound(
  context: Context,
  session: UploadSession,
  report: Report,
  { files, startedAtMs }: ReportRequest,
  options: IngestOptions,
  begun?: BegunRun,
): Promise<void> {
  const isGuarded = options.overwrite === false;
  if (isGuarded) refuseUnlistable(session.connected.client);
  const rules = accessRules(options, session.source.config);
  const check = createPairCheck(session.connected.client, rules);
  const plan = await planFound(context, session, options, { files, onManyPending: check.begin });
  if (plan.pairs.has(undefined)) throw missingPair();
  await check(pairsToCheck(plan, session, rules), session.output, "nothing was sent");
  if (isGuarded) await refuseOverwrites(session);
  await tellSince(session.output, session.source);
  await tellReasons(session.output, plan.table);
  await tellUnfound(session, plan);
  if (options.saveOptions) {
    await (await import("./options/save-options.ts")).saveOptions(context, session, options);
  }
  const target = targetFor(session.targets, undefined);
  const isFirst = target !== undefined && !session.state.knows(target.key);
  await uploadPlan(context, { ...session, plan, report, options, startedAtMs, begun });
  if (isFirst && context.stderr.isTTY) await tellOfSaving(session, options);
}

/** After a first upload: that its options need not be typed again. */
async function tellOfSaving({ output }: Session, options: IngestOptions): Promise<void> {
  const names = [...shapingFlags, ...selectionFlags];
  if (options.saveOptions || options.state === false || unsavableFlag(options)) return;
  if (givenFlags(options, names).length === 0) return;
  await output.note("give --save-options once, and plain `knowctl ingest` repeats this upload");
}

/** How a run began, before anything was looked at. */
export type Begun = Omit<ReportRequest, "shard">;

/**
 * `knowctl ingest`: finds files, compares them with the state, and sends what is
 * new or changed. Everything is known before the first request: ids are unique,
 * the pair exists. Exit names: see the table in errors.ts.
 */
export async function ingest(
  context: Context,
  paths: string[],
  options: IngestOptions,
): Promise<void> {
  const startedAtMs = context.now();
  checkOptions(paths, options);
  if (paths.includes("-"))
    return await (await import("./stdin/stdin.ts")).ingestStdin(context, options);
  const output = openOutput(context, options);
  const begun = {
    startedAtMs,
    format: ingestFormat(options),
    files: checkReportFiles(options, context.cwd),
  };
  const source = await openSource(context, paths, options, output, options.dryRun !== true);
  const session = await openSession(context, output, source, options);
  try {
    await warnOfStateAbove(session);
    if (!isUpload(session)) await dryRun(context, session, begun.format, options);
    else await upload(context, session, { ...begun, shard: options.shard }, options);
  } finally {
    await session.close();
  }
}
