import type { ChatEvent } from "../../api/chat-schemas.ts";
import type { TurnEvent } from "../../output/chat/turn/chat-events.ts";
import type { ChatRenderer, ChatStatus, Outcome } from "../../output/chat/renderer.ts";
import {
  stopChat,
  askWhole,
  streamChat,
  type AnswerLimits,
  type ChatParameters,
} from "../../api/chat/chat.ts";
import type { Client } from "../../api/client.ts";
import type { Context } from "../../context.ts";
import { ApiError, ClosedPipeError, CliError, reworded } from "../../errors.ts";
import { createTurn, isStopped, turnsOf, type Turn } from "../../output/chat/turn/answer.ts";
import { applyPiece, linesOf, type Piece } from "../../output/chat/turn/reply.ts";
import { endFailure, isCancelled, stopWarnings } from "./end-failure.ts";

/** Stores an answer outside the screen, in a file or a recording. Never throws. */
export interface AnswerSink {
  /** Gets each network chunk before it is drawn. */
  write(lines: readonly ChatEvent[]): void;
  /** Called at the end, before it is drawn. Returns the error of a failed write. */
  close(turn: Turn, status: ChatStatus, failure: unknown): CliError | undefined;
  /** Called after the answer is drawn: screen and messages may share a file. */
  report?(): Promise<void>;
}

