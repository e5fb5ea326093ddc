import { failUnlessPassed } from "../../../checks/eval/fail-on.ts";
import { reportCase, type ReportedCase } from "../../../checks/eval/report.ts";
import type { EvalBasis, EvalKind, EvalRunResult } from "../../../checks/eval/result.ts";
import type { Context } from "../../../context.ts";
import type { CliError } from "../../../errors.ts";
import { lineOf } from "../../../output/report/json.ts";
import { sandboxCaveat } from "../../../output/sandbox-caveat.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { createSpinner, type Spinner } from "../../../output/terminal/spinner.ts";
import { goOnAfterClosedPipe } from "../../closed-pipe.ts";
import { openOutput } from "../../connect.ts";
import type { EvalOptions } from "./options.ts";
import { prepareSuites, refuseNothing, type Prepared } from "./prepare.ts";
import { openReplay } from "./recording/recorded.ts";
import {
  checkRecordFolder,
  startRecording,
  type Recorder,
  type RecordingHead,
} from "./recording/recording.ts";
import { checkGoals, refuseOtherBaseline, reportOf, writeResults, type Goals } from "./results.ts";
import { runCases } from "./run-cases.ts";
import { defaultConcurrency, openService, type ReplySource } from "./source.ts";

/** A run that is ready to ask. */
interface Run {
  context: Context;
  output: Output;
  options: EvalOptions;
  prepared: Prepared;
  goals: Goals;
  source: ReplySource & { head?: RecordingHead };
  recorder: Recorder | undefined;
  startedAt: string;
}

interface Asked {
  run: EvalRunResult;
  cases: readonly ReportedCase[];
}

/** Writes the ndjson line of a case, after the progress line is gone from the screen. */
async function writeCase({ output }: Run, spinner: Spinner, result: ReportedCase): Promise<void> {
  await spinner.stop();
  try {
    await output.json(lineOf("case", result));
  } catch {
    // The run goes on, for its reports; the last line fails as this one did.
  }
}

/** Why the run ended before every case was tried; of a replay, why the recorded one did. */
function stopReason({ context, source: { head, replies } }: Run): string | undefined {
  const interrupted = context.signal.aborted ? "the run was interrupted" : undefined;
  return head?.stopped ?? replies.stopped()?.message ?? interrupted;
}

/** Asks all cases, shows progress, and writes ndjson lines as cases end. */
async function askCases(run: Run): Promise<Asked> {
  const { context, output, options, prepared, goals, source, recorder } = run;
  const { replies, basis, matches, head } = source;
  const { cases } = prepared;
  const rules = { ...prepared.rules, matches };
  const { concurrency = defaultConcurrency } = options;
  const startedMs = context.elapsed();
  const done: ReportedCase[] = [];
  const spinner = createSpinner(output);
  const show = (): void => spinner.start(`asking: ${done.length} of ${cases.length} cases done`);
  let calls = 0;
  show();
  try {
    calls = await runCases({ cases, rules, replies, concurrency, recorder }, async (result) => {
      const each = reportCase(result, matches);
      done.push(each);
      show();
      if (goals.format === "ndjson") await writeCase(run, spinner, each);
    });
  } finally {
    await spinner.stop();
  }
  const stopped = stopReason(run);
  const elapsedMs = head?.elapsedMs ?? context.elapsed() - startedMs;
  const startedAt = head?.startedAt ?? run.startedAt;
  const isSandbox = source.isSandbox();
  await recorder?.end({
    elapsedMs,
    ...(stopped === undefined ? {} : { stopped }),
    ...(isSandbox ? { sandbox: true } : {}),
  });
  return { run: { basis, startedAt, elapsedMs, calls, stopped, isSandbox }, cases: done };
}

/** Throws the error that ended the run before any case had a result. */
function failIfNothingAsked({ cases }: Asked, stopped: CliError | undefined): void {
  const asked = cases.filter(({ outcome }) => outcome !== "skipped");
  if (stopped && asked.every(({ outcome }) => outcome === "error")) throw stopped;
}

async function openRun(
  context: Context,
  kind: EvalKind,
  files: readonly string[],
  options: EvalOptions,
): Promise<Run> {
  const output = openOutput(context, options);
  const goals = await checkGoals(context, options);
  const { record, replay } = options;
  const folder = record === undefined ? undefined : checkRecordFolder(context.cwd, record);
  const prepared = await prepareSuites(context, kind, files, options);
  const check = (basis: EvalBasis): void => {
    refuseNothing(prepared);
    refuseOtherBaseline(goals, basis, prepared, options.baseline);
  };
  const source =
    replay === undefined
      ? await openService(context, output, options, prepared, check)
      : await openReplay(context, output, { ...options, replay }, prepared);
  try {
    const { basis } = source;
    if (replay !== undefined) check(basis);
    const startedAt = new Date(context.now()).toISOString();
    const { redact } = output.secrets;
    const recorder =
      folder === undefined ? undefined : await startRecording(folder, basis, { startedAt, redact });
    return { context, output, options, prepared, goals, source, recorder, startedAt };
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function evaluate(
  kind: EvalKind,
  system: Context,
  files: readonly string[],
  options: EvalOptions,
): Promise<void> {
  // Questions cost tokens, and nobody would see the result.
  if (system.stdout.closed) throw system.stdout.closed;
  const context = goOnAfterClosedPipe(system);
  const run = await openRun(context, kind, files, options);
  const { output, goals, source } = run;
  try {
    const asked = await askCases(run);
    const report = reportOf(asked.run, asked.cases, goals, options.baseline);
    await writeResults(context, output, options, { result: report, goals, root: source.root });
    if (report.sandbox) await output.warn(sandboxCaveat);
    context.signal.throwIfAborted();
    failIfNothingAsked(asked, source.replies.stopped());
    failUnlessPassed(report, goals.failOn);
  } finally {
    await source.close();
  }
}

/**
 * `knowctl eval retrieval`: searches for the question of each case, and checks which documents come
 * back. Throws CliError `checks-failed` if a case failed or --fail-on holds, `partial` if a case
 * could not be decided, `usage` for a bad suite before the first question, the error that ended a
 * run before any result, and the reason of an interrupt.
 */
export async function evalRetrieval(
  context: Context,
  files: string[],
  options: EvalOptions,
): Promise<void> {
  await evaluate("retrieval", context, files, options);
}

/** `knowctl eval answers`: asks the assistant, and checks the answers. Throws as evalRetrieval(). */
export async function evalAnswers(
  context: Context,
  files: string[],
  options: EvalOptions,
): Promise<void> {
  await evaluate("answers", context, files, options);
}
