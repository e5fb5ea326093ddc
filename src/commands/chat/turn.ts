import { askWhole, stopChat, streamChat, type ChatParameters } from "../../api/chat.ts";
import type { Client } from "../../api/client.ts";
import type { ChatEvent } from "../../api/chat-schemas.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError } from "../../errors.ts";
import { advance, type Turn } from "../../output/chat/answer.ts";
import type { TurnEvent } from "../../output/chat/events.ts";
import { failureError } from "../../output/chat/failure.ts";
import type { ChatRenderer, ChatStatus, Outcome } from "../../output/chat/render.ts";
import { eventsOfReply, turnOfReply } from "../../output/chat/reply.ts";

export interface TurnRequest {
  parameters: ChatParameters;
  /** Take the answer in one piece. */
  whole: boolean;
  /** Filled while the answer comes. */
  turn: Turn;
  renderer: ChatRenderer;
}

interface TurnEnd {
  /** What ended the turn early: a CliError, or the reason of an aborted signal. */
  failure: unknown;
  timings: Outcome["timings"];
}

interface Batch {
  events: TurnEvent[];
  lines: ChatEvent[];
}

async function* batchesOf(
  client: Client,
  { parameters, whole, turn }: TurnRequest,
): AsyncGenerator<Batch> {
  if (whole) {
    const reply = await askWhole(client, parameters);
    const { sessionId } = turn;
    Object.assign(turn, turnOfReply(reply));
    // Older services leave the session out of a continued one (observed-service.md 1.8).
    turn.sessionId ??= sessionId;
    yield { events: eventsOfReply(turn), lines: [{ raw: JSON.stringify(reply), kind: "unknown" }] };
    return;
  }
  for await (const lines of streamChat(client, parameters)) {
    yield { events: lines.flatMap((line) => advance(turn, line)), lines };
  }
}

/**
 * Sends the question and draws the answer as it comes. Whatever the service or
 * the network does wrong is returned as `failure`; only a failing output throws.
 */
export async function runTurn(
  context: Context,
  client: Client,
  request: TurnRequest,
): Promise<TurnEnd> {
  const { turn, renderer } = request;
  const started = context.now();
  let firstTextMs: number | null = null;
  let outputFailure: unknown;
  let failure: unknown;
  try {
    for await (const { events, lines } of batchesOf(client, request)) {
      if (events.some((event) => event.type === "text" && event.text !== "")) {
        firstTextMs ??= context.now() - started;
      }
      try {
        await renderer.show(events, lines);
      } catch (error) {
        outputFailure = error;
        throw error;
      }
    }
    if (turn.failure) failure = failureError(turn.failure, turn);
    else if (turn.stopReason === "user_cancelled") failure = stoppedElsewhere();
  } catch (error) {
    if (outputFailure !== undefined) throw outputFailure;
    failure = error;
  }
  return { failure, timings: { firstTextMs, totalMs: context.now() - started } };
}

function stoppedElsewhere(): CliError {
  return new CliError("incomplete", "the answer was stopped on the service's side", {
    hints: ["what came of it is above"],
  });
}

// Asking again blindly would put the question into the session twice.
function withRecovery(error: CliError, turn: Turn): CliError {
  const { sessionId } = turn;
  const hints =
    sessionId === null
      ? ["the question may have been delivered: asking again may ask it twice"]
      : [
          `session ${sessionId}: the service may have gone on and stored the whole answer; look there first`,
          `ask again in it only if it did not: knowctl chat --session ${sessionId} "…"`,
        ];
  return new CliError("incomplete", error.message, { hints, details: error.details, cause: error });
}

const stopWithinMs = 800;

async function tellService(client: Client, turn: Turn): Promise<void> {
  if (turn.sessionId === null || turn.stopped) return;
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

/** Ends the drawing, and after Ctrl-C tells the service to stop where it can be told. */
export async function conclude(
  context: Context,
  client: Client,
  renderer: ChatRenderer,
  end: TurnEnd & { turn: Turn; warnings: string[]; requestedModel: string | null },
): Promise<Ending> {
  const { turn, timings, warnings, requestedModel } = end;
  const status = statusOf(context, end.failure);
  let { failure } = end;
  if (status === "interrupted") failure = context.signal.reason;
  if (status === "incomplete") failure = withRecovery(failure as CliError, turn);
  const error = errorRecord(failure, status, turn);
  const outcome: Outcome = { status, error, requestedModel, warnings, timings };
  await renderer.finish(outcome);
  if (status === "interrupted") await tellService(client, turn);
  return { turn, outcome, failure };
}
