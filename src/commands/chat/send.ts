import type { TurnEvent } from "../../output/chat/turn/turn-event.ts";
import {
  askWhole,
  streamChat,
  type AnswerLimits,
  type ChatParameters,
} from "../../api/chat/chat.ts";
import type { ChatEvent, ChatReply } from "../../api/chat-schemas.ts";
import type { Client } from "../../api/client.ts";
import { ApiError } from "../../errors.ts";
import { advance, type Turn } from "../../output/chat/turn/answer.ts";
import { eventsOfReply, turnOfReply } from "../../output/chat/turn/reply.ts";

/** One question, ready to be sent. */
export interface Question {
  parameters: ChatParameters;
  /** Request the answer in one piece. */
  whole: boolean;
  limits?: AnswerLimits | undefined;
}

/** One chunk: the service's lines and their events. */
export interface Batch {
  events: TurnEvent[];
  lines: ChatEvent[];
}

/** Applies a whole reply to `turn`, as one batch. */
export function applyReply(turn: Turn, reply: ChatReply): Batch {
  const { sessionId, damagedLines } = turn;
  Object.assign(turn, turnOfReply(reply), { damagedLines });
  // Older services omit the id of a continued session (observed-service.md 1.8).
  turn.sessionId ??= sessionId;
  return {
    events: eventsOfReply(turn),
    lines: [{ raw: JSON.stringify(reply), kind: "reply", reply }],
  };
}

/** Applies lines of a stream to `turn`. A line may be a whole reply instead. */
export function applyLines(turn: Turn, lines: ChatEvent[]): Batch {
  const events = lines.flatMap((line) =>
    line.kind === "reply" ? applyReply(turn, line.reply).events : advance(turn, line),
  );
  return { events, lines };
}

function isStream(
  answer: ChatReply | AsyncGenerator<ChatEvent[]>,
): answer is AsyncGenerator<ChatEvent[]> {
  return Symbol.asyncIterator in answer;
}

/** Applies the answer to a question that asks for no stream, even if the service streams it. */
async function* applyWhole(
  client: Client,
  parameters: ChatParameters,
  limits: AnswerLimits | undefined,
  turn: Turn,
): AsyncGenerator<Batch> {
  const answer = await askWhole(client, parameters, limits);
  if (!isStream(answer)) yield applyReply(turn, answer);
  else for await (const lines of answer) yield applyLines(turn, lines);
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
    if (error instanceof ApiError && isMissingRoute(error)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Sends the question and applies the answer to `turn`. Calls `onSession` if a session was
 * created before the question is sent.
 */
export async function* sendQuestion(
  client: Client,
  { parameters, whole, limits }: Question,
  turn: Turn,
  onSession?: () => Promise<void>,
): AsyncGenerator<Batch> {
  if (!whole) {
    for await (const lines of streamChat(client, parameters, limits)) yield applyLines(turn, lines);
    return;
  }
  const sessionId = await createSessionFirst(client, parameters);
  if (sessionId === undefined) {
    yield* applyWhole(client, parameters, limits, turn);
    return;
  }
  turn.sessionId = sessionId;
  await onSession?.();
  yield* applyWhole(client, { ...parameters, sessionId }, limits, turn);
}
