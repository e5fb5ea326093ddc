import { askWhole, streamChat, type AnswerLimits, type ChatParameters } from "../../api/chat.ts";
import type { ChatEvent, ChatReply } from "../../api/chat-schemas.ts";
import type { Client } from "../../api/client.ts";
import { advance, type Turn } from "../../output/chat/answer.ts";
import type { TurnEvent } from "../../output/chat/events.ts";
import { eventsOfReply, turnOfReply } from "../../output/chat/reply.ts";

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
  const { sessionId } = turn;
  Object.assign(turn, turnOfReply(reply));
  // Older services leave the session out of a continued one (observed-service.md 1.8).
  turn.sessionId ??= sessionId;
  return { events: eventsOfReply(turn), lines: [{ raw: JSON.stringify(reply), kind: "unknown" }] };
}

/** Takes lines of a stream into `turn`. */
export function takeLines(turn: Turn, lines: ChatEvent[]): Batch {
  return { events: lines.flatMap((line) => advance(turn, line)), lines };
}

/** Sends the question; what comes back, taken into `turn`. */
export async function* sendQuestion(
  client: Client,
  { parameters, whole, limits }: Question,
  turn: Turn,
): AsyncGenerator<Batch> {
  if (whole) yield takeReply(turn, await askWhole(client, parameters, limits));
  else {
    for await (const lines of streamChat(client, parameters, limits)) yield takeLines(turn, lines);
  }
}
