import { createImages, createDates, unchangedDates } from "../../../sync/run/bodies.ts";
import type { Output } from "../../../output/terminal/output.ts";
import type { State } from "../../../sync/state/state.ts";
import type { Client } from "../../../api/client.ts";
import { limitsOf } from "../../../api/call.ts";
import { policies } from "../../../api/retry/policy.ts";
import { trafficOf } from "../../outcome/measures.ts";
import { createGate, type Gate } from "../../../api/retry/gate.ts";
import type { Context } from "../../../context.ts";
import { CliError, reasonOf, ApiError } from "../../../errors.ts";
import { countOf, type UploadCounts } from "../../../output/terminal/progress.ts";
import type { Plan } from "../../../sync/plan/plan.ts";
import type { BegunRun } from "../../../sync/state/uploads.ts";
import { serviceTargets } from "../../../sync/state/target.ts";
import type { RunTotals } from "../../../sync/shared/runs.ts";
import { readAgain, readPending, type Pending } from "../../../sync/run/pending.ts";
import { runDocuments } from "../../../sync/run/run.ts";
import { createImageUploads, createSender, followUpload, type FollowedUpload } from "./sender.ts";
import type { Owners } from "../target/owners.ts";
import type { IngestOptions } from "../ingest-options.ts";
import type { UploadCheck } from "./check-sent.ts";
import { runProblem, runText, type Turns } from "./claim.ts";
import {
  failedHint,
  clearSettled,
  clearUnchanged,
  failuresKey,
  recordPlanFailures,
} from "./failures.ts";
import type { Report } from "../report/report.ts";
import type { UploadSession } from "../session.ts";
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

/** What an upload sends, and how its run is recorded. */
interface Upload {
  plan: Plan;
  /** The run that shares the documents with other workers. */
  turns?: Turns | undefined;
  /** Documents from stdin, instead of the documents of the plan. */
  stream?: AsyncIterable<Pending[]>;
  /** Whose the documents are. */
  owners: Owners;
  startedAtMs: number;
  /** What to record of the run until it has ended; undefined where nothing could repeat it. */
  begun?: BegunRun | undefined;
  /** Where one run sends several groups of files: what it told of documents without a record. */
  asked: { isOverwriteTold: boolean };
}

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
  options: IngestOptions,
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

const causes =
  "another project sends the same ids (use --id-prefix), or the state was lost (keep .knowctl, in a pipeline in its cache), " +
  "or the service did not index it (`knowctl verify` shows it)";

/**
 * Returns a function that finds in the events the first document with the stored id of the document
 * before it, and names both; undefined without one, and after the first.
 */
function createSharedIds(): (events: readonly DocumentEvent[]) => string | undefined {
  let last: DocumentEvent | undefined;
  let isFound = false;
  return (events) => {
    for (const each of events) {
      if (isFound || each.storedId === undefined) continue;
      const before = last;
      last = each;
      if (before?.storedId !== each.storedId || before.id === each.id) continue;
      isFound = true;
      const [first, second] = [before.id, each.id].map(neutraliseLine);
      return `the service returned the same id for ${first} and ${second}: it may store only one of them`;
    }
    return undefined;
  };
}

/**
 * Sends what is pending and reports it. `isTold` decides whether to warn of a document that the service
 * already had without a record here: where it lists its documents, they were told apart before;
 * elsewhere its answer is the only sign. Returns how many documents would fail again as they are.
 */
async function sendAll(
  request: Omit<RunRequest, "onSuspect" | "onSending">,
  { output, progress }: Pick<UploadSession, "output" | "progress">,
  report: Report,
  followed: FollowedUpload,
  isTold: () => boolean,
): Promise<number> {
  const { verified } = request.state;
  const suspects: Parameters<typeof verified.suspect>[0][number][] = [];
  const onSuspect: RunRequest["onSuspect"] = (document) => void suspects.push(document);
  const findSharedId = createSharedIds();
  let broken = request.failedBefore ?? 0;
  const { onSending } = followed;
  const events = runDocuments({ ...request, onSuspect, onSending });
  progress.follow(followed.describe);
  for await (const batch of events) {
    followed.add(batch.length);
    const foreign = batch.find(({ wasUnrecorded }) => wasUnrecorded);
    if (foreign && isTold()) {
      await progress.stop();
      await output.warn(
        `the service already had ${neutraliseLine(foreign.id)}, which has no record here: ${causes}`,
      );
      progress.follow(followed.describe);
    }
    const sharedId = findSharedId(batch);
    if (sharedId !== undefined) {
      await progress.stop();
      await output.warn(sharedId);
      progress.follow(followed.describe);
    }
    verified.suspect(suspects.splice(0));
    for (const { status, retryable } of batch) if (status === "failed" && !retryable) broken++;
    await report.add(batch);
  }
  return broken;
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
  options: IngestOptions,
): Promise<void> {
  const isStdin = upload.stream !== undefined;
  const check = options.verify
    ? await (await import("./check-sent.ts")).openUploadCheck(context, session, options, isStdin)
    : undefined;
  try {
    await sendPlan(context, session, upload, report, options, check);
  } finally {
    check?.close();
  }
}

