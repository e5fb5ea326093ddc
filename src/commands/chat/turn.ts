import type { TurnEvent } from "../../output/chat/turn/turn-event.ts";
import type { ChatRenderer, ChatStatus, Outcome } from "../../output/chat/renderer.ts";
import { stopChat } from "../../api/chat/chat.ts";
import type { Client } from "../../api/client.ts";
import type { Context } from "../../context.ts";
import { ApiError, ClosedPipeError, CliError, reworded } from "../../errors.ts";
import { isStopped, turnsOf, type Turn } from "../../output/chat/turn/answer.ts";
import { endFailure, isCancelled, stopWarnings } from "./end-failure.ts";
import type { Batch } from "./send.ts";

/** Stores an answer outside the screen, in a file or a recording. Never throws. */
export interface AnswerSink {
  /** Gets each network chunk before it is drawn. */
  write(batch: Batch): void;
  /** Called at the end, before it is drawn. Returns the error of a failed write. */
  close(turn: Turn, status: ChatStatus, failure: unknown): CliError | undefined;
  /** Called after the answer is drawn: screen and messages may share a file. */
  report?(): Promise<void>;
}

/** Combines sinks into one; undefined for none. */
export function combineSinks(sinks: readonly AnswerSink[]): AnswerSink | undefined {
  if (sinks.length === 0) return undefined;
  return {
    write(batch) {
      for (const sink of sinks) sink.write(batch);
    },
    close(...end) {
      const failures = sinks.map((sink) => sink.close(...end));
      return failures.find((failure) => failure !== undefined);
    },
    async report() {
      for (const sink of sinks) await sink.report?.();
    },
  };
}

export interface TurnRequest {
  /** Filled while the answer arrives. */
  turn: Turn;
  renderer: ChatRenderer;
  sink?: AnswerSink | undefined;
}

interface TurnEnd {
  /** What ended the turn early: a CliError, or the reason of an aborted signal. */
  failure: unknown;
  /** Why the output failed. */
  outputFailure: unknown;
  timings: Outcome["timings"];
}

/**
 * Draws an answer while it arrives. Returns errors of service and network as `failure`;
 * throws only if the output fails. With a sink, a closed output pipe does not end the
 * answer.
 */
export async function runTurn(
  context: Context,
  batches: AsyncIterable<Batch>,
  { turn, renderer, sink }: TurnRequest,
): Promise<TurnEnd> {
  const started = context.elapsed();
  let firstTextMs: number | null = null;
  let outputFailure: unknown;
  let failure: unknown;
  try {
    for await (const batch of batches) {
      sink?.write(batch);
      if (firstTextMs === null && batch.events.some(isText))
        firstTextMs = context.elapsed() - started;
      try {
        if (outputFailure === undefined) await renderer.show(batch.events, batch.lines);
      } catch (error) {
        outputFailure = error;
        if (!sink || !(error instanceof ClosedPipeError)) throw error;
      }
    }
    failure = endFailure(turn);
  } catch (error) {
    failure = error;
  }
  return { failure, outputFailure, timings: { firstTextMs, totalMs: context.elapsed() - started } };
}

function isText(event: TurnEvent): boolean {
  return event.type === "text" && event.text !== "";
}

// Asking again without a check could store the question twice in the session.
function recoveryHints({ dialect }: Client, { sessionId }: Turn): string[] {
  if (sessionId === null) {
    return ["the question may have been delivered: asking again may store it twice"];
  }
  if (dialect.paths.session === undefined) {
    return [
      `session ${sessionId}: the service may have stored the whole answer; look there first`,
      `if it has not, ask again in the session: knowctl chat --session ${sessionId} "…"`,
    ];
  }
  return [
    `the service may have the answer; fetch it without asking again: knowctl sessions recover ${sessionId}`,
  ];
}

/** Whether the service may have more of the answer than arrived here. */
function mayHoldMore(turn: Turn): boolean {
  return !isStopped(turn) || turnsOf(turn).some(isCancelled) || turn.damagedLines > 0;
}

function withRecovery(error: CliError, hints: readonly string[]): CliError {
  return new CliError("incomplete", error.message, { hints, details: error.details, cause: error });
}

