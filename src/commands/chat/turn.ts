import type { TurnEvent } from "../../output/chat/turn/turn-event.ts";
import type { ChatRenderer, ChatStatus, Outcome } from "../../output/chat/renderer.ts";
import { stopChat } from "../../api/chat/chat.ts";
import type { Client } from "../../api/client.ts";
import type { Context } from "../../context.ts";
import { ApiError, ClosedPipeError, CliError } from "../../errors.ts";
import { isStopped, turnsOf, type Turn } from "../../output/chat/turn/answer.ts";
import { endFailure, isCancelled } from "./end-failure.ts";
import type { Batch } from "./send.ts";

/** Keeps an answer elsewhere than on the screen: in a file, a recording. Never throws. */
export interface Keeper {
  /** What one network chunk brought, before it is drawn. */
  take(batch: Batch): void;
  /** The end, before it is drawn. What could not be kept is returned. */
  close(turn: Turn, status: ChatStatus, failure: unknown): CliError | undefined;
  /** Says what became of it, once the answer is drawn: the two may share a file. */
  tell?(): Promise<void>;
}

/** One keeper for all of them; undefined for none. */
export function combineKeepers(keepers: readonly Keeper[]): Keeper | undefined {
  if (keepers.length === 0) return undefined;
  return {
    take(batch) {
      for (const keeper of keepers) keeper.take(batch);
    },
    close(...end) {
      const failures = keepers.map((keeper) => keeper.close(...end));
      return failures.find((failure) => failure !== undefined);
    },
    async tell() {
      for (const keeper of keepers) await keeper.tell?.();
    },
  };
}

export interface TurnRequest {
  /** Filled while the answer comes. */
  turn: Turn;
  renderer: ChatRenderer;
  keeper?: Keeper | undefined;
}

interface TurnEnd {
  /** What ended the turn early: a CliError, or the reason of an aborted signal. */
  failure: unknown;
  /** Why nothing more can be drawn. */
  outputFailure: unknown;
  timings: Outcome["timings"];
}

/**
 * Draws an answer as it comes. Whatever the service or the network does wrong
 * is returned as `failure`; only a failing output throws. Where the answer is
 * kept as well, a reader of the output who goes away does not end it.
 */
export async function runTurn(
  context: Context,
  batches: AsyncIterable<Batch>,
  { turn, renderer, keeper }: TurnRequest,
): Promise<TurnEnd> {
  const started = context.elapsed();
  let firstTextMs: number | null = null;
  let outputFailure: unknown;
  let failure: unknown;
  try {
    for await (const batch of batches) {
      keeper?.take(batch);
      if (firstTextMs === null && batch.events.some(isText))
        firstTextMs = context.elapsed() - started;
      try {
        if (outputFailure === undefined) await renderer.show(batch.events, batch.lines);
      } catch (error) {
        outputFailure = error;
        if (!keeper || !(error instanceof ClosedPipeError)) throw error;
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

// Asking again blindly would put the question into the session twice.
function recoveryHints({ dialect }: Client, { sessionId }: Turn): string[] {
  if (sessionId === null) {
    return ["the question may have been delivered: asking again may ask it twice"];
  }
  if (dialect.paths.session === undefined) {
    return [
      `session ${sessionId}: the service may have gone on and stored the whole answer; look there first`,
      `ask again in it only if it did not: knowctl chat --session ${sessionId} "…"`,
    ];
  }
  return [
    `the service may have gone on; without asking again: knowctl sessions recover ${sessionId}`,
  ];
}

/** Whether the service may hold more of the answer than came. */
function mayHoldMore(turn: Turn): boolean {
  return !isStopped(turn) || turnsOf(turn).some(isCancelled) || turn.damagedLines > 0;
}

function withRecovery(error: CliError, hints: readonly string[]): CliError {
  return new CliError("incomplete", error.message, { hints, details: error.details, cause: error });
}

/**
 * An error before the answer after which the service may go on all the same, as a gateway's 504:
 * with the session, where it is known, and the way to the answer.
 */
function withSession(error: unknown, client: Client, turn: Turn): unknown {
  const isUnsure =
    error instanceof ApiError && (error.exit === "server-error" || error.exit === "timeout");
  if (!isUnsure || turn.sessionId === null) return error;
  const { exit, message, method, url, status, code, details } = error;
  const hints = recoveryHints(client, turn);
  const named = `${message}; session ${turn.sessionId}`;
  return new ApiError(exit, named, { method, url, status, code, details, hints, cause: error });
}

const stopWithinMs = 800;

async function tellService(client: Client, turn: Turn): Promise<void> {
  if (turn.sessionId === null || isStopped(turn)) return;
  await stopChat(client, turn.sessionId, stopWithinMs);
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
  /** To be thrown once everything is written; undefined after a complete answer. */
  failure: unknown;
}

/** How a turn ended, as `conclude` needs it. */
interface Conclusion extends TurnEnd {
  turn: Turn;
  warnings: string[];
  requestedModel: string | null;
  keeper?: Keeper | undefined;
}

/**
 * Ends the keeping and the drawing, and after Ctrl-C tells the service to stop
 * where it can be told. Throws what a failing output threw, once all is kept.
 */
export async function conclude(
  context: Context,
  client: Client | undefined,
  renderer: ChatRenderer,
  end: Conclusion,
): Promise<Ending> {
  const { turn, timings, warnings, requestedModel, outputFailure } = end;
  let status = statusOf(context, end.failure);
  let { failure } = end;
  if (status === "interrupted") failure = context.signal.reason;
  if (status === "incomplete" && client && mayHoldMore(turn)) {
    failure = withRecovery(failure as CliError, recoveryHints(client, turn));
  }
  if (status === "error" && client && turn.failure === null) {
    failure = withSession(failure, client, turn);
  }
  const unkept = end.keeper?.close(turn, status, failure);
  if (unkept && failure === undefined) {
    failure = unkept;
    status = "error";
  }
  const error = errorRecord(failure, status, turn);
  const outcome: Outcome = { status, error, requestedModel, warnings, timings };
  try {
    // Of an answer that is kept, its own failure says more than that nobody reads it.
    if (outputFailure !== undefined) throw failure ?? outputFailure;
    await renderer.finish(outcome);
  } finally {
    await end.keeper?.tell?.();
  }
  if (status === "interrupted" && client) await tellService(client, turn);
  return { turn, outcome, failure };
}