async function sendPlan(
  context: Context,
  session: UploadSession,
  { plan, turns, stream, owners, startedAtMs, begun, asked }: Upload,
  report: Report,
  options: IngestOptions,
  check: UploadCheck | undefined,
): Promise<void> {
  const { output, progress, source, state, targets, connected, inspector, shaping } = session;
  const { client, concurrency, rate: ratePerSecond } = connected;
  const { now, signal } = context;
  const { table } = plan;
  const worker = turns?.worker;
  const planned = { table, inspector, factsOf: source.factsOf, take: worker?.take };
  const service = targets.baseUrl;
  const key = failuresKey(targets);
  const isStdin = stream !== undefined;
  const force = options.force === true;
  const mayStart = worker?.maySend;
  const gate = createGate({
    ceiling: concurrency,
    ratePerSecond,
    mayStart,
    clock: context,
    signal,
  });
  turns?.follow(gate);
  const uploads = createImageUploads(client, source.settings.root, gate);
  const images = createImages({ state, service, force, upload: uploads.upload, now });
  const dates = client.dialect.skipsUnadvanced
    ? createDates({ state, baseUrl: service, force, now })
    : unchangedDates;
  const hasOtherRun = createHasOtherRun(state, begun?.target ?? key, begun);
  const tellDoubts = async (): Promise<void> => {
    await progress.stop();
    await owners.tell(output, hasOtherRun());
    await warnOfDoubt(output, uploads.lost(), dates.unknown());
  };
  // Without a record of the run, or beside another run on this state, it means nothing.
  const isTold = (): boolean =>
    !asked.isOverwriteTold && (asked.isOverwriteTold = options.state !== false && !hasOtherRun());
  let broken = 0;
  let shared: CliError | undefined;
  let totals: RunTotals | undefined;
  try {
    await report.begin(turns?.reported(plan) ?? plan, shaping.recorded);
    recordPlanFailures(table, state, key, shaping.number, now());
    if (!isStdin) await owners.ready(plan);
    const count = table.count("new") + table.count("changed");
    if (begun && begun.part === "") clearUnchanged(plan, source, state, key, startedAtMs);
    if (begun && count > 0) state.uploads.begin(begun);
    const sender = createSender(client, gate, images, check?.keeping);
    const request = {
      ...runParts(session, plan, options, gate, context),
      ...sender,
      ...(turns && { state: turns.recording(state) }),
      wasUnanswered: (id: string) => sender.wasUnanswered(id) || worker?.isTakenOver(id) === true,
      again: (numbers: readonly number[]) => owners.guard(readAgain(numbers, planned), true),
      adapt: dates.adapt,
    };
    const total = isStdin || turns ? undefined : count;
    const followed = followUpload(context.elapsed, connected, gate, report.counts, total);
    const send = (): Promise<number> => {
      const pending = owners.guard(stream ?? readPending(planned));
      return sendAll({ ...request, pending }, session, report, followed, isTold);
    };
    if (turns) ({ broken, totals } = await turns.sendAll(send, signal, followed.wait));
    else broken = await send();
    await check?.run(report);
    shared = await owners.unchanged();
  } catch (thrown) {
    await tellDoubts();
    const error = await explainMissingEndpoint(client, thrown);
    const status = signal.aborted ? "interrupted" : "error";
    await report.finish(status, trafficOf(gate), error);
    signal.throwIfAborted();
    throw error;
  }
  await tellDoubts();
  if (totals) await output.note(runText(totals));
  const isOver = !signal.aborted;
  // A shard, a worker of several or a --since run does not read the other files.
  const readsAll = !isStdin && !options.shard && !source.since && !turns;
  if (isOver && readsAll) clearSettled(plan, source, state, key, startedAtMs);
  if (isOver && begun) state.uploads.end(begun);
  const unpushed = await session.settle();
  const hint = failedHint(source, options.state, isStdin, broken);
  const problems = [
    ...failedProblem(report.counts, hint),
    ...runProblem(totals, plan, report.counts),
    ...(shared ? [shared] : []),
    ...(check?.problems() ?? []),
    ...(unpushed ? [unpushed] : []),
  ];
  const status = problems.length === 0 ? "ok" : "partial";
  await report.finish(isOver ? status : "interrupted", trafficOf(gate));
  signal.throwIfAborted();
  const [first, ...rest] = problems;
  // The first problem sets the exit code; the others stay unresolved as well.
  for (const problem of rest) await output.warn(reasonOf(problem));
  if (first) throw first;
}

function failedProblem(
  { failed, created, updated, unchanged }: UploadCounts,
  hint: string,
): CliError[] {
  if (failed === 0) return [];
  const others = created + updated + unchanged > 0 ? "; the others were sent" : "";
  const message = `${countOf(failed, "document")} failed${others}`;
  return [new CliError("partial", message, { hints: [hint] })];
}
