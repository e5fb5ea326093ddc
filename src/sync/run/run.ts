import type { DocumentEvent, RunRequest } from "./run-request.ts";
import { CliError } from "../../errors.ts";
import { decide } from "../plan/decide.ts";
import { createEventQueue } from "./event-queue.ts";
import type { Pending } from "./pending.ts";
import { createRetryQueue } from "./retry-queue.ts";
import { createWorkQueue } from "./work-queue.ts";
import { createRecorder } from "./recorder.ts";
import { renewedFailure, toFailureRecord } from "./run-failures.ts";
import { sendPending, type Outcome, type Run } from "./send.ts";
import { startWorkers } from "./workers.ts";
import type { Doubtful } from "../state/doubt.ts";
import type { State } from "../state/state.ts";
import { serviceTargets, targetFor, type Targets } from "../state/target.ts";

// Skips look-ups under targets without records: each would cost as much as recording a document.
function createAcceptedOf(state: State): State["accepted"] {
  const knows = new Map<string, boolean>();
  return (target, id) => {
    let isKnown = knows.get(target);
    if (isKnown === undefined) knows.set(target, (isKnown = state.knows(target)));
    return isKnown ? state.accepted(target, id) : undefined;
  };
}

/** Whether an id is recorded under any pair of the service, also by another run meanwhile. */
export function createIsRecorded(state: State, { baseUrl }: Targets): (id: string) => boolean {
  return (id) =>
    serviceTargets(state.database, baseUrl).some(
      (target) => state.accepted(target, id) !== undefined,
    );
}

// A last attempt needs some time.
const leastLeftMs = 1000;

function isTimeUp({ ms }: DocumentEvent, { documentMs }: RunRequest): boolean {
  return documentMs - ms < leastLeftMs;
}

/**
 * Looks up what the state has of the pending documents, and marks the records of those to send as in
 * doubt until the service has responded.
 */
function lookUp(batch: readonly Pending[], request: Run): void {
  const { state, targets, sharedTargets, force } = request;
  const documents: Doubtful[] = [];
  for (const pending of batch) {
    const { prepared } = pending;
    if (prepared.kind !== "document") continue;
    const { id, ownPair, fingerprint } = prepared;
    const own = targetFor(targets, ownPair)?.key;
    if (own === undefined) continue;
    const accepted = request.acceptedOf(own, id);
    const isUnchanged = decide(accepted, fingerprint, force).action === "unchanged";
    pending.known = isUnchanged ? "unchanged" : { last: accepted };
    if (isUnchanged) continue;
    if (accepted) documents.push({ target: own, id });
    const sent = fingerprint.whole;
    for (const target of sharedTargets) if (target !== own) documents.push({ target, id, sent });
  }
  state.doubt(documents);
}

/**
 * Sends the pending documents with bounded concurrency, and yields their results in
 * batches. A document counts as sent, and is recorded, only after status 200. A failure
 * of one document is an event, and the other documents continue. Retryable failures are
 * sent once more at the end. Any other failure stops the run: no new document starts,
 * the documents in flight finish, and the error is thrown.
 */
export async function* runDocuments(runRequest: RunRequest): AsyncGenerator<DocumentEvent[]> {
  const request: Run = {
    ...runRequest,
    acceptedOf: createAcceptedOf(runRequest.state),
    isRecorded: createIsRecorded(runRequest.state, runRequest.targets),
  };
  const events = createEventQueue<DocumentEvent>();
  const retryQueue = createRetryQueue();
  let failures = request.failedBefore ?? 0;
  let isReaderGone = false;
  let fatalError: { error: unknown } | undefined;
  let stopFetching: () => void = () => {};
  const stopFor = (error: unknown): void => {
    fatalError ??= { error };
    stopFetching();
  };
  const recorder = createRecorder(request.state, stopFor);
  const isOver = (): boolean => fatalError !== undefined || isReaderGone || request.signal.aborted;

  const emitFailure = (event: DocumentEvent): void => {
    recorder.fail(toFailureRecord(event, request, request.now()));
    events.add(event);
  };
  const stopIfTooMany = (): void => {
    if (request.maxFailures === undefined || failures < request.maxFailures) return;
    const documents = failures === 1 ? "document" : "documents";
    stopFor(new CliError("partial", `stopped after ${failures} failed ${documents}`));
  };
  const fail = (pending: Pending, event: DocumentEvent, isLastPass: boolean): void => {
    failures++;
    const isLast = isLastPass || event.retryable !== true || isTimeUp(event, request);
    if (isLast || !retryQueue.add(pending, event)) emitFailure(event);
    stopIfTooMany();
  };
  const settle = (pending: Pending, outcome: Outcome, isLastPass: boolean): void => {
    if ("fatal" in outcome) {
      const again = renewedFailure(pending, outcome.fatal, request);
      if (again) recorder.fail(again);
      stopFor(outcome.fatal);
    } else if (outcome.event.status === "failed") fail(pending, outcome.event, isLastPass);
    else events.add(outcome.event);
  };

  const work = async (all: AsyncIterable<Pending[]>, isLastPass: boolean): Promise<void> => {
    const next = createWorkQueue(all, (batch) => lookUp(batch, request));
    stopFetching = next.stop;
    if (isOver()) next.stop();
    const workers = startWorkers(request.concurrency, async (isSpare) => {
      try {
        while (!isOver() && !isSpare()) {
          const pending = next.nextBuffered() ?? (await next());
          if (!pending || isOver()) return;
          const spentMs = isLastPass ? (retryQueue.remove(pending)?.ms ?? 0) : 0;
          request.onSending?.(1);
          const outcome = await sendPending(pending, request, recorder, spentMs);
          settle(pending, outcome, isLastPass);
          request.onSending?.(-1);
        }
      } catch (error) {
        stopFor(error);
      }
    });
    request.followHeld?.(workers.hold);
    await workers.finished;
    await next.close();
  };
  const onAbort = (): void => stopFetching();
  request.signal.addEventListener("abort", onAbort, { once: true });
  const running = (async (): Promise<void> => {
    stopIfTooMany();
    await work(request.pending, false);
    failures -= retryQueue.count();
    if (retryQueue.count() > 0 && !isOver()) await work(retryQueue.pending(request.again), true);
    // Report the failures of documents that got no last attempt.
    for (const event of retryQueue.remaining()) emitFailure(event);
  })()
    .catch(stopFor)
    .finally(events.end);
  try {
    yield* events.batches();
  } finally {
    // Also runs when the caller stops reading: no new document starts, and the responses
    // in flight are awaited and recorded.
    isReaderGone = true;
    stopFetching();
    request.signal.removeEventListener("abort", onAbort);
    await running;
    recorder.save();
  }
  if (fatalError) throw fatalError.error;
}
