import { resolve } from "node:path";
import { checkBaseline } from "../../checks/eval/compare.ts";
import { caseDigest, skipReason } from "../../checks/eval/judge-case.ts";
import { createDocumentMatch } from "../../checks/eval/documents.ts";
import {
  checkFailOn,
  createReport,
  failUnlessPassed,
  parseFailOn,
  type FinishedRun,
  type Goals,
} from "../../checks/eval/report.ts";
import {
  EvalReport,
  type EvalBasis,
  type EvalKind,
  type ReportedCase,
} from "../../checks/eval/result.ts";
import type { Context } from "../../context.ts";
import { checkMembers, reportFormat, sampleOf } from "../../output/formats/formats.ts";
import { checkReportFiles, type ReportFiles } from "../../output/report/forms.ts";
import { lineOf } from "../../output/report/json.ts";
import {
  checkShape,
  parseReportJson,
  readReportText,
  refuseReport,
} from "../../output/report/stored/read.ts";
import { sandboxCaveat } from "../../output/search/results.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { createSpinner, type Spinner } from "../../output/terminal/spinner.ts";
import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import { placeOf } from "../ingest/options/settings.ts";
import { followed, type Outcome } from "../outcome/follow.ts";
import { runCases } from "./cases.ts";
import type { BeginEval } from "./project.ts";
import {
  checkRecordFolder,
  openReplay,
  startRecording,
  type Recorder,
  type RecordingHead,
} from "./recording.ts";
import { prefixHints, writeResults } from "./results.ts";
import { defaultConcurrency, openService, type ReplySource } from "./service.ts";
import { prepareSuites, refuseNothing, type EvalOptions, type Prepared } from "./suites.ts";

/** Parses the report of an earlier run; `name` is the file as typed. Throws CliError `usage`. */
export function parseBaseline(text: string, name: string, flag = `--baseline ${name}`): EvalReport {
  const value = parseReportJson(text, flag);
  if (value.command !== "eval retrieval" && value.command !== "eval answers") {
    throw refuseReport(flag, "JSON, but not a report of knowctl eval");
  }
  return checkShape(flag, EvalReport, value);
}

async function readBaseline({ cwd }: Context, name: string): Promise<EvalReport> {
  return parseBaseline(await readReportText(resolve(cwd, name), `--baseline ${name}`), name);
}

/** Throws CliError `usage` for --fields or --jq that select nothing. Call it before any request. */
export function checkEvalFormat(options: EvalOptions): void {
  const sample = sampleOf(EvalReport) as object;
  checkMembers(options, options.baseline === undefined ? { ...sample, comparison: null } : sample);
}

/** What a run is measured by and where its reports go. Throws CliError `usage` for bad flags. */
async function readGoals(
  context: Context,
  options: EvalOptions,
): Promise<Goals & { files: ReportFiles }> {
  checkEvalFormat(options);
  const failOn = options.failOn === undefined ? undefined : parseFailOn(options.failOn);
  const { baseline: name } = options;
  checkFailOn(failOn, name !== undefined);
  const files = checkReportFiles(options, context.cwd);
  if (name === undefined) return { failOn, files };
  return { failOn, files, baseline: { report: await readBaseline(context, name), name } };
}

/** A run that is ready to ask. */
interface Run {
  context: Context;
  output: Output;
  options: EvalOptions;
  prepared: Prepared;
  source: ReplySource & { head?: RecordingHead };
  recorder: Recorder | undefined;
  startedAt: string;
}

