import { extname } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Config } from "../../config/load.ts";
import type { Context } from "../../context.ts";
import { exitOf } from "../../errors.ts";
import type { ReportFlags } from "../../output/report/forms.ts";
import type { Report } from "../../output/report/report.ts";
import type { RunIdentity } from "../../output/report/stored/record.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { commitOf, identityOf } from "./identity.ts";
import { readLastResult, saveLastResult, type LastResult } from "./last-results.ts";
import { isWanted, messageFor, occasionOf } from "./message.ts";
import { configRecipients, flagRecipients, type Recipient } from "./targets.ts";

/** Where a run takes place. */
export interface OutcomePlace {
  config: Pick<Config, "profile" | "notifications" | "proxyTo">;
  root: string;
  /** The state folder; undefined with --no-state. */
  folder: string | undefined;
}

/** What a run says of itself in its reports, and what remains of it. */
export interface Outcome {
  /** Run, host and commit; the commit may be known only after begin(). */
  identity(): RunIdentity;
  /** The run is one that several workers share, under this name. */
  join(run: string): void;
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

type FollowedFlags = GlobalFlags &
  ReportFlags & {
    /** URLs or commands that are notified of every end; they replace those of the configuration. */
    notify?: string[];
  };

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

/** A run in progress: what is known of it, and whom to tell. */
interface Following {
  place: OutcomePlace | undefined;
  key: string;
  recipients: readonly Recipient[];
  last: LastResult | undefined;
  identity: RunIdentity | undefined;
  /** The last report, complete. */
  report: Report | undefined;
}

/** Records how the run ended, and notifies the recipients that want this end. */
async function finish(
  context: Context,
  output: Output,
  command: string,
  run: Following,
  error: unknown,
): Promise<void> {
  const { place, key, last, report } = run;
  const exit = exitOf(error, context.signal);
  const isSuccess = exit === "ok";
  // A report and the memory have the same time.
  const endedAtMs = report?.measures?.endedAtMs ?? context.now();
  const successAtMs = isSuccess ? endedAtMs : (last?.successAtMs ?? null);
  const problem = saveLastResult(place?.folder, key, { isSuccess, endedAtMs, successAtMs });
  if (problem !== undefined) {
    await output.warn(`the result of this run is not recorded: ${problem}`);
  }
  const occasion = occasionOf(isSuccess, last);
  const wanted = run.recipients.filter(({ on }) => isWanted(on, occasion, last));
  if (wanted.length === 0) return;
  const { notifyAll } = await import("./notify.ts");
  const identity = run.identity ?? identityOf(context);
  const message = messageFor({ command, exit, error, occasion, last, report, identity });
  await notifyAll(context, output, wanted, message, place?.config.proxyTo ?? (() => ({})));
}

/**
 * The command `work` with an outcome: its reports name run, host and commit. How it ended is
 * recorded in the state folder where a report or a notification asks for it, and sent to the targets of
 * `--notify`, else of the configuration. A notification that fails never changes how the run ends.
 */
export function followed<Options extends FollowedFlags>(
  command: string,
  work: (context: Context, args: string[], options: Options, outcome: Outcome) => Promise<void>,
): (context: Context, args: string[], options: Options) => Promise<void> {
  return async (context, args, options) => {
    const startedMs = context.elapsed();
    const { report: reports = [], notify } = options;
    const output = createOutput(context, options);
    const { secrets } = output;
    const isRehearsed = isRehearsal(context, options);
    const run: Following = {
      place: undefined,
      key: "",
      recipients: flagRecipients(notify ?? [], secrets),
      last: undefined,
      identity: undefined,
      report: undefined,
    };
    const identity = (): RunIdentity => (run.identity ??= identityOf(context));
    const isMeasured = reports.some((path) => extname(path).toLowerCase() === ".prom");
    const isRemembered = (): boolean => isMeasured || run.recipients.length > 0;
    const outcome: Outcome = {
      identity,
      join: (name) => void (run.identity = { ...identity(), run: name }),
      async begin(place) {
        run.place = place;
        run.key = keyOf(command, args, options, place.config.profile);
        if (notify === undefined && !isRehearsed && command !== "lint") {
          run.recipients = configRecipients(await place.config.notifications(), secrets);
        }
        if (isRemembered()) run.last = readLastResult(place.folder, run.key);
        // Git is a process: only where somebody keeps the answer.
        const isKept = reports.length > 0 || run.recipients.length > 0;
        if (!isKept || identity().commit !== undefined) return;
        const commit = await commitOf(context, place.root);
        if (commit !== undefined) run.identity = { ...identity(), commit };
      },
      complete(report) {
        const measures = {
          isSuccess: false,
          ...report.measures,
          endedAtMs: context.now(),
          seconds: (context.elapsed() - startedMs) / 1000,
          lastSuccessMs: run.last?.successAtMs ?? undefined,
        };
        return (run.report = { ...withIdentity(report, identity()), measures });
      },
    };
    const end = async (thrown: unknown): Promise<void> => {
      if (!isRemembered() || isRehearsed) return;
      try {
        await finish(context, output, command, run, thrown);
      } catch {
        // Whatever goes wrong here, the run ended as it did.
      }
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
