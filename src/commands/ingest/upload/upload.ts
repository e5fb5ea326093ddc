import { createImages } from "../../../sync/run/images.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { State } from "../../../sync/state/state.ts";
import type { Client } from "../../../api/client.ts";
import { limitsOf } from "../../../api/call.ts";
import { policies } from "../../../api/retry/policy.ts";
import { createGate, type Gate } from "../../../api/retry/gate.ts";
import type { Context } from "../../../context.ts";
import { CliError, reasonOf, ApiError } from "../../../errors.ts";
import { countOf, type UploadCounts } from "../../../output/terminal/progress.ts";
import type { VerifyCounts } from "../../../output/report/from/verify.ts";
import { createDates, unchangedDates } from "../../../sync/run/bump-updated-at.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { BegunRun } from "../../../sync/state/uploads.ts";
import { serviceTargets } from "../../../sync/state/target.ts";
import type { SentCheck } from "../../verify/expected/sent.ts";
import { readAgain, readPending, type Pending } from "../../../sync/run/pending.ts";
import { runDocuments } from "../../../sync/run/run.ts";
import { createImageUploads, createSender } from "./sender.ts";
import { accessRules, type AccessFlags } from "../target/access.ts";
import { createOtherPairs } from "../target/other-pairs.ts";
import type { Owners } from "../target/owners.ts";
import type { Shard } from "../../../sync/plan/shard.ts";
import {
  checkSent,
  countStillUnfound,
  foundProblems,
  openCheck,
  keepingSent,
} from "./check-sent.ts";
import {
  failedHint,
  clearSettled,
  clearUnchanged,
  failuresKey,
  recordPlanFailures,
} from "./failures.ts";
import type { Report, Traffic } from "../report/report.ts";
import type { UploadSession } from "../session.ts";
import { followUpload, type FollowedUpload } from "./follow-upload.ts";
import type { DocumentEvent, RunRequest } from "../../../sync/run/run-request.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { findOtherDialect } from "../../../api/other-dialect.ts";
import { withoutApi } from "../../../api/transport/without-api.ts";

/**
 * Returns the error to report for a run that `error` stopped. If the service lacks the upload
 * endpoint, this is an error that names the service's dialect; otherwise `error` itself.
 */