/** Writes the ndjson line of a case, after the progress line is gone from the screen. */
async function writeCase(output: Output, spinner: Spinner, result: ReportedCase): Promise<void> {
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
async function askCases(run: Run): Promise<{ finished: FinishedRun; cases: ReportedCase[] }> {
  const { context, output, options, prepared, source, recorder } = run;
  const { replies, basis, names, head } = source;
  const { cases } = prepared;
  const rules = { ...prepared.rules, matches: createDocumentMatch(names) };
  const isLines = reportFormat(options) === "ndjson";
  const startedMs = context.elapsed();
  const done: ReportedCase[] = [];
  const spinner = createSpinner(output);
  const show = (): void => spinner.start(`asking: ${done.length} of ${cases.length} cases done`);
  const { concurrency = defaultConcurrency } = options;
  let calls = 0;
  show();
  try {
    calls = await runCases(cases, rules, replies, concurrency, async (result, of, recorded) => {
      if (recorded) await recorder?.addCase(of, recorded);
      done.push(result);
      show();
      if (isLines) await writeCase(output, spinner, result);
    });
  } finally {
    await spinner.stop();
  }
  const stopped = stopReason(run);
  const elapsedMs = head?.elapsedMs ?? context.elapsed() - startedMs;
  const startedAt = head?.startedAt ?? run.startedAt;
  const sandbox = source.isSandbox() ? { sandbox: true as const } : {};
  await recorder?.end({ elapsedMs, ...(stopped === undefined ? {} : { stopped }), ...sandbox });
  const finished = { basis, startedAt, elapsedMs, calls, stopped: stopped ?? null, ...sandbox };
  return { finished, cases: done };
}

/** Opens the source of the replies; `check` throws if the run must not start. */
async function openRun(
  context: Context,
  output: Output,
  options: EvalOptions,
  prepared: Prepared,
  check: (basis: EvalBasis) => void,
  outcome?: Outcome,
): Promise<Run> {
  const { record, replay, state = true } = options;
  const begin: BeginEval = async (from) => await outcome?.begin(placeOf(from, { state }));
  const source =
    replay === undefined
      ? await openService(context, output, { options, prepared, begin, check })
      : await openReplay(context, output, { ...options, replay }, prepared, begin);
  try {
    const { basis } = source;
    if (replay !== undefined) check(basis);
    const startedAt = new Date(context.now()).toISOString();
    const { redact } = output.secrets;
    const recorder =
      record === undefined
        ? undefined
        : await startRecording(resolve(context.cwd, record), basis, {
            startedAt,
            redact,
            ...outcome?.identity(),
          });
    return { context, output, options, prepared, source, recorder, startedAt };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/**
 * Searches for the questions of suites, or reads them from the recording of `--replay`. Says first what
 * it asks and what that costs. Throws as evalRetrieval() does before the first question.
 */
export async function searchQuestions(
  context: Context,
  output: Output,
  files: readonly string[],
  options: EvalOptions,
): Promise<{ cases: ReportedCase[]; stopped: string | null }> {
  const prepared = await prepareSuites(context, "retrieval", files, options);
  const run = await openRun(context, output, options, prepared, () => refuseNothing(prepared));
  try {
    const { finished, cases } = await askCases(run);
    context.signal.throwIfAborted();
    return { cases, stopped: finished.stopped };
  } finally {
    await run.source.close();
  }
}

async function evaluate(
  kind: EvalKind,
  system: Context,
  files: readonly string[],
  options: EvalOptions,
  outcome: Outcome,
): Promise<void> {
  // Questions cost tokens, and nobody would see the result.
  if (system.stdout.closed) throw system.stdout.closed;
  const context = goOnAfterClosedPipe(system);
  const output = createOutput(context, options);
  const goals = await readGoals(context, options);
  if (options.record !== undefined) checkRecordFolder(context.cwd, options.record);
  const prepared = await prepareSuites(context, kind, files, options);
  const { cases, rules } = prepared;
  const check = (basis: EvalBasis): void => {
    refuseNothing(prepared);
    if (goals.baseline === undefined) return;
    const asked = cases
      .filter((each) => !each.needsReview && skipReason(each, rules) === undefined)
      .map((each) => ({ id: each.id, digest: caseDigest(each, kind) }));
    checkBaseline(goals.baseline.report, { basis, cases: asked }, goals.baseline.name);
  };
  const run = await openRun(context, output, options, prepared, check, outcome);
  const { source } = run;
  try {
    const done = await askCases(run);
    const { run: name, host, commit } = source.head ?? {};
    // The report of a recording is that of the recorded run.
    const about = name === undefined ? {} : { run: name, host, commit };
    const report = { ...createReport(done.finished, done.cases, goals), ...about };
    await writeResults(context, output, options, { report, files: goals.files, source, outcome });
    if (report.sandbox) await output.warn(sandboxCaveat);
    context.signal.throwIfAborted();
    // The error that ended the run before any case had a result.
    const stopped = source.replies.stopped();
    const asked = done.cases.filter(({ outcome }) => outcome !== "skipped");
    if (stopped && asked.every(({ outcome }) => outcome === "error")) throw stopped;
    failUnlessPassed(report, goals.failOn, prefixHints(report, source.names));
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
export const evalRetrieval = followed<EvalOptions>(
  "eval retrieval",
  (context, files, options, outcome) => evaluate("retrieval", context, files, options, outcome),
);

/** `knowctl eval answers`: asks the assistant, and checks the answers. Throws as evalRetrieval(). */
export const evalAnswers = followed<EvalOptions>(
  "eval answers",
  (context, files, options, outcome) => evaluate("answers", context, files, options, outcome),
);
