import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { targetFor } from "../../sync/target.ts";
import { openOutput } from "../connect.ts";
import { writePlan } from "./dry-run.ts";
import { planFolder } from "./plan.ts";
import { createReport, ingestFormat, tellWarnings } from "./report.ts";
import { openSession, type SessionRequest } from "./session.ts";
import { openSource, type DocumentSource } from "./settings.ts";
import { checkPairs, missingPair } from "./target.ts";
import { uploadPlan } from "./upload.ts";

export interface IngestOptions extends SessionRequest {
  checksum?: boolean;
  force?: boolean;
  exitCode?: boolean;
  maxFailures?: number;
  allowEmpty?: boolean;
}

function checkOptions(paths: readonly string[], options: IngestOptions): void {
  if (paths.includes("-")) {
    throw new CliError("usage", "reading documents from stdin is not available in this version", {
      hints: ["name files or folders instead"],
    });
  }
  if (options.exitCode && !options.dryRun) {
    throw new CliError("usage", "--exit-code goes with --dry-run");
  }
}

function refuseEmpty({ inputs, settings }: DocumentSource): CliError {
  const places = inputs.length > 0 ? inputs : settings.include;
  return new CliError("usage", `0 documents found in ${places.join(", ")}`, {
    hints: [
      "check the path; `knowctl ingest explain FILE` says why a file is left out",
      "use --allow-empty where that is expected",
    ],
  });
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
  const output = openOutput(context, options);
  checkOptions(paths, options);
  const format = ingestFormat(options);
  const dryRun = options.dryRun === true;
  const source = await openSource(context, paths, options, output, !dryRun);
  const session = await openSession(context, output, source, options);
  try {
    const { targets, connected, progress, state } = session;
    const plan = await planFolder(context, session, { ...options, isFull: dryRun });
    if (plan.fileCount === 0 && plan.table.count("failed") === 0 && !options.allowEmpty) {
      throw refuseEmpty(source);
    }
    await progress.stop();
    if (dryRun || !connected) {
      await tellWarnings(output, plan.table, plan.images);
      const target = targetFor(targets, undefined);
      const exitCode = options.exitCode === true;
      await writePlan(output, format, { plan, source, state, target, exitCode });
      return;
    }
    if (plan.pairs.has(undefined)) throw missingPair();
    if (plan.pairs.size > 0) {
      await checkPairs(connected.client, [...plan.pairs].map(Number), output);
    }
    const report = createReport(output, format, context, plan, {
      target: { baseUrl: targets.baseUrl, ccPairId: targets.pair.ccPairId },
      startedAtMs,
    });
    await uploadPlan(context, { ...session, connected, plan, report, options });
  } finally {
    await session.close();
  }
}
