import { extname } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Config } from "../../config/load.ts";
import type { Context } from "../../context.ts";
import { exitOf } from "../../errors.ts";
import type { ReportFlags } from "../../output/report/forms.ts";
import type { Report } from "../../output/report/report.ts";
import type { RunIdentity } from "../../output/report/stored/record.ts";
import { openOutput } from "../connect.ts";
import { commitOf, identityOf } from "./identity.ts";
import { readLastResult, saveLastResult, type LastResult } from "./last-results.ts";

/** Where a run takes place. */
export interface OutcomePlace {
  config: Pick<Config, "profile">;
  root: string;
  /** The state folder; undefined with --no-state. */
  folder: string | undefined;
}

/** What a run says of itself in its reports, and what remains of it. */
export interface Outcome {
  /** Run, host and commit; the commit may be known only after begin(). */
  identity(): RunIdentity;
  /** Call it once the place is known, before the work begins. */
  begin(place: OutcomePlace): Promise<void>;
  /** The report with the identity, and what the monitoring reads beside it. */
  complete(report: Report): Report;
}

/** The report with run, host and commit in each of its forms, unless it has those of its run. */
function withIdentity(report: Report, identity: RunIdentity): Report {
  const { head } = report.data;
  if (head["run"] !== undefined) return report;
  const facts = Object.entries(identity).map(([name, value]) => `${name} ${value}`);
  return {
    ...report,
    facts: [...report.facts, ...facts],
    properties: { ...report.properties, ...identity },
    data: { ...report.data, head: { ...head, ...identity } },
  };
}

/** Flags that tell one run of a command from another, beside its arguments. */
const keyFlags = ["ccPairId", "connector", "shard", "reader", "expect", "remote"] as const;

type FollowedFlags = GlobalFlags & ReportFlags;

/** A name for all runs of the same work: a nightly job has the same every night. */
function keyOf(
  command: string,
  args: readonly string[],
  options: FollowedFlags,
  profile: string,
): string {
  const flags = options as Readonly<Record<string, unknown>>;
  const chosen = keyFlags.map((name) => flags[name] ?? null);
  return JSON.stringify([command, profile, args, ...chosen]);
}

/** Whether a run only shows what another one would do. */
function isRehearsal(context: Context, options: FollowedFlags): boolean {
  const { dryRun, printConfig } = options as { dryRun?: boolean; printConfig?: boolean };
  return dryRun === true || printConfig === true || context.trialFiles !== undefined;
}

/**
 * The command `work` with an outcome: its reports name run, host and commit, and how it ended is
 * remembered in the state folder where a report asks for the last success.
 */
export function followed<Options extends FollowedFlags>(
  command: string,
  work: (context: Context, args: string[], options: Options, outcome: Outcome) => Promise<void>,
): (context: Context, args: string[], options: Options) => Promise<void> {
  return async (context, args, options) => {
    const startedMs = context.elapsed();
    const reports = options.report ?? [];
    const isRemembered = reports.some((path) => extname(path).toLowerCase() === ".prom");
    let known: RunIdentity | undefined;
    const identity = (): RunIdentity => (known ??= identityOf(context));
    let memory: { folder: string | undefined; key: string } | undefined;
    let last: LastResult | undefined;
    // A report and the memory have the same time.
    let endedAtMs: number | undefined;
    const outcome: Outcome = {
      identity,
      async begin({ config, root, folder }) {
        memory = { folder, key: keyOf(command, args, options, config.profile) };
        if (isRemembered) last = readLastResult(folder, memory.key);
        // Git is a process: only where somebody keeps the answer.
        if (reports.length === 0 || identity().commit !== undefined) return;
        const commit = await commitOf(context, root);
        if (commit !== undefined) known = { ...identity(), commit };
      },
      complete(report) {
        endedAtMs = context.now();
        const measures = {
          isSuccess: false,
          ...report.measures,
          endedAtMs,
          seconds: (context.elapsed() - startedMs) / 1000,
          lastSuccessMs: last?.successAtMs ?? undefined,
        };
        return { ...withIdentity(report, identity()), measures };
      },
    };
    const end = async (error: unknown): Promise<void> => {
      const isSuccess = exitOf(error, context.signal) === "ok";
      if (memory === undefined || !isRemembered || isRehearsal(context, options)) return;
      endedAtMs ??= context.now();
      const successAtMs = isSuccess ? endedAtMs : (last?.successAtMs ?? null);
      const result = { isSuccess, endedAtMs, successAtMs };
      const problem = saveLastResult(memory.folder, memory.key, result);
      if (problem === undefined) return;
      await openOutput(context, options).warn(`the result of this run is not recorded: ${problem}`);
    };
    try {
      await work(context, args, options, outcome);
    } catch (error) {
      await end(error);
      throw error;
    }
    await end(undefined);
  };
}
