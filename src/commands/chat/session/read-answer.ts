import type { ChatEvent } from "../../../api/chat-schemas.ts";
import type { Client } from "../../../api/client.ts";
import type { StoredSession } from "../../../api/session-schemas.ts";
import { getSession, resumeChat } from "../../../api/sessions.ts";

/**
 * Reads a session. `lines` is its answer in progress from the beginning, if there is one and
 * `follows` wants it. Never asks again.
 */
export async function readAnswer(
  client: Client,
  id: string,
  follows: (session: StoredSession) => boolean,
): Promise<{ session: StoredSession; lines?: AsyncGenerator<ChatEvent[]> }> {
  const session = await getSession(client, id);
  if (!session.current_run || !follows(session)) return { session };
  const lines = await resumeChat(client, id);
  if (lines) return { session, lines };
  // The run may have ended between the two requests.
  return { session: await getSession(client, id) };
}
