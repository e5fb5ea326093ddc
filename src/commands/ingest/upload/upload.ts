import { limitsOf } from "../../../api/call.ts";
import { policies } from "../../../api/retry/policy.ts";
import { createGate, type Gate } from "../../../api/retry/gate.ts";
import type { Context } from "../../../context.ts";
import { CliError, reasonOf, ApiError } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import type { VerifyCounts } from "../../../output/report/from/verify.ts";
import { createDates, unchangedDates, type Dates } from "../../../sync/run/bump-updated-at.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { BegunRun } from "../../../sync/state/uploads.ts";
import { serviceTargets } from "../../../sync/state/target.ts";
import type { SentCheck } from "../../verify/expected/sent.ts";
import { readAgain, readPending, type Pending } from "../../../sync/run/pending.ts";
import { runDocuments } from "../../../sync/run/run.ts";
import { createImageUploads, type ImageUploads, createSender } from "./sender.ts";
import { accessRules, type AccessFlags } from "../target/access.ts";
import { createOtherPairs, type OtherPairs } from "../target/other-pairs.ts";
import type { Owners } from "../target/owners.ts";
import type { Shard } from "../../../sync/plan/shard.ts";
import { checkSent, countStillUnfound, foundProblems, openCheck } from "./check-sent.ts";
import {
  failedHint,
  clearSettled,
  clearUnchanged,
  failuresKey,
  recordPlanFailures,
} from "./failures.ts";
import type { Report, Traffic } from "../report/report.ts";
import type { UploadSession } from "../session.ts";
import { followUpload } from "./follow-upload.ts";
import type { DocumentEvent } from "../../../sync/run/run-request.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { findOtherDialect } from "../../../api/other-dialect.ts";
import { withoutApi } from "../../../api/transport/without-api.ts";

/**
 * Returns the error to report for a run that `error` stopped. If the service lacks the upload
 * endpoint, this is an error that names the service's dialect; otherwise `error` itself.
 */
async function explainMissingEndpoint(
  { client }: UploadSession["connected"],
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 405)) return error;
  if (error.code === withoutApi) return error;
  const { ingestion } = client.dialect.paths;
  if (error.url !== client.url(ingestion)) return error;
  const found = await findOtherDialect(client).catch(() => undefined);
  if (!found?.isMissing) return error;
  const { method, url, status, code } = error;
  const { other, path = "" } = found;
  const lacks = `the service has no ${url} (${status})`;
  const message =
    other === undefined
      ? `${lacks}; its dialect is unknown`
      : `${lacks}, but it has ${client.url(path)}: it speaks the ${other} dialect, this run used ${client.dialect.name}`;
  const hints =
    other === undefined
      ? ["check the base URL and --dialect; `knowctl doctor` shows which service responds"]
      : [`use --dialect ${other}, or set "dialect": "${other}" in the profile`];
  return new ApiError("not-found", message, { method, url, status, code, hints, cause: error });
}

/**
 * Documents of a run that the service already had without a record here. Where the service lists
 * its documents, they were told apart before; elsewhere its answer is the only sign.
 */
export interface Overwritten {
  /** Returns the warning about the first one; undefined for none, and after the first. */
  add(events: readonly DocumentEvent[], isTold: () => boolean): string | undefined;
}

const causes =
  "another project sends the same ids (use --id-prefix), or the state was lost (keep .knowctl, in a pipeline in its cache), " +
  "or the service did not index it (`knowctl verify` tells)";

export function createOverwritten(): Overwritten {
  let isOver = false;
  return {
    add(events, isTold) {
      if (isOver) return undefined;
      const first = events.find(({ wasUnrecorded }) => wasUnrecorded);
      if (first === undefined || !isTold()) return undefined;
      isOver = true;
      return `the service already had ${neutraliseLine(first.id)}, which has no record here: ${causes}`;
    },
  };
}

// The place of the source type in the service's words about a wrong value (observed-service.md 6.2).
const aboutSource = /\bdocument\.source: (.*)$/s;

/**
 * Returns the error that stops a run, if a response refuses the source type that `--source` gives to
 * every document: no other document would fare better, and no document needs a change.
 */
function runFaultOf(source: string | undefined): (error: unknown) => CliError | undefined {
  return (error) => {
    if (source === undefined || !(error instanceof ApiError) || error.status !== 422) {
      return undefined;
    }
    const [, words] = aboutSource.exec(error.message) ?? [];
    // A finished document (JSON) has a source of its own.
    if (!words?.startsWith(`"${source}" is unknown`)) return undefined;
    return new CliError("usage", `--source: the service refuses it: ${words}`, { cause: error });
  };
}

