import {
  failUnlessPassed,
  type FailOn,
  checkFailOn,
  finishReport,
  parseFailOn,
} from "../../../checks/eval/fail-on.ts";
import {
  reportCase,
  type ReportedCase,
  createReport,
  type EvalReport,
} from "../../../checks/eval/report.ts";
import type { EvalBasis, EvalKind, EvalRunResult } from "../../../checks/eval/result.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import { lineOf, writeData } from "../../../output/report/json.ts";
import { sandboxCaveat } from "../../../output/sandbox-caveat.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { createSpinner, type Spinner } from "../../../output/terminal/spinner.ts";
import { goOnAfterClosedPipe } from "../../closed-pipe.ts";
import { openOutput } from "../../connect.ts";
import type { EvalOptions } from "./options.ts";
import { prepareSuites, refuseNothing, type Prepared } from "./prepare.ts";
import {
  checkRecordFolder,
  startRecording,
  type Recorder,
  type RecordingHead,
  checkRecording,
  openRecording,
  type Recording,
} from "./recording/recording.ts";
import { runCases } from "./run-cases.ts";
import { defaultConcurrency, openService, type ReplySource } from "./source.ts";
import { createDocumentMatch } from "../../../checks/eval/match-document.ts";
import { openProject } from "./folder.ts";
import type { CaseReplies } from "../../../checks/eval/reply.ts";
import type { EvalCase } from "../../../checks/eval/suite/suite.ts";
import { noReply, type Replies } from "./live.ts";
import { realpathSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { checkBaseline } from "../../../checks/eval/compare.ts";
import { caseDigest } from "../../../checks/eval/suite/case-digest.ts";
import { skipReason } from "../../../checks/eval/judge-case.ts";
import { reportFormat } from "../../../output/formats/members.ts";
import { readBaseline } from "../../../output/report/stored/baseline.ts";
import {
  checkReportFiles,
  writeAll,
  writeReports,
  type ReportFiles,
} from "../../../output/report/forms.ts";
import { checkEvalFormat, evalReport } from "../../../output/report/from/eval.ts";
import { ciPrefix } from "../../../output/report/github.ts";
import { writePeople } from "../../../output/report/people.ts";
import { findGitRoot } from "../../project-root.ts";
import { sectionLinesIn } from "../section-line.ts";

/** Where results go, and what they are compared with: all checked before the first question. */
interface Goals {
  /** `text`, `json` or `ndjson`. */
  format: string;
  failOn: FailOn | undefined;
  baseline: EvalReport | undefined;
  files: ReportFiles;
}

/** Throws CliError `usage` for a bad condition, baseline, report file or selection. */
async function checkGoals(context: Context, options: EvalOptions): Promise<Goals> {
  checkEvalFormat(options);
  const failOn = options.failOn === undefined ? undefined : parseFailOn(options.failOn);
  checkFailOn(failOn, options.baseline !== undefined);
  const files = checkReportFiles(options, context.cwd);
  const { baseline: file } = options;
  const baseline =
    file === undefined ? undefined : await readBaseline(resolve(context.cwd, file), file);
  return { format: reportFormat(options), failOn, baseline, files };
}

/** Throws CliError `usage` for a baseline of another suite, way, k, judge or kind. */
function refuseOtherBaseline(
  { baseline }: Goals,
  basis: EvalBasis,
  { cases, rules }: Prepared,
  name = "",
): void {
  if (baseline === undefined) return;
  const asked = cases
    .filter((each) => skipReason(each, rules) === undefined)
    .map((each) => ({ id: each.id, digest: caseDigest(each, rules.kind) }));
  checkBaseline(baseline, { basis, cases: asked }, name);
}

/** The report of a run, compared with the baseline. */
function reportOf(
  run: EvalRunResult,
  cases: readonly ReportedCase[],
  { baseline, failOn }: Goals,
  name: string | undefined,
): EvalReport {
  return finishReport(createReport(run, cases), baseline, name ?? "", failOn);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/**
 * Writes the results on stdout, to the report files, and for a GitHub job. A report that cannot be
 * written does not prevent the others; then throws its CliError `local`.
 */
async function writeResults(
  context: Context,
  output: Output,
  options: EvalOptions,
  { result, goals, root }: { result: EvalReport; goals: Goals; root: string },
): Promise<void> {
  const { env, cwd } = context;
  const suitePath = (file: string): string =>
    relative(realPath(root), realPath(resolve(cwd, file))).replaceAll(sep, "/");
  // Redacted before lines are cut: a part of a secret would not be found.
  const report = evalReport(output.secrets.redactAll(result), {
    suitePath,
    lineOf: sectionLinesIn(root),
  });
  const prefix = ciPrefix(root, findGitRoot(context, root), env);
  await writeAll([
    () => writeReports(output, env, report, goals.files, prefix),
    async () => {
      if (goals.format === "text") await writePeople(output, report, (path) => path, "page");
      else await writeData(output, options, report.data, true);
    },
  ]);
}

/** Replies of a recording. What it does not hold is an error of the case. */
function createReplay(recording: Recording): Replies {
  const read = new Map<EvalCase, CaseReplies | string>();
  const repliesOf = (evalCase: EvalCase): CaseReplies | string => {
    let replies = read.get(evalCase);
    if (replies === undefined) {
      try {
        replies = recording.repliesOf(evalCase) ?? "the recording does not hold this case";
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        replies = error.message;
      }
      read.set(evalCase, replies);
    }
    return replies;
  };
  return {
    stopped: () => undefined,
    get(evalCase, attempt) {
      const replies = repliesOf(evalCase);
      if (typeof replies === "string") return Promise.resolve(noReply(replies));
      const reply = attempt === "control" ? replies.control : replies.runs[attempt - 1];
      return Promise.resolve(reply ?? noReply("the recording does not hold this repetition"));
    },
  };
}

/** How the recorded run ended. A run that was killed recorded no end: its time is unknown. */
function endOf({
  elapsedMs,
  stopped,
}: RecordingHead): Pick<RecordingHead, "elapsedMs" | "stopped"> {
  if (elapsedMs !== undefined) return { elapsedMs, stopped };
  return { elapsedMs: 0, stopped: "the recorded run did not end" };
}

/**
 * Opens the recording of `--replay`, without a profile and without network. Throws CliError `usage`
 * for a recording of another suite, command, way or k.
 */
async function openReplay(
  context: Context,
  output: Output,
  options: EvalOptions & { replay: string },
  { suites, k, rules }: Prepared,
): Promise<ReplySource & { head: RecordingHead }> {
  const { replay, via } = options;
  const recording = openRecording(context.cwd, replay);
  const { head } = recording;
  const named = suites.map(({ file, digest }) => ({ file, digest }));
  checkRecording(head, { kind: rules.kind, suites: named, k, via });
  const request = { suites, replayed: head.basis.dialect };
  const { root, names } = await openProject(context, options, output, request);
  return {
    replies: createReplay(recording),
    basis: { ...head.basis, suites: named, judge: rules.judges ? head.basis.judge : null },
    matches: createDocumentMatch(names),
    root,
    isSandbox: () => head.sandbox === true,
    close: () => Promise.resolve(),
    head: { ...head, ...endOf(head) },
  };
}

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