/** Combines sinks into one; undefined for none. */
export function combineSinks(sinks: readonly AnswerSink[]): AnswerSink | undefined {
  if (sinks.length === 0) return undefined;
  return {
    write(lines) {
      for (const sink of sinks) sink.write(lines);
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

/** How an answer is drawn while it arrives, and what else is done with it. */
interface Drawn {
  /** Filled while the answer arrives. */
  turn: Turn;
  renderer: ChatRenderer;
  sink?: AnswerSink | undefined;
  /** Called after each piece is drawn. */
  onPiece?(): Promise<void>;
  /** Called once the answer has ended, before its end is drawn. Returns warnings. Never throws. */
  complete?(failure: unknown): Promise<string[]>;
  requestedModel?: string | null;
}

/** Without an answer: nothing is drawn. */
export const silentRenderer: ChatRenderer = { async show() {}, async finish() {} };

function isText(event: TurnEvent): boolean {
  return event.type === "text" && event.text !== "";
}

// Asking again without a check could store the question twice in the session.
function recoveryHints({ dialect }: Client, { sessionId }: Turn): string[] {
  if (sessionId === null) {
    return ["asking again may store the question twice"];
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

/** Draws the pieces. Returns what ended the answer early, and why the output failed. */
async function drawPieces(
  context: Context,
  pieces: AsyncIterable<Piece>,
  { turn, renderer, sink, onPiece }: Drawn,
) {
  const started = context.elapsed();
  const timings: Outcome["timings"] = { firstTextMs: null, totalMs: 0 };
  let outputFailure: unknown;
  let failure: unknown;
  /** The answer was read from the session: the service has no more of it. */
  let isStored = false;
  try {
    for await (const piece of pieces) {
      const lines = linesOf(piece);
      isStored = "answer" in piece;
      const events = applyPiece(turn, piece);
      sink?.write(lines);
      if (events.some(isText)) timings.firstTextMs ??= context.elapsed() - started;
      try {
        if (outputFailure === undefined) await renderer.show(events, lines);
      } catch (error) {
        outputFailure = error;
        if (!sink || !(error instanceof ClosedPipeError)) throw error;
      }
      await onPiece?.();
    }
    failure = endFailure(turn);
  } catch (error) {
    failure = error;
  }
  timings.totalMs = context.elapsed() - started;
  return { failure, outputFailure, timings, isStored };
}

/**
 * Draws an answer while it arrives, and its end. Returns errors of service and network as
 * `failure`; throws only if the output fails, once the sink is closed. With a sink, a closed
 * output pipe does not end the answer. After Ctrl-C it asks the service to stop, if the service can.
 */
export async function runTurn(
  context: Context,
  client: Client | undefined,
  pieces: AsyncIterable<Piece>,
  drawn: Drawn,
): Promise<Ending> {
  const { turn, renderer, sink, requestedModel = null } = drawn;
  const end = await drawPieces(context, pieces, drawn);
  const found = (await drawn.complete?.(end.failure)) ?? [];
  let { failure } = end;
  let status = statusOf(context, failure);
  if (status === "interrupted") failure = context.signal.reason;
  if (status === "incomplete" && client && !end.isStored && mayHoldMore(turn)) {
    failure = withRecovery(failure as CliError, recoveryHints(client, turn));
  }
  if (status === "error" && client && turn.failure === null) {
    failure = withSession(failure, client, turn);
  }
  const sinkFailure = sink?.close(turn, status, failure);
  if (sinkFailure && failure === undefined) {
    failure = sinkFailure;
    status = "error";
  }
  const error = errorRecord(failure, status, turn);
  const warnings = status === "ok" ? [...found, ...stopWarnings(turn)] : found;
  const outcome: Outcome = { status, error, requestedModel, warnings, timings: end.timings };
  try {
    // With a sink, the answer's own failure is more useful than the closed pipe.
    if (end.outputFailure !== undefined) throw failure ?? end.outputFailure;
    await renderer.finish(outcome);
  } catch (problem) {
    throw client ? withAnswer(problem, client, turn) : problem;
  } finally {
    await sink?.report?.();
  }
  if (status === "interrupted" && client) await stopOnService(client, turn);
  return { turn, outcome, failure };
}

/** The ending of a question that failed before any answer, drawn by `renderer`. */
export async function endUnasked(
  context: Context,
  failure: unknown,
  renderer = silentRenderer,
  turn = createTurn(),
  client?: Client,
): Promise<Ending> {
  async function* fail(): AsyncGenerator<Piece> {
    yield await Promise.reject<Piece>(failure);
  }
  return await runTurn(context, client, fail(), { turn, renderer });
}

/** One question, ready to be sent. */
export interface Question {
  parameters: ChatParameters;
  /** Request the answer in one piece. */
  whole: boolean;
  limits?: AnswerLimits | undefined;
}

const isMissingRoute = ({ status, code }: ApiError): boolean =>
  code === undefined && (status === 404 || status === 405);

/**
 * Creates a session before a question whose answer comes in one piece. Without it, nobody
 * knows the session of a cut answer (observed-service.md 8, row 30).
 */
async function createSessionFirst(
  client: Client,
  { sessionId, personaId, projectId, extra }: ChatParameters,
): Promise<string | undefined> {
  const isGiven = extra && ("chat_session_id" in extra || "chat_session_info" in extra);
  if (sessionId !== undefined || isGiven) return undefined;
  try {
    const { createSession } = await import("../../api/sessions.ts");
    return await createSession(client, { personaId, projectId });
  } catch (error) {
    // A service without this endpoint creates the session with the question.
    if (error instanceof ApiError && isMissingRoute(error)) return undefined;
    throw error;
  }
}

/**
 * Sends the question and yields the lines of the answer, chunk by chunk. Calls `onSession` if a
 * session was created before the question is sent.
 */
export async function* sendQuestion(
  client: Client,
  { parameters, whole, limits }: Question,
  onSession?: (sessionId: string) => Promise<void>,
): AsyncGenerator<ChatEvent[]> {
  if (!whole) return yield* streamChat(client, parameters, limits);
  const sessionId = await createSessionFirst(client, parameters);
  if (sessionId !== undefined) await onSession?.(sessionId);
  const asked = sessionId === undefined ? parameters : { ...parameters, sessionId };
  const answer = await askWhole(client, asked, limits);
  if (Symbol.asyncIterator in answer) yield* answer;
  else yield [{ raw: JSON.stringify(answer), kind: "reply", reply: answer }];
}
