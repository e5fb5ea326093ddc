import type { Config } from "../../config/load.ts";
import { parseBaseUrl } from "../../config/url.ts";
import type { Context } from "../../context.ts";
import { openInspector } from "../../documents/open-inspector.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/output.ts";
import { startProgress } from "../../output/progress.ts";
import { hasState, openState, openTemporaryState } from "../../sync/state-file.ts";
import type { State } from "../../sync/state.ts";
import { targetFor } from "../../sync/target.ts";
import { openClient, openOutput } from "../connect.ts";
import { inspectSetup, planFolder, stateFolder } from "./plan.ts";
import { openSource, type DocumentSource, type MappingFlags } from "./settings.ts";
import { createReport, ingestFormat, tellWarnings } from "./report.ts";
import { writePlan } from "./dry-run.ts";
import { uploadPlan } from "./upload.ts";
import { checkPairs, chosenPair, missingPair, pairByName } from "./target.ts";

export interface IngestOptions extends MappingFlags {
  concurrency?: number;
  rate?: number;
  checksum?: boolean;
  force?: boolean;
  dryRun?: boolean;
  exitCode?: boolean;
  maxFailures?: number;
  allowEmpty?: boolean;
}

async function openStateFor(
  folder: string | undefined,
  dryRun: boolean,
  now: () => number,
  output: Output,
): Promise<State> {
  if (folder === undefined || (dryRun && !hasState(folder))) return await openTemporaryState();
  const { state, wasEmptied } = await openState(folder, now);
  if (wasEmptied) {
    await output.warn(`the state in ${folder} is empty: every document counts as not sent yet`);
  }
  return state;
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
  const { config } = source;
  const pair = chosenPair(options, config);
  // A dry run needs no service, unless a connector is named: only the service knows its number.
  const connected =
    dryRun && pair.connector === undefined
      ? undefined
      : await openUpload(context, output, source.config, options);
  const state = await openStateFor(stateFolder(source, options), dryRun, context.now, output);
  const progress = startProgress(output, context.now);
  let inspector: Awaited<ReturnType<typeof openInspector>> | undefined;
  try {
    const runPair =
      pair.connector === undefined || !connected
        ? pair.ccPairId
        : await pairByName(connected.client, pair.connector);
    const baseUrl = connected?.connection.baseUrl ?? plannedBaseUrl(config);
    const targets = { baseUrl, pair: { ccPairId: runPair, fromFlag: pair.fromFlag } };
    inspector = openInspector(inspectSetup(source, targets, dryRun), context.workerScript);
    const plan = await planFolder(context, source, {
      ...options,
      state,
      targets,
      inspector,
      progress,
      isFull: dryRun,
    });
    if (plan.fileCount === 0 && plan.table.count("failed") === 0 && !options.allowEmpty) {
      throw refuseEmpty(source);
    }
    await progress.stop();
    if (dryRun || !connected) {
      await tellWarnings(output, plan.table, plan.images);
      await writePlan(output, format, {
        plan,
        source,
        state,
        target: targetFor(targets, undefined),
        exitCode: options.exitCode === true,
      });
      return;
    }
    if (plan.pairs.has(undefined)) throw missingPair();
    if (plan.pairs.size > 0)
      await checkPairs(connected.client, [...plan.pairs].map(Number), output);
    const report = createReport(output, format, context, plan, {
      target: { baseUrl, ccPairId: runPair },
      startedAtMs,
    });
    await uploadPlan(context, {
      ...connected,
      plan,
      source,
      state,
      targets,
      inspector,
      progress,
      report,
      options,
    });
  } finally {
    await progress.stop();
    await inspector?.close();
    state.close();
    await connected?.client.close();
    connected?.release();
  }
}

/** Address of a dry run's target; it is only compared with the state, so a bad one is no failure yet. */
function plannedBaseUrl(config: Config): string {
  try {
    return parseBaseUrl(config.values.baseUrl ?? "").baseUrl;
  } catch {
    return "";
  }
}

const graceMs = 5000;
const defaultConcurrency = 8;

/** A client whose requests may end for a few seconds after the first Ctrl-C, and how to let go of it. */
async function openUpload(
  context: Context,
  output: Output,
  config: Config,
  options: IngestOptions,
) {
  const abort = new AbortController();
  const finished = new AbortController();
  const onSignal = (): void => {
    context.sleep(graceMs, finished.signal).then(
      () => abort.abort(context.signal.reason),
      () => {},
    );
  };
  context.signal.addEventListener("abort", onSignal, { once: true });
  const concurrency = options.concurrency ?? config.ingest.concurrency ?? defaultConcurrency;
  const connected = await openClient(context, output, config, {
    connections: concurrency,
    signal: abort.signal,
  });
  return {
    ...connected,
    concurrency,
    rate: options.rate ?? config.ingest.rate,
    release(): void {
      context.signal.removeEventListener("abort", onSignal);
      finished.abort();
    },
  };
}