interface UploadOptions extends AccessFlags {
  maxFailures?: number;
  force?: boolean;
  source?: string;
  shard?: Shard;
  state?: string | boolean;
  verify?: boolean;
  wait?: number;
}

interface Upload extends UploadSession {
  plan: Plan;
  report: Report;
  /** Documents from stdin, instead of the documents of the plan. */
  stream?: AsyncIterable<Pending[]>;
  options: UploadOptions;
  startedAtMs: number;
  /** What to record of the run until it has ended; undefined where nothing could repeat it. */
  begun?: BegunRun | undefined;
  /** Whose the documents without a record are. */
  owners: Owners;
  /** Where one run sends several groups of files. */
  overwritten?: Overwritten;
  /** With `--verify`: checks what was sent. */
  check?: SentCheck | undefined;
}

function trafficOf(gate: Gate): Traffic {
  const { requests, retries, throttled } = gate.state();
  return { requests, retries, throttled };
}

const isAllCurrent = (counts: VerifyCounts): boolean =>
  Object.entries(counts).every(([result, count]) => result === "current" || count === 0);

function datesOf({ now }: Context, { state, connected, targets, options }: Upload): Dates {
  if (connected.client.dialect.skipsUnadvanced !== true) return unchangedDates;
  return createDates({ state, baseUrl: targets.baseUrl, force: options.force === true, now });
}

/** Sources of the warnings that the service may differ from the summary. */
interface Doubts {
  uploads: ImageUploads;
  dates: Dates;
  overwritten: Overwritten;
  /** False: the run keeps no record, or another one sends under the same state. */
  isTold: () => boolean;
  otherPairs: OtherPairs;
  hasOtherRun: () => boolean;
}

/**
 * Whether another upload to the target ran or runs on this state: what it sent may have no record
 * yet. Call it before the run is recorded itself.
 */
function createHasOtherRun({ state, targets, begun }: Upload): () => boolean {
  const key = begun?.target ?? failuresKey(targets);
  const before = state.uploads.stopped(key);
  return () => {
    const last = state.uploads.stopped(key);
    return before !== undefined || (last !== undefined && last.startedAtMs !== begun?.startedAtMs);
  };
}

/** Sends what is pending. Returns how many documents would fail again as they are. */
async function sendAll(
  context: Context,
  upload: Upload,
  gate: Gate,
  { uploads, dates, overwritten, otherPairs, isTold }: Doubts,
): Promise<number> {
  const { plan, state, report, source, inspector, connected, options, owners } = upload;
  const planned = { table: plan.table, inspector, factsOf: source.factsOf };
  let sending = 0;
  let hold: (change: 1 | -1) => void = () => {};
  const suspects: Parameters<typeof state.verified.suspect>[0][number][] = [];
  const events = runDocuments({
    pending: otherPairs.guard(owners.guard(upload.stream ?? readPending(planned))),
    again: (numbers) => owners.guard(readAgain(numbers, planned)),
    state,
    targets: upload.targets,
    options: upload.shaping.number,
    idPrefix: source.settings.idPrefix,
    // The service has one document per id for all pairs (observed-service.md 3.3).
    sharedTargets:
      options.state === false ? [] : serviceTargets(state.database, upload.targets.baseUrl),
    mappingKey: (path) => source.mappingKey(path),
    renamedFrom: (content, path) =>
      source.since?.renamed.get(path) ?? plan.table.renamedFrom(content),
    force: options.force === true,
    ...createSender(context, upload, gate, uploads, (change) => hold(change)),
    followHeld: (workers) => void (hold = workers),
    onSending: (change) => void (sending += change),
    documentMs: limitsOf(policies.upsert, connected.options.timeoutMs, 0).totalMs,
    adapt: dates.adapt,
    onSuspect: (document) => void suspects.push(document),
    runFaultOf: runFaultOf(options.source),
    isGivenUp: () => gate.state().stopped !== undefined,
    concurrency: connected.concurrency,
    maxFailures: options.maxFailures,
    failedBefore: plan.table.count("failed"),
    signal: context.signal,
    now: context.now,
  });
  const shown = followUpload(context, upload, gate, () => sending);
  let broken = plan.table.count("failed");
  for await (const batch of events) {
    shown.add(batch.length);
    const warning = overwritten.add(batch, isTold);
    if (warning !== undefined) {
      await upload.progress.stop();
      await upload.output.warn(warning);
      shown.show();
    }
    state.verified.suspect(suspects.splice(0));
    for (const { status, retryable } of batch) if (status === "failed" && !retryable) broken++;
    await report.add(batch);
  }
  return broken;
}

