import { getSession } from "../../api/sessions.ts";
import type { StoredSession } from "../../api/session-schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import type { Output } from "../../output/terminal/output.ts";
import { findSession, type SessionPlace } from "../chat/session/find-session.ts";
import { indexedSession, titleOf } from "../chat/session/session-index.ts";
import { connect, type Connected } from "../connect.ts";

/** A connection, and where this machine keeps its sessions. */
export interface Place extends SessionPlace, Connected {
  output: Output;
}

/** Connects for one command; the connection is closed when `use` is done. */
export async function withPlace(
  context: Context,
  options: GlobalFlags,
  use: (place: Place) => Promise<void>,
): Promise<void> {
  const connected = await connect(context, options);
  const { client, config, connection } = connected;
  const owner = { profile: config.profile, baseUrl: connection.baseUrl };
  try {
    await use({ ...connected, env: context.env, owner });
  } finally {
    await client.close();
  }
}

/** The session that the argument names, as the service keeps it. */
export async function readSession(place: Place, given: string): Promise<StoredSession> {
  return await getSession(place.client, await findSession(place, given));
}

/** What a session is called: its name, else the question that it began with. */
export function nameOf(place: Place, session: StoredSession): string {
  const id = session.chat_session_id;
  const question = session.messages.find(({ message_type }) => message_type === "user");
  return (
    session.description?.trim() ||
    indexedSession(place.env, place.owner, id)?.title ||
    titleOf(question?.message ?? "") ||
    id
  );
}
