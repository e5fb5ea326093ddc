import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Shard } from "../../sync/shard.ts";
import { targetFor } from "../../sync/target.ts";
import type { IngestFormat } from "../../output/ingest.ts";
import type { Plan } from "../../sync/plan.ts";
import { openOutput } from "../connect.ts";
import { everyDocument, writePlan } from "./dry-run.ts";
import { optimiseSooner } from "./optimise-sooner.ts";
import { planFolder } from "./plan.ts";
import { ingestFormat, withReport, type ReportRequest } from "./report.ts";
import { checkReportFiles, type ReportFiles, type ReportFlags } from "./report-files.ts";
import {
  isUpload,
  openSession,
  type Session,
  type SessionRequest,
  type UploadSession,
} from "./session.ts";
import { openSource, type DocumentSource } from "./settings.ts";
import { createPairCheck, missingPair } from "./target.ts";
import { tellSince, tellWarnings } from "./tell.ts";
import { uploadPlan } from "./upload.ts";

export interface IngestOptions extends SessionRequest, ReportFlags {
  checksum?: boolean;
  force?: boolean;
  exitCode?: boolean;
  maxFailures?: number;
  allowEmpty?: boolean;
  shard?: Shard;
  /** Of the one document that stdin is, with a `format` of texts. */
  id?: string;
}

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
async function planFound(
  context: Context,
  session: Session,
  options: IngestOptions,
  also: { files?: ReportFiles; onManyDue?: () => void } = {},
): Promise<Plan> {
  const plan = await planFolder(context, session, { ...options, ...also, mostReadFirst });
  if (plan.fileCount === 0 && !options.allowEmpty) throw nothingFound(session.source);
  await session.progress.stop();
  return plan;
}

async function dryRun(
  context: Context,
  session: Session,
  format: IngestFormat,
  options: IngestOptions,
): Promise<void> {
  const { output, source, state, targets } = session;
  const plan = await planFound(context, session, options);
  await tellWarnings(output, plan.table.warnings(), plan.images);
  const target = targetFor(targets, undefined);
  const exitCode = options.exitCode === true;
  const { shard } = options;
  await writePlan(output, format, {
    documents: everyDocument({ plan, source, state, target, shard }),
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
    const { files } = request;
    const check = createPairCheck(session.connected.client);
    const onManyDue = (): void => {
      check.begin();
      optimiseSooner();
    };
    const plan = await planFound(context, session, options, { files, onManyDue });
    if (plan.pairs.has(undefined)) throw missingPair();
    if (plan.pairs.size > 0) {
      await check([...plan.pairs].map(Number), session.output, "nothing was sent");
    }
    await tellSince(session.output, session.source);
    const { startedAtMs } = request;
    await uploadPlan(context, { ...session, plan, report, options, startedAtMs });
  });
}

/** How a run began, before anything was looked at. */
export type Begun = Omit<ReportRequest, "shard">;

/** Plans and sends, or with `--dry-run` shows, the files of an open session. */
export async function ingestSession(
  context: Context,
  session: Session,
  begun: Begun,
  options: IngestOptions,
): Promise<void> {
  if (!isUpload(session)) await dryRun(context, session, begun.format, options);
  else await upload(context, session, { ...begun, shard: options.shard }, options);
}

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
  if (paths.includes("-")) return await (await import("./stdin.ts")).ingestStdin(context, options);
  const output = openOutput(context, options);
  const begun = {
    startedAtMs,
    format: ingestFormat(options),
    files: checkReportFiles(options, context.cwd),
  };
  const source = await openSource(context, paths, options, output, options.dryRun !== true);
  const session = await openSession(context, output, source, options);
  try {
    await ingestSession(context, session, begun, options);
  } finally {
    await session.close();
  }
}