/**
 * Whether the service may produce the answer in spite of this error before it, for example after
 * a gateway's 504. A redirect or a web page below 500 comes from elsewhere.
 */
export function mayStillAnswer(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || (error.status ?? 500) < 500) return false;
  return error.exit === "server-error" || error.exit === "timeout";
}

/** The answer that could not be written need not be asked for again. */
function withAnswer(error: unknown, client: Client, turn: Turn): unknown {
  if (!(error instanceof CliError) || error.exit !== "local" || turn.sessionId === null)
    return error;
  const hints = ["check the disk or the reader of the output", ...recoveryHints(client, turn)];
  return new CliError("local", error.message, { hints, details: error.details, cause: error });
}

/** Adds the session and recovery hints to an error before the answer. */
function withSession(error: unknown, client: Client, turn: Turn): unknown {
  if (!mayStillAnswer(error) || turn.sessionId === null) return error;
  return reworded(
    error,
    `${error.message}; session ${turn.sessionId}`,
    recoveryHints(client, turn),
  );
}

const stopTimeoutMs = 800;

async function stopOnService(client: Client, turn: Turn): Promise<void> {
  if (turn.sessionId === null || isStopped(turn)) return;
  await stopChat(client, turn.sessionId, stopTimeoutMs);
}

function statusOf(context: Context, failure: unknown): ChatStatus {
  if (failure === undefined) return "ok";
  if (context.signal.aborted) return "interrupted";
  return failure instanceof CliError && failure.exit === "incomplete" ? "incomplete" : "error";
}

function errorRecord(failure: unknown, status: ChatStatus, turn: Turn): Outcome["error"] {
  if (status === "ok" || status === "interrupted") return null;
  const known = failure instanceof CliError ? failure : undefined;
  const code = turn.failure?.code ?? (failure instanceof ApiError ? failure.code : undefined);
  return {
    exit: known?.exit ?? "failure",
    code: code ?? null,
    message: known?.message ?? "unexpected failure",
  };
}

export interface Ending {
  turn: Turn;
  outcome: Outcome;
  /** The caller throws it once everything is written; undefined after a complete answer. */
  failure: unknown;
}

/** The end of a turn, as input of `conclude`. */
interface Conclusion extends TurnEnd {
  turn: Turn;
  warnings: string[];
  requestedModel: string | null;
  /** The answer was read from the session: the service has no more of it. */
  isStored?: boolean;
  sink?: AnswerSink | undefined;
}

/**
 * Closes the sink and the renderer. After Ctrl-C it asks the service to stop, if the
 * service can. Rethrows an output failure once the sink is closed.
 */
export async function conclude(
  context: Context,
  client: Client | undefined,
  renderer: ChatRenderer,
  end: Conclusion,
): Promise<Ending> {
  const { turn, timings, requestedModel, outputFailure } = end;
  let status = statusOf(context, end.failure);
  let { failure } = end;
  if (status === "interrupted") failure = context.signal.reason;
  if (status === "incomplete" && client && end.isStored !== true && mayHoldMore(turn)) {
    failure = withRecovery(failure as CliError, recoveryHints(client, turn));
  }
  if (status === "error" && client && turn.failure === null) {
    failure = withSession(failure, client, turn);
  }
  const sinkFailure = end.sink?.close(turn, status, failure);
  if (sinkFailure && failure === undefined) {
    failure = sinkFailure;
    status = "error";
  }
  const error = errorRecord(failure, status, turn);
  const warnings = status === "ok" ? [...end.warnings, ...stopWarnings(turn)] : end.warnings;
  const outcome: Outcome = { status, error, requestedModel, warnings, timings };
  try {
    // With a sink, the answer's own failure is more useful than the closed pipe.
    if (outputFailure !== undefined) throw failure ?? outputFailure;
    await renderer.finish(outcome);
  } catch (error) {
    throw client ? withAnswer(error, client, turn) : error;
  } finally {
    await end.sink?.report?.();
  }
  if (status === "interrupted" && client) await stopOnService(client, turn);
  return { turn, outcome, failure };
}
