import type { DocumentEvent, RunRequest } from "./run-request.ts";
import { CliError } from "../../errors.ts";
import { createEventQueue } from "./event-queue.ts";
import type { Pending } from "./pending.ts";
import { createRetryQueue } from "./retry-queue.ts";
import { createWorkQueue } from "./work-queue.ts";
import { createRecorder } from "./recorder.ts";
import { renewedFailure, toFailureRecord } from "./run-failures.ts";
import { sendPending, type Outcome, type Run } from "./send.ts";
import type { Doubtful } from "../state/doubt.ts";
import type { State } from "../state/state.ts";
import { serviceTargets, targetFor, type Targets } from "../state/target.ts";

// Looking up what cannot be there would cost as much as recording it.
function createAcceptedOf(state: State): State["accepted"] {
  const knows = new Map<string, boolean>();
  return (target, id) => {
    let isKnown = knows.get(target);
    if (isKnown === undefined) knows.set(target, (isKnown = state.knows(target)));
    return isKnown ? state.accepted(target, id) : undefined;
  };
}

/** Whether anything is recorded of an id under any pair of the service. */
export function createIsRecorded(state: State, { baseUrl }: Targets): (id: string) => boolean {
  let targets: string[] | undefined;
  return (id) => {
    targets ??= serviceTargets(state.database, baseUrl);
    return targets.some((target) => state.accepted(target, id) !== undefined);
  };
}

/** Puts what is recorded of pending documents in doubt, until the service has answered. */
function doubt(batch: readonly Pending[], { state, targets, sharedTargets }: RunRequest): void {
  const documents: Doubtful[] = [];
  for (const { prepared, known } of batch) {
    if (prepared.kind !== "document") continue;
    const { id, ownPair, fingerprint } = prepared;
    const own = targetFor(targets, ownPair)?.key;
    // What stdin brings is looked up, and put in doubt, when it is sent.
    if (own !== undefined && known?.last) documents.push({ target: own, id });
    const sent = fingerprint.whole;
    for (const target of sharedTargets) if (target !== own) documents.push({ target, id, sent });
  }
  state.doubt(documents);
}

/**
 * Sends what is pending, with bounded concurrency, and yields what became of each
 * document in batches as they complete. A document counts as sent only after
 * the service said 200; the state records it then. A document's own failure is
 * an event and the others go on; what may succeed later is attempted once more
 * at the end. Any other failure stops the run: nothing new is started, what is
 * in flight ends, and the error is thrown.
 */
export async function* runDocuments(given: RunRequest): AsyncGenerator<DocumentEvent[]> {
  const request: Run = {
    ...given,
    acceptedOf: createAcceptedOf(given.state),
    isRecorded: createIsRecorded(given.state, given.targets),
  };
  const events = createEventQueue<DocumentEvent>();
  const retryQueue = createRetryQueue();
  let failures = request.failedBefore ?? 0;
  let isLeft = false;
  let fatal: { error: unknown } | undefined;
  let stopPulling: () => void = () => {};
  const stopFor = (error: unknown): void => {
    fatal ??= { error };
    stopPulling();
  };
  const recorder = createRecorder(request.state, stopFor);
  const isOver = (): boolean => fatal !== undefined || isLeft || request.signal.aborted;

  const emitFailure = (event: DocumentEvent): void => {
    recorder.fail(toFailureRecord(event, request, request.now()));
    events.add(event);
  };
  const stopIfTooMany = (): void => {
    if (request.maxFailures === undefined || failures < request.maxFailures) return;
    stopFor(new CliError("partial", `stopped after ${failures} failed documents`));
  };
  const fail = (pending: Pending, event: DocumentEvent, isLastPass: boolean): void => {
    failures++;
    if (isLastPass || event.retryable !== true || !retryQueue.add(pending, event))
      emitFailure(event);
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
    const next = createWorkQueue(all, (batch) => doubt(batch, request));
    stopPulling = next.stop;
    if (isOver()) next.stop();
    const workers = Array.from({ length: request.concurrency }, async () => {
      try {
        while (!isOver()) {
          const pending = next.nextBuffered() ?? (await next());
          if (!pending || isOver()) return;
          if (isLastPass) retryQueue.take(pending);
          request.onSending?.(1);
          settle(pending, await sendPending(pending, request, recorder), isLastPass);
          request.onSending?.(-1);
        }
      } catch (error) {
        stopFor(error);
      }
    });
    await Promise.all(workers);
    await next.close();
  };
  const onAbort = (): void => stopPulling();
  request.signal.addEventListener("abort", onAbort, { once: true });
  const running = (async (): Promise<void> => {
    stopIfTooMany();
    await work(request.pending, false);
    failures -= retryQueue.count();
    if (retryQueue.count() > 0 && !isOver()) await work(retryQueue.pending(request.again), true);
    // Those whose turn did not come any more.
    for (const event of retryQueue.left()) emitFailure(event);
  })()
    .catch(stopFor)
    .finally(events.end);
  try {
    yield* events.batches();
  } finally {
    // Also when the caller stops listening: nothing new is started, and what is
    // in flight is waited for, so that its answers are recorded.
    isLeft = true;
    stopPulling();
    request.signal.removeEventListener("abort", onAbort);
    await running;
    recorder.save();
  }
  if (fatal) throw fatal.error;
}
