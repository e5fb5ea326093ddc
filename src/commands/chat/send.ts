import {
  askWhole,
  streamChat,
  type AnswerLimits,
  type ChatParameters,
} from "../../api/chat/chat.ts";
import type { ChatEvent } from "../../api/chat-schemas.ts";
import type { Client } from "../../api/client.ts";
import { ApiError } from "../../errors.ts";

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
