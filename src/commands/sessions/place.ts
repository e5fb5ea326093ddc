import { getSession } from "../../api/sessions.ts";
import type { StoredSession } from "../../api/session-schemas.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import type { Output } from "../../output/terminal/output.ts";
import { findSession, type SessionPlace } from "../chat/session/find-session.ts";
import { indexedSession, titleOf } from "../chat/session/session-index.ts";
import { connect, type Connected } from "../connect.ts";

/** A connection, and the session index of this machine. */
export interface Place extends SessionPlace, Connected {
  output: Output;
}

/** Connects for one command, and closes the connection after `use`. */
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

/** Reads the session of an argument from the service. */
export async function readSession(place: Place, given: string): Promise<StoredSession> {
  return await getSession(place.client, await findSession(place, given));
}

/** The display name of a session: its name, else its first question. */
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
