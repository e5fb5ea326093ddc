import type { IngestionRequest } from "../api/schemas.ts";
import { CliError, messageOf } from "../errors.ts";
import { isDocumentFault } from "./outcome.ts";
import type { NumberedEntry } from "./plan-table.ts";
import type { PreparedDocument } from "./file-record.ts";
import type { Plan, Target } from "./plan.ts";
import type { AcceptedRecord, FileRecord, State } from "./state.ts";

/** What the service said of an accepted document. */
export interface UploadResult {
  alreadyExisted: boolean;
  /** The id under which the service stored it, where it says so. */
  storedId: string | undefined;
}

export interface DocumentEvent {
  status: "created" | "updated" | "failed";
  path: string;
  id: string;
  /** Why it failed. */
  reason?: string | undefined;
  storedId?: string | undefined;
  ms: number;
}

export interface RunRequest {
  plan: Plan;
  state: State;
  /** Sends one request body; resolves only when the service answered 200. */
  upload: (body: string) => Promise<UploadResult>;
  /** Whether the service as a whole has been given up: then no failure is a document's own. */
  isGivenUp: () => boolean;
  /** Reads a planned file (again), when the plan no longer holds its text. */
  prepare: (
    entry: NumberedEntry,
  ) => Promise<{ record: FileRecord; prepared: PreparedDocument | undefined }>;
  targetOf: (ccPairId: number | undefined) => Target | undefined;
  /** Most documents in flight. */
  concurrency: number;
  maxFailures: number | undefined;
  /** Stops taking new documents; what is in flight is waited for. */
  signal: AbortSignal;
  now: () => number;
}

// Acknowledged documents are made durable in batches of this size, or when this much time has passed.
const saveBatch = 64;
const saveIntervalMs = 250;

interface Recorder {
  accept(file: FileRecord | undefined, record: AcceptedRecord): void;
  save(): void;
}

function createRecorder(state: State, now: () => number): Recorder {
  let files: FileRecord[] = [];
  let accepted: AcceptedRecord[] = [];
  let savedAt = now();
  const save = (): void => {
    const batch = [files, accepted] as const;
    [files, accepted] = [[], []];
    savedAt = now();
    state.save(...batch);
  };
  return {
    save,
    accept(file, record) {
      if (file) files.push(file);
      accepted.push(record);
      if (accepted.length >= saveBatch || now() - savedAt >= saveIntervalMs) save();
    },
  };
}

interface Ready extends PreparedDocument {
  record: FileRecord | undefined;
}

async function takeReady(entry: NumberedEntry, request: RunRequest): Promise<Ready> {
  const kept = request.plan.takePrepared(entry.path);
  if (kept) return { ...kept, record: undefined };
  const { record, prepared } = await request.prepare(entry);
  // The id was checked for uniqueness with the plan; another one may collide.
  if (prepared?.document.id !== entry.id) {
    throw new CliError("usage", `${entry.path}: changed during the run; run again to send it`);
  }
  return { ...(prepared as PreparedDocument), record };
}

async function sendEntry(
  entry: NumberedEntry,
  request: RunRequest,
  recorder: Recorder,
): Promise<DocumentEvent> {
  const startedAt = request.now();
  const { document, ccPairId, fingerprint, record } = await takeReady(entry, request);
  const target = request.targetOf(ccPairId);
  if (!target) throw new CliError("usage", `${entry.path}: no cc_pair_id to send it to`);
  const body: IngestionRequest = { document, cc_pair_id: target.ccPairId };
  const result = await request.upload(JSON.stringify(body));
  recorder.accept(record, {
    target: target.key,
    id: document.id,
    path: entry.path,
    ...fingerprint,
    sentAtMs: request.now(),
  });
  return {
    status: result.alreadyExisted ? "updated" : "created",
    path: entry.path,
    id: document.id,
    storedId: result.storedId,
    ms: request.now() - startedAt,
  };
}

function isOwnFault(error: unknown): boolean {
  return isDocumentFault(error) || (error instanceof CliError && error.exit === "usage");
}

/**
 * Sends what the plan says, with bounded concurrency, and yields what became of
 * each document in batches as they complete. A document counts as sent only
 * after the service said 200; the state records it then. A document's own
 * failure is an event and the others go on; any other failure stops the run:
 * nothing new is started, what is in flight ends, and the error is thrown.
 */
export async function* runPlan(request: RunRequest): AsyncGenerator<DocumentEvent[]> {
  const entries = request.plan.table.entries(["new", "changed"]);
  const recorder = createRecorder(request.state, request.now);
  let events: DocumentEvent[] = [];
  let failures = 0;
  let isLeft = false;
  let fatal: { error: unknown } | undefined;
  let wake: () => void = () => {};
  const emit = (event: DocumentEvent): void => {
    events.push(event);
    wake();
  };

  const fail = (entry: NumberedEntry, error: unknown, ms: number): void => {
    emit({ status: "failed", path: entry.path, id: entry.id ?? "", reason: messageOf(error), ms });
    failures++;
    if (request.maxFailures !== undefined && failures >= request.maxFailures) {
      fatal ??= { error: new CliError("partial", `stopped after ${failures} failed documents`) };
    }
  };
  const work = async (): Promise<void> => {
    while (!fatal && !isLeft && !request.signal.aborted) {
      const next = entries.next();
      if (next.done) return;
      const startedAt = request.now();
      try {
        emit(await sendEntry(next.value, request, recorder));
      } catch (error) {
        if (isOwnFault(error) && !request.isGivenUp())
          fail(next.value, error, request.now() - startedAt);
        else fatal ??= { error };
      }
    }
  };

  let running = request.concurrency;
  const workers = Array.from({ length: request.concurrency }, async () => {
    try {
      await work();
    } catch (error) {
      fatal ??= { error };
    }
    running--;
    wake();
  });
  try {
    while (running > 0 || events.length > 0) {
      if (events.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const batch = events;
      events = [];
      yield batch;
    }
  } finally {
    // Also when the caller stops listening: nothing new is started, and what is
    // in flight is waited for, so that its answers are recorded.
    isLeft = true;
    await Promise.all(workers);
    recorder.save();
  }
  if (fatal) throw fatal.error;
}