/** Warns when the service may differ from the summary. */
async function warnOfDoubt(
  { output, owners }: Upload,
  { uploads, dates, otherPairs, hasOtherRun }: Doubts,
): Promise<void> {
  if (!hasOtherRun()) await owners.tell(output);
  await otherPairs.tell(output);
  const lost = uploads.lost();
  if (lost > 0) {
    await output.warn(
      `${countOf(lost, "image upload")} got no response: the service may have stored a file that no document uses`,
    );
  }
  const unknown = dates.unknown();
  if (unknown > 0) {
    await output.warn(
      `the service already had ${countOf(unknown, "document")} without a record here: it may have ignored changes of only metadata, title or link; use --force to send these changes`,
    );
  }
}

/**
 * Sends the plan and reports the result. Throws CliError `partial` when documents failed, the
 * error that stopped the run, or the signal's reason. Always writes the summary before. With
 * `--verify` it then throws `checks-failed` or `partial` unless all that was sent is current, and
 * before anything is sent where that cannot be checked.
 */
export async function uploadPlan(context: Context, upload: Upload): Promise<void> {
  const check = await openCheck(context, upload);
  try {
    await sendPlan(context, { ...upload, check });
  } finally {
    check?.close();
  }
}

async function sendPlan(context: Context, upload: Upload): Promise<void> {
  const { report, progress, state, begun } = upload;
  const { concurrency: ceiling, rate } = upload.connected;
  const gate = createGate({
    ceiling,
    ...(rate === undefined ? {} : { ratePerSecond: rate }),
    clock: context,
    signal: context.signal,
  });
  const uploads = createImageUploads(upload.connected.client, upload.source.settings.root, gate);
  const dates = datesOf(context, upload);
  const otherPairs = createOtherPairs(upload, accessRules(upload.options, upload.source.config));
  const isKept = upload.options.state !== false;
  const hasOtherRun = createHasOtherRun(upload);
  const isTold = (): boolean => isKept && !hasOtherRun();
  const { overwritten = createOverwritten() } = upload;
  const doubts = { uploads, dates, overwritten, otherPairs, hasOtherRun, isTold };
  let broken = 0;
  let verified: VerifyCounts | undefined;
  let shared: CliError | undefined;
  try {
    await report.begin(upload.plan, upload.shaping.recorded);
    recordPlanFailures(upload, context.now);
    await upload.owners.ready(upload);
    const { table } = upload.plan;
    if (begun && begun.part === "") clearUnchanged(upload);
    if (begun && table.count("new") + table.count("changed") > 0) state.uploads.begin(begun);
    broken = await sendAll(context, upload, gate, doubts);
    verified = await checkSent(context, upload);
    shared = await otherPairs.unchanged();
  } catch (thrown) {
    await progress.stop();
    await warnOfDoubt(upload, doubts);
    const error = await explainMissingEndpoint(upload.connected, thrown);
    const status = context.signal.aborted ? "interrupted" : "error";
    await report.finish(status, trafficOf(gate), error);
    context.signal.throwIfAborted();
    throw error;
  }
  await progress.stop();
  await warnOfDoubt(upload, doubts);
  const { failed, created, updated, unchanged } = report.counts;
  const interrupted = context.signal.aborted;
  if (!interrupted && !upload.stream) clearSettled(upload);
  if (!interrupted && begun) state.uploads.end(begun);
  const unfound = await countStillUnfound(upload, verified);
  const isVerified = !unfound && (!verified || isAllCurrent(verified));
  const status = interrupted
    ? "interrupted"
    : failed > 0 || shared || !isVerified
      ? "partial"
      : "ok";
  await report.finish(status, trafficOf(gate));
  context.signal.throwIfAborted();
  const problems = await foundProblems(verified, unfound, upload.stream !== undefined);
  if (shared) problems.unshift(shared);
  if (failed > 0) {
    const others = created + updated + unchanged > 0 ? "; the others were sent" : "";
    const hints = [failedHint(upload, broken)];
    const message = `${countOf(failed, "document")} failed${others}`;
    problems.unshift(new CliError("partial", message, { hints }));
  }
  const [first, ...rest] = problems;
  // The first problem sets the exit code; the others stay unresolved as well.
  for (const problem of rest) await upload.output.warn(reasonOf(problem));
  if (first) throw first;
}
