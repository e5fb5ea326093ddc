import type { DocumentEvent, RunRequest } from "./run-request.ts";
import { CliError } from "../../errors.ts";
import { decide } from "../plan/decide.ts";
import type { Pending } from "./pending.ts";
import { createRecorder } from "./recorder.ts";
import { renewedFailure, toFailureRecord } from "./failures.ts";
import { sendPending, type Outcome, type Run } from "./send.ts";
import type { Doubtful } from "../state/records.ts";
import type { State } from "../state/state.ts";
import { serviceTargets, targetFor, type Targets } from "../state/target.ts";

/** One pass over the documents of a source. */
interface Pass {
  /** Resolves when all documents were sent; after stop(), when those in flight were. */
  finished: Promise<void>;
  /** Starts no new document, also while the source is silent: it may be for hours. */
  stop(): void;
  /**
   * With 1, a document starts to wait for its retry, and leaves its slot to another one; with -1 it
   * ends waiting.
   */
  hold(change: 1 | -1): void;
}

/** Held documents stay in memory, so their number is limited. */
const mostPerSlot = 4;

/**
 * Sends the documents of a source, `concurrency` at once. `onBatch` is called with each batch, and
 * waited for, before any of its documents is sent. `send` never rejects.
 */
export function startPass<Item>(
  batches: AsyncIterable<Item[]>,
  concurrency: number,
  onBatch: (batch: readonly Item[]) => Promise<void> | undefined,
  send: (item: Item) => Promise<void>,
): Pass {
  const source = batches[Symbol.asyncIterator]();
  let [active, held] = [0, 0];
  let isStopped = false;
  let wake: () => void = () => {};
  let release: () => void = () => {};
  const change = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  const fetchNext = (): Promise<IteratorResult<Item[]> | undefined> =>
    new Promise((resolve, reject) => {
      // No Promise.race with a long-lived promise: each race would stay in memory.
      release = () => resolve(undefined);
      source.next().then(resolve, reject);
    });
  const start = (item: Item): void => {
    active++;
    void send(item).then(() => {
      active--;
      wake();
    });
  };
  const isFull = (): boolean =>
    active >= Math.min(concurrency + held, concurrency * mostPerSlot) && !isStopped;
  const run = async (): Promise<void> => {
    try {
      while (!isStopped) {
        const next = await fetchNext();
        if (!next || next.done) return;
        await onBatch(next.value);
        for (const item of next.value) {
          while (isFull()) await change();
          if (isStopped) return;
          start(item);
        }
      }
    } finally {
      while (active > 0) await change();
      await source.return?.();
    }
  };
  return {
    finished: run(),
    stop() {
      isStopped = true;
      release();
      wake();
    },
    hold(by) {
      held += by;
      wake();
    },
  };
}

/** Documents with a retryable failure, which are sent once more at the end. */
interface RetryQueue {
  /** False when the queue is full. */
  add(pending: Pending, event: DocumentEvent): boolean;
  count(): number;
  /** All queued documents; `again` reads documents of the plan again. */
  pending(
    again: (numbers: readonly number[]) => AsyncIterable<Pending[]>,
  ): AsyncGenerator<Pending[]>;
  /** Removes a document, whose last attempt starts. Returns its failure. */
  remove(pending: Pending): DocumentEvent | undefined;
  /** Failures of the documents that are still queued. */
  remaining(): Iterable<DocumentEvent>;
}

// More failures are not a temporary fault; `retry` sends the rest.
const mostPlanned = 10_000;
// Documents from stdin cannot be read again: the queue keeps them in memory, up to these limits.
const mostFromStdin = 256;
const mostBytesFromStdin = 16 * 1024 * 1024;

function bytesOf({ prepared }: Pending): number {
  return prepared.kind === "document" ? prepared.body.length : 0;
}

/** Creates an empty queue with bounded memory. */
export function createRetryQueue(): RetryQueue {
  const fromPlan = new Map<number, DocumentEvent>();
  const fromStdin = new Map<Pending, DocumentEvent>();
  let bytes = 0;
  return {
    add(pending, event) {
      // Keep only the number of a document of the plan, to save memory.
      if (pending.number !== undefined) {
        if (fromPlan.size >= mostPlanned) return false;
        fromPlan.set(pending.number, event);
      } else if (fromStdin.size >= mostFromStdin || bytes + bytesOf(pending) > mostBytesFromStdin)
        return false;
      else {
        fromStdin.set(pending, event);
        bytes += bytesOf(pending);
      }
      return true;
    },
    count: () => fromPlan.size + fromStdin.size,
    async *pending(again) {
      if (fromStdin.size > 0) yield [...fromStdin.keys()];
      if (fromPlan.size > 0) yield* again([...fromPlan.keys()].toSorted((a, b) => a - b));
    },
    remove(pending) {
      const { number } = pending;
      const event = number === undefined ? fromStdin.get(pending) : fromPlan.get(number);
      if (number !== undefined) fromPlan.delete(number);
      fromStdin.delete(pending);
      return event;
    },
    *remaining() {
      yield* fromStdin.values();
      yield* fromPlan.values();
    },
  };
}

/** Events from many workers to one reader, in batches. */
interface EventQueue<Event> {
  add(event: Event): void;
  /** No more events will be added. */
  end(): void;
  /** Yields all events in the order in which they were added. For one reader only. */
  batches(): AsyncGenerator<Event[]>;
}

/**
 * Creates an empty queue, which grows while its reader is busy. The reader wakes once for
 * all events of one turn of the event loop: waking for each event would cost several promises.
 */
function createEventQueue<Event>(): EventQueue<Event> {
  let events: Event[] = [];
  let isEnded = false;
  let wake: () => void = () => {};
  return {
    add(event) {
      events.push(event);
      wake();
    },
    end() {
      isEnded = true;
      wake();
    },
    async *batches() {
      while (!isEnded || events.length > 0) {
        if (events.length === 0) {
          await new Promise<void>((resolve) => {
            wake = () => {
              wake = () => {};
              setImmediate(resolve);
            };
          });
          continue;
        }
        const batch = events;
        events = [];
        yield batch;
      }
    },
  };
}

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
function lookUp(batch: readonly Pending[], request: Run): Promise<void> | undefined {
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
  return state.doubt(documents);
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

  const send = async (pending: Pending, isLastPass: boolean): Promise<void> => {
    try {
      const spentMs = isLastPass ? (retryQueue.remove(pending)?.ms ?? 0) : 0;
      request.onSending?.(1);
      const outcome = await sendPending(pending, request, recorder, spentMs);
      settle(pending, outcome, isLastPass);
      request.onSending?.(-1);
    } catch (error) {
      stopFor(error);
    }
  };
  const work = async (all: AsyncIterable<Pending[]>, isLastPass: boolean): Promise<void> => {
    const pass = startPass(
      all,
      request.concurrency,
      (batch) => lookUp(batch, request),
      (pending) => send(pending, isLastPass),
    );
    stopFetching = pass.stop;
    if (isOver()) pass.stop();
    request.followHeld?.(pass.hold);
    await pass.finished.catch(stopFor);
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