async function explainMissingEndpoint(client: Client, error: unknown): Promise<unknown> {
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

/** What an upload sends, and how its run is recorded. */
interface Upload {
  plan: Plan;
  /** Documents from stdin, instead of the documents of the plan. */
  stream?: AsyncIterable<Pending[]>;
  /** Whose the documents without a record are. */
  owners: Owners;
  startedAtMs: number;
  /** What to record of the run until it has ended; undefined where nothing could repeat it. */
  begun?: BegunRun | undefined;
  /** Where one run sends several groups of files. */
  overwritten?: Overwritten;
}

function trafficOf(gate: Gate): Traffic {
  const { requests, retries, throttled } = gate.state();
  return { requests, retries, throttled };
}

const isAllCurrent = (counts: VerifyCounts): boolean =>
  Object.entries(counts).every(([result, count]) => result === "current" || count === 0);

/**
 * Whether another upload to the target `key` ran or runs on this state: what it sent may have no
 * record yet. Call it before the run is recorded itself.
 */
function createHasOtherRun(
  { uploads }: State,
  key: string,
  begun: BegunRun | undefined,
): () => boolean {
  const before = uploads.stopped(key);
  return () => {
    const last = uploads.stopped(key);
    return before !== undefined || (last !== undefined && last.startedAtMs !== begun?.startedAtMs);
  };
}

/** The parts of a run that the session, the plan and the flags decide. */
function runParts(
  { state, targets, shaping, source, connected }: UploadSession,
  { table }: Plan,
  options: UploadOptions,
  gate: Gate,
  { signal, now }: Context,
) {
  return {
    state,
    targets,
    options: shaping.number,
    idPrefix: source.settings.idPrefix,
    // The service has one document per id for all pairs (observed-service.md 3.3).
    sharedTargets: options.state === false ? [] : serviceTargets(state.database, targets.baseUrl),
    mappingKey: (path: string) => source.mappingKey(path),
    renamedFrom: (content: string, path: string) =>
      source.since?.renamed.get(path) ?? table.renamedFrom(content),
    force: options.force === true,
    documentMs: limitsOf(policies.upsert, connected.options.timeoutMs, 0).totalMs,
    runFaultOf: runFaultOf(options.source),
    isGivenUp: () => gate.state().stopped !== undefined,
    concurrency: connected.concurrency,
    maxFailures: options.maxFailures,
    failedBefore: table.count("failed"),
    signal,
    now,
  };
}

/** Sends what is pending and reports it. Returns how many documents would fail again as they are. */
async function sendAll(
  request: Omit<RunRequest, "onSuspect" | "onSending">,
  { output, progress }: Pick<UploadSession, "output" | "progress">,
  report: Report,
  followed: FollowedUpload,
  warningOf: (events: readonly DocumentEvent[]) => string | undefined,
): Promise<number> {
  const { verified } = request.state;
  const suspects: Parameters<typeof verified.suspect>[0][number][] = [];
  const onSuspect: RunRequest["onSuspect"] = (document) => void suspects.push(document);
  let broken = request.failedBefore ?? 0;
  const { onSending } = followed;
  const events = runDocuments({ ...request, onSuspect, onSending });
  progress.follow(followed.describe);
  for await (const batch of events) {
    followed.add(batch.length);
    const warning = warningOf(batch);
    if (warning !== undefined) {
      await progress.stop();
      await output.warn(warning);
      progress.follow(followed.describe);
    }
    verified.suspect(suspects.splice(0));
    for (const { status, retryable } of batch) if (status === "failed" && !retryable) broken++;
    await report.add(batch);
  }
  return broken;
}

/** Warns when the service may differ from the summary. */
async function warnOfDoubt(output: Output, lost: number, unknown: number): Promise<void> {
  if (lost > 0) {
    await output.warn(
      `${countOf(lost, "image upload")} got no response: the service may have stored a file that no document uses`,
    );
  }
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
export async function uploadPlan(
  context: Context,
  session: UploadSession,
  upload: Upload,
  report: Report,
  options: UploadOptions,
): Promise<void> {
  const check = await openCheck(context, { ...session, options });
  try {
    await sendPlan(context, session, upload, report, options, check);
  } finally {
    check?.close();
  }
}

async function sendPlan(
  context: Context,
  session: UploadSession,
  { plan, stream, owners, startedAtMs, begun, overwritten = createOverwritten() }: Upload,
  report: Report,
  options: UploadOptions,
  check: SentCheck | undefined,
): Promise<void> {
  const { output, progress, source, state, targets, connected, inspector } = session;
  const { client, concurrency, rate: ratePerSecond } = connected;
  const { now, signal } = context;
  const { table } = plan;
  const planned = { table, inspector, factsOf: source.factsOf };
  const { baseUrl } = targets;
  const key = failuresKey(targets);
  const isStdin = stream !== undefined;
  const force = options.force === true;
  const gate = createGate({ ceiling: concurrency, ratePerSecond, clock: context, signal });
  const uploads = createImageUploads(client, source.settings.root, gate);
  const images = createImages({ state, service: baseUrl, force, upload: uploads.upload, now });
  const dates = client.dialect.skipsUnadvanced
    ? createDates({ state, baseUrl, force, now })
    : unchangedDates;
  const otherPairs = createOtherPairs(session, accessRules(options, source.config));
  const hasOtherRun = createHasOtherRun(state, begun?.target ?? key, begun);
  const keeping =
    check && ((send: RunRequest["upload"]) => keepingSent(send, check, { client, targets, now }));
  const tellDoubts = async (): Promise<void> => {
    if (!hasOtherRun()) await owners.tell(output);
    await otherPairs.tell(output);
    await warnOfDoubt(output, uploads.lost(), dates.unknown());
  };
  const checked = { ...session, check, report, stream, options };
  let broken = 0;
  let verified: VerifyCounts | undefined;
  let shared: CliError | undefined;
  try {
    await report.begin(plan, session.shaping.recorded);
    recordPlanFailures(table, state, key, session.shaping.number, now);
    if (!isStdin) await owners.ready(plan);
    const count = table.count("new") + table.count("changed");
    if (begun && begun.part === "") clearUnchanged(plan, source, state, key, startedAtMs);
    if (begun && count > 0) state.uploads.begin(begun);
    const request = {
      ...runParts(session, plan, options, gate, context),
      ...createSender(client, gate, images, keeping),
      pending: otherPairs.guard(owners.guard(stream ?? readPending(planned))),
      again: (numbers: readonly number[]) => owners.guard(readAgain(numbers, planned)),
      adapt: dates.adapt,
    };
    const total = isStdin ? undefined : count;
    const followed = followUpload(context.elapsed, connected, gate, report.counts, total);
    // Without a record of the run, or beside another run on this state, it means nothing.
    const isTold = (): boolean => options.state !== false && !hasOtherRun();
    const warningOf = (events: readonly DocumentEvent[]): string | undefined =>
      overwritten.add(events, isTold);
    broken = await sendAll(request, session, report, followed, warningOf);
    verified = await checkSent(context, checked);
    shared = await otherPairs.unchanged();
  } catch (thrown) {
    await progress.stop();
    await tellDoubts();
    const error = await explainMissingEndpoint(client, thrown);
    const status = signal.aborted ? "interrupted" : "error";
    await report.finish(status, trafficOf(gate), error);
    signal.throwIfAborted();
    throw error;
  }
  await progress.stop();
  await tellDoubts();
  const isOver = !signal.aborted;
  // A shard or --since run does not read the other files.
  const readsAll = !isStdin && !options.shard && !source.since;
  if (isOver && readsAll) clearSettled(plan, source, state, key, startedAtMs);
  if (isOver && begun) state.uploads.end(begun);
  const unfound = await countStillUnfound(checked, verified);
  const isVerified = !unfound && (!verified || isAllCurrent(verified));
  const isWhole = report.counts.failed === 0 && !shared && isVerified;
  await report.finish(isOver ? (isWhole ? "ok" : "partial") : "interrupted", trafficOf(gate));
  signal.throwIfAborted();
  const problems = await foundProblems(verified, unfound, isStdin);
  if (shared) problems.unshift(shared);
  const hint = (): string => failedHint(source, options.state, isStdin, broken);
  problems.unshift(...failedProblem(report.counts, hint));
  const [first, ...rest] = problems;
  // The first problem sets the exit code; the others stay unresolved as well.
  for (const problem of rest) await output.warn(reasonOf(problem));
  if (first) throw first;
}

function failedProblem(
  { failed, created, updated, unchanged }: UploadCounts,
  hint: () => string,
): CliError[] {
  if (failed === 0) return [];
  const others = created + updated + unchanged > 0 ? "; the others were sent" : "";
  const message = `${countOf(failed, "document")} failed${others}`;
  return [new CliError("partial", message, { hints: [hint()] })];
}
