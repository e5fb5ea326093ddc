import type { TurnEvent } from "../../output/chat/turn/turn-event.ts";
import {
  askWhole,
  streamChat,
  type AnswerLimits,
  type ChatParameters,
} from "../../api/chat/chat.ts";
import type { ChatEvent, ChatReply } from "../../api/chat-schemas.ts";
import type { Client } from "../../api/client.ts";
import { CliError } from "../../errors.ts";
import { advance, type Turn } from "../../output/chat/turn/answer.ts";
import { eventsOfReply, turnOfReply } from "../../output/chat/turn/reply.ts";

/** One question, ready to be sent. */
export interface Question {
  parameters: ChatParameters;
  /** Take the answer in one piece. */
  whole: boolean;
  limits?: AnswerLimits | undefined;
}

/** What came at once: the service's lines, and what they say. */
export interface Batch {
  events: TurnEvent[];
  lines: ChatEvent[];
}

/** Takes a whole reply into `turn`, as one batch. */
export function takeReply(turn: Turn, reply: ChatReply): Batch {
  const { sessionId, damagedLines } = turn;
  Object.assign(turn, turnOfReply(reply), { damagedLines });
  // Older services leave the session out of a continued one (observed-service.md 1.8).
  turn.sessionId ??= sessionId;
  return {
    events: eventsOfReply(turn),
    lines: [{ raw: JSON.stringify(reply), kind: "reply", reply }],
  };
}

/** Takes lines of a stream into `turn`; a whole reply may come in their place. */
export function takeLines(turn: Turn, lines: ChatEvent[]): Batch {
  const events = lines.flatMap((line) =>
    line.kind === "reply" ? takeReply(turn, line.reply).events : advance(turn, line),
  );
  return { events, lines };
}

function isStream(
  answer: ChatReply | AsyncGenerator<ChatEvent[]>,
): answer is AsyncGenerator<ChatEvent[]> {
  return Symbol.asyncIterator in answer;
}

/** Takes the answer to a question that asks for no stream, also where the service streams it. */
async function* takeWhole(
  client: Client,
  parameters: ChatParameters,
  limits: AnswerLimits | undefined,
  turn: Turn,
): AsyncGenerator<Batch> {
  const answer = await askWhole(client, parameters, limits);
  if (!isStream(answer)) yield takeReply(turn, answer);
  else for await (const lines of answer) yield takeLines(turn, lines);
}

/**
 * A session for an answer that comes in one piece, made before the question: else
 * nobody would know where a cut answer is (observed-service.md 8, row 30).
 */
async function createPlace(
  client: Client,
  { sessionId, personaId, projectId, extra }: ChatParameters,
): Promise<string | undefined> {
  const settles = extra && ("chat_session_id" in extra || "chat_session_info" in extra);
  if (sessionId !== undefined || settles) return undefined;
  try {
    const { createSession } = await import("../../api/sessions.ts");
    return await createSession(client, { personaId, projectId });
  } catch (error) {
    // A service without this endpoint makes the session with the question.
    if (error instanceof CliError && error.exit === "not-found") return undefined;
    throw error;
  }
}

/**
 * Sends the question; what comes back, taken into `turn`. `onPlaced` is called
 * when a session was made for it before it is sent.
 */
export async function* sendQuestion(
  client: Client,
  { parameters, whole, limits }: Question,
  turn: Turn,
  onPlaced?: () => Promise<void>,
): AsyncGenerator<Batch> {
  if (!whole) {
    for await (const lines of streamChat(client, parameters, limits)) yield takeLines(turn, lines);
    return;
  }
  const sessionId = await createPlace(client, parameters);
  if (sessionId === undefined) {
    yield* takeWhole(client, parameters, limits, turn);
    return;
  }
  turn.sessionId = sessionId;
  await onPlaced?.();
  yield* takeWhole(client, { ...parameters, sessionId }, limits, turn);
}
